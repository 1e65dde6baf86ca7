"""From noisy labels to decisions: skills, whom to ask next, a ranking without outliers, one for everyone.

    python examples/labels_to_decisions.py            # three seeds; figures in results/labels_to_decisions
    python examples/labels_to_decisions.py --seeds 10 --output somewhere

Labels are `labels.rte`, votes `pairwise.human-age` and `collaborative.human-age` (the same votes); without
the files, generated ones. `docs/labels-to-decisions.md` goes through it step by step.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from decisions.figures import draw_agreement, draw_errors, draw_ranking
from numpy.typing import NDArray
from optiframe_manifold import CollaborativeRanker

import optiframe
from optiframe.problems.datasets import MissingData

Columns = dict[str, NDArray[Any]]

FIRST = 3  # labels a task has to begin with
ROUNDS, ROUND = 4, 400  # rounds of buying, labels bought in each
CAPS = {"per_worker": 40, "per_task": 2, "total": ROUND}  # in a round
EDGE = 0.01  # chances are kept this far from 0 and 1: nobody is certain
WAYS = {
    "at random": ("tvcs.assignment-random", {}),
    "by quality": ("tvcs.assignment-by-quality", {"worth": "information"}),
    "by expected accuracy": ("tvcs.assignment-iht", {"steps": 20, "draws": 8}),
}
HELD = 0.2  # share of the votes that rankings are judged by
TOLD = 20  # and that a worker of whom a line is printed has


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3, help="how often other labels are hidden")
    parser.add_argument("--output", type=Path, default=Path("results/labels_to_decisions"))
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)

    labels, truth = crowd_labels()
    errors = {
        way: np.array([replay(labels, truth, way, seed) for seed in range(asked.seeds)]) for way in WAYS
    }
    tell_what_is_known(labels, truth)
    tell_what_labels_bought(errors)
    bought = FIRST + ROUND * np.arange(ROUNDS + 1) / len(np.unique(labels["task"]))
    draw_errors(errors, bought, asked.output / "labels_bought.png")

    votes = pairwise_votes()
    early, later = split(votes)
    common = rankings_for_all(early, later)
    flagged = tell_who_was_flagged(common["hodge.lbi"])
    own = CollaborativeRanker("auto", solver="trust-region", folds=3).fit(by_user(early))
    agreement = agreements(common["hodge.lbi"].solution, own, later)
    tell_who_agrees(own, agreement, flagged)
    draw_ranking(common, asked.output / "ranking.png")
    draw_agreement(agreement, most_flagged(flagged, agreement), asked.output / "agreement.png")
    print(f"\nfigures: {', '.join(sorted(path.name for path in asked.output.glob('*.png')))}")


# 1. Labels arrive: how good is each worker, how sure is each label?


def crowd_labels() -> tuple[Columns, Columns]:
    try:
        given = optiframe.dataset("labels.rte").inputs()
    except MissingData:
        print("The labels are not here; generated ones instead.\n")
        given = optiframe.dataset(
            "synthetic.single-coin",
            tasks=800,
            workers=60,
            labels_per_task=10,
            activity_skew=1.0,
            skill_low=0.0,
            skill_high=0.9,
        ).inputs()
    columns = (
        {name: np.asarray(column) for name, column in given[key].items()} for key in ("labels", "truth")
    )
    return next(columns), next(columns)


def estimated(labels: Columns, truth: Columns) -> Any:
    """Skills and posteriors from the labels; the truth only scores the answer."""
    problem = optiframe.problem("label-aggregation", labels=labels, truth=truth)
    return optiframe.solve(problem, "rankone.pgd", trace=False, progress=False)


def first_labels(task: NDArray[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which labels are there to begin with: `FIRST` of each task, drawn."""
    order = np.lexsort((rng.random(len(task)), task))
    _, begin, count = np.unique(task[order], return_index=True, return_counts=True)
    place = np.empty(len(task), dtype=np.int64)
    place[order] = np.arange(len(task)) - np.repeat(begin, count)
    return np.asarray(place < FIRST)


# 2. Whom to ask about what: the next labels, within caps.


def replay(labels: Columns, truth: Columns, way: str, seed: int) -> list[float]:
    """Errors before each round and after the last: real labels are hidden, and uncovered where asked for."""
    shown = first_labels(labels["task"], np.random.default_rng([seed, 0]))
    errors = []
    for _ in range(ROUNDS):
        result = estimated(chosen_rows(labels, shown), truth)
        errors.append(result.metrics["error"])
        shown[next_assignment(labels, np.flatnonzero(~shown), result, way, seed)] = True
    errors.append(estimated(chosen_rows(labels, shown), truth).metrics["error"])
    return errors


def next_assignment(
    labels: Columns, hidden: NDArray[np.intp], result: Any, way: str, seed: int
) -> NDArray[np.intp]:
    """Rows of `hidden` to be asked for, within the caps.

    The quality of a pair is the worker's estimated accuracy, that of the average worker for one not yet
    seen; a task's prior is its posterior so far: what is all but settled gains little from a label.
    """
    answer = result.solution
    average = float(np.average(answer.accuracies, weights=result.problem.labels_per_worker))
    accuracy = dict(zip(answer.worker_ids.tolist(), answer.accuracies.tolist(), strict=True))
    task, worker = labels["task"][hidden], labels["worker"][hidden]
    quality = inside([accuracy.get(who, average) for who in worker.tolist()])
    posterior = dict(zip(answer.task_ids.tolist(), inside(answer.probabilities[:, 1]).tolist(), strict=True))
    problem = optiframe.problem(
        "task-assignment",
        quality={"worker": worker, "task": task, "quality": quality},
        prior={which: posterior[which] for which in np.unique(task).tolist()},
        samples=64,  # judges iterates; a task gets two workers at most, so all is enumerated anyway
        **CAPS,
    )
    name, fields = WAYS[way]
    solver = optiframe.solver(name, **fields)
    asked = optiframe.solve(problem, solver, seed=seed, trace=False, progress=False).solution.columns()
    pairs = set(zip(asked["task"].tolist(), asked["worker"].tolist(), strict=True))
    return hidden[[pair in pairs for pair in zip(task.tolist(), worker.tolist(), strict=True)]]


def inside(chances: Any) -> NDArray[np.float64]:
    return np.clip(np.asarray(chances, dtype=np.float64), EDGE, 1.0 - EDGE)


def chosen_rows(columns: Columns, rows: NDArray[Any]) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def tell_what_is_known(labels: Columns, truth: Columns) -> None:
    first = first_labels(labels["task"], np.random.default_rng([0, 0]))
    for title, rows in (("the first labels", first), ("all labels", np.ones_like(first))):
        result = estimated(chosen_rows(labels, rows), truth)
        workers = result.to_tables()["workers"]
        width = float(np.median(workers["skill_high"] - workers["skill_low"]))
        print(
            f"{title}: {rows.sum():,} by {len(workers['worker'])} workers, error "
            f"{result.metrics['error']:.4f}, mean confidence {result.solution.confidence.mean():.4f}, "
            f"median width of a skill's 90% interval {width:.2f}"
        )
        for finding in result.findings:
            if finding.level != "note":
                print(f"  {finding.level}: {finding.text[:100]}...")


def tell_what_labels_bought(errors: dict[str, NDArray[np.float64]]) -> None:
    seeds = len(next(iter(errors.values())))
    print(f"\nError after so many labels bought, mean and standard deviation over {seeds} seeds:")
    print("bought" + "".join(f"{way:>24}" for way in errors))
    for step in range(ROUNDS + 1):
        told = (
            f"{found[:, step].mean():.4f} +- {deviation(found[:, step]):.4f}" for found in errors.values()
        )
        print(f"{step * ROUND:6}" + "".join(f"{text:>24}" for text in told))
    best = errors["by expected accuracy"][:, 1:].mean(axis=1)
    for way in ("at random", "by quality"):
        gains = errors[way][:, 1:].mean(axis=1) - best
        verdict = "better in every seed" if (gains > 0).all() else f"better in {(gains > 0).sum()} of {seeds}"
        print(f"by expected accuracy against {way}, mean of the rounds: {-gains.mean():+.4f}, {verdict}")


def deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


# 3. Votes on pairs: one ranking for all, without the outliers.


def pairwise_votes() -> Columns:
    try:
        found: Columns = optiframe.dataset("pairwise.human-age").inputs()["comparisons"]
    except MissingData:
        print("\nThe votes are not here; generated ones instead.")
        drawn = optiframe.dataset("collaborative.low-rank", users=60, items=20, rank=2, density=10.0).inputs()
        table = drawn["comparisons"]
        found = {"worker": table["user"], **{name: table[name] for name in ("left", "right", "label")}}
    return found


def split(votes: Columns) -> tuple[Columns, Columns]:
    """Votes to learn from, and decided ones to judge by."""
    late = np.random.default_rng(0).random(len(votes["worker"])) < HELD
    # A tie has no winner to predict; an id may be anything, so it is whatever is neither side.
    decided = (votes["label"] == votes["left"]) | (votes["label"] == votes["right"])
    return chosen_rows(votes, ~late), chosen_rows(votes, late & decided)


def rankings_for_all(early: Columns, later: Columns) -> dict[str, Any]:
    problem = optiframe.problem("pairwise-ranking", comparisons=early)
    found = {}
    print(f"\n{len(early['worker']):,} votes, and {len(later['worker']):,} to judge by")
    for name in ("hodge.l2", "hodge.lbi"):
        result = optiframe.solve(problem, name, trace=False, progress=False)
        right = predicted_by_all(result.solution, later).mean()
        best = ", ".join(str(item) for item in result.solution.items[result.solution.order[:5]].tolist())
        print(f"  {name:9} predicts {right:.1%}; first five: {best}")
        found[name] = result
    return found


def predicted_by_all(ranking: Any, votes: Columns) -> NDArray[np.float64]:
    """1 where the ranking names the winner, 1/2 where it has a tie; shape (votes,)."""
    score = dict(zip(ranking.items.tolist(), ranking.scores.tolist(), strict=True))
    ahead = [
        score[a] - score[b] for a, b in zip(votes["left"].tolist(), votes["right"].tolist(), strict=True)
    ]
    return np.asarray((1.0 + np.sign(ahead) * np.where(votes["label"] == votes["left"], 1.0, -1.0)) / 2.0)


def tell_who_was_flagged(result: Any) -> dict[Any, float]:
    """Share of each worker's votes taken for outliers."""
    workers = result.to_tables()["workers"]
    flagged = dict(zip(workers["worker"].tolist(), workers["rate"].tolist(), strict=True))
    print(f"  {len(result.solution.flagged)} votes flagged as outliers; most of all, of")
    for at in np.argsort(-workers["rate"], kind="stable")[:3]:
        print(
            f"    worker {workers['worker'][at]}: {workers['rate'][at]:.0%} of {workers['comparisons'][at]} "
            f"(90% interval {workers['rate_low'][at]:.0%} to {workers['rate_high'][at]:.0%}) "
            f"{workers['remark'][at]}"
        )
    return flagged


# 4. A ranking for everyone: are the outliers errors, or another taste?


def by_user(votes: Columns) -> Columns:
    return {"user" if name == "worker" else name: column for name, column in votes.items()}


def agreements(common: Any, own: CollaborativeRanker, later: Columns) -> dict[Any, tuple[float, float, int]]:
    """For each worker, held-out votes predicted by the common ranking, by the own one, and their number."""
    rights = predicted_by_all(common, later)
    chances = np.asarray(own.predict(later["worker"], later["left"], later["right"]))
    mine = np.where(later["label"] == later["left"], chances, 1.0 - chances)
    own_right = (1.0 + np.sign(mine - 0.5)) / 2.0
    found = {}
    for worker in np.unique(later["worker"]).tolist():
        rows = later["worker"] == worker
        found[worker] = (float(rights[rows].sum()), float(own_right[rows].sum()), int(rows.sum()))
    return found


def most_flagged(flagged: dict[Any, float], workers: Iterator[Any] | Any) -> tuple[list[Any], list[Any]]:
    """The tenth of the workers with the largest share of flagged votes, and the others."""
    order = sorted(workers, key=lambda worker: -flagged.get(worker, 0.0))
    tenth = max(1, len(order) // 10)
    return order[:tenth], order[tenth:]


def tell_who_agrees(
    own: CollaborativeRanker,
    agreement: dict[Any, tuple[float, float, int]],
    flagged: dict[Any, float],
) -> None:
    print(f"\nA ranking for everyone, of rank {own.n_components_}; held-out votes predicted:")
    print(f"{'':28}{'votes':>7}{'one for all':>13}{'own':>8}")
    groups = most_flagged(flagged, agreement)
    for title, group in (
        ("all", list(agreement)),
        ("most flagged tenth", groups[0]),
        ("the other workers", groups[1]),
    ):
        all_right, own_right, votes = (sum(agreement[who][part] for who in group) for part in range(3))
        print(f"{title:28}{votes:7}{all_right / votes:13.1%}{own_right / votes:8.1%}")
    for who in groups[0]:
        all_right, own_right, votes = agreement[who]
        if votes >= TOLD:
            title = f"of the tenth, worker {who}"
            print(f"{title:28}{votes:7}{all_right / votes:13.1%}{own_right / votes:8.1%}")
    low, high = np.percentile(gains_of_own(agreement), (2.5, 97.5))
    print(f"own less common, 95% of bootstrap samples of the workers: {low:+.1%} to {high:+.1%}")


def gains_of_own(agreement: dict[Any, tuple[float, float, int]]) -> NDArray[np.float64]:
    """How much more the own rankings predict, in samples of the workers; a worker's votes go together."""
    table, rng = np.array(list(agreement.values())), np.random.default_rng(0)
    drawn = table[rng.integers(len(table), size=(2000, len(table)))].sum(axis=1)
    return np.asarray((drawn[:, 1] - drawn[:, 0]) / drawn[:, 2])


if __name__ == "__main__":
    main()
