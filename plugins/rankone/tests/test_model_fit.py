"""Whether one skill for each worker explains the labels: said where it does not, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from optiframe_rankone import LabelAggregator, intervals
from optiframe_rankone.batches import as_rows
from optiframe_rankone.completion.counts import correlations_of
from optiframe_rankone.completion.label_pairs import LabelPairs
from optiframe_rankone.completion.pairs import DensePairs, SparsePairs
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.trust.model_fit import LIMIT, model_fit

import optiframe
from optiframe import Result
from optiframe.findings import Finding

from .slow import co_occurrence, coin, rows, single_coin

ONE_SKILL = ("rankone.pgd", "labels.one-coin-em", "labels.iwmv", "labels.ratio")
FIT = "labels.one-skill-does-not-fit"


def clickers(seed: int) -> LabelAggregation:
    """Twenty honest workers, five labels a task, and three who always click on 1 for 60% of the tasks."""
    rng = np.random.default_rng(seed)
    given = []
    for task, truth in enumerate(rng.integers(2, size=300)):
        honest = rng.choice(20, 5, replace=False)
        given += [(task, worker, truth ^ (rng.random() > 0.75)) for worker in honest]
        given += [(task, worker, 1) for worker in (20, 21, 22) if rng.random() < 0.6]
    return LabelAggregation(labels=rows(*given))


def drive_by(seed: int) -> LabelAggregation:
    """Six workers right on 85% of all tasks, and twenty with fifteen labels each, right on 30%."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=300)
    work = [(task, worker, 0.85) for worker in range(6) for task in range(300)]
    work += [(task, worker, 0.3) for worker in range(6, 26) for task in rng.choice(300, 15, replace=False)]
    return LabelAggregation(labels=rows(*((t, w, truth[t] ^ (rng.random() > right)) for t, w, right in work)))


def copiers(seed: int) -> LabelAggregation:
    """Twenty workers, right on 75%, five labels a task; 0 and 1, 2 and 3, 4 and 5 copy each other."""
    rng = np.random.default_rng(seed)
    given = []
    for task, truth in enumerate(rng.integers(2, size=300)):
        said = {int(who): truth ^ (rng.random() > 0.75) for who in rng.choice(20, 5, replace=False)}
        for one, other in ((0, 1), (2, 3), (4, 5)):
            if one in said or other in said:
                said[one] = said[other] = said.get(one, said.get(other))
        given += [(task, worker, label) for worker, label in said.items()]
    return LabelAggregation(labels=rows(*given))


def of_the_model(seed: int) -> LabelAggregation:
    """A draw from the one-coin model: usual, good, sparse, random or hostile workers."""
    rng = np.random.default_rng(seed)
    skills, tasks, per_task, classes = (
        (rng.uniform(0.1, 0.8, 12), 150, 5, 2),
        (rng.uniform(0.8, 1.0, 15), 100, 8, 3),
        (rng.uniform(0.2, 0.8, 100), 300, 3, 2),
        (np.zeros(10), 100, 5, 4),
        (np.append(rng.uniform(0.5, 0.9, 12), np.full(4, -0.7)), 200, 5, 2),
    )[seed % 5]
    return coin(seed, skills, tasks=tasks, per_task=per_task, classes=classes)


def found(result: Result, identifier: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.identifier == identifier]


def misfit_by_loops(problem: LabelAggregation, x: NDArray[np.float64]) -> float:
    """The misfit at these skills, one product of labels at a time."""
    given: dict[int, list[tuple[int, int]]] = {}
    for task, worker, label in zip(
        problem.labels.task, problem.labels.worker, problem.label_codes, strict=True
    ):
        given.setdefault(task, []).append((worker, label))
    m, workers, counts = len(problem.classes), len(x), problem.labels_per_worker
    excess = spread = 0.0
    for i in range(workers):
        for j in range(i):
            gaps = []
            for said in given.values():
                labels = dict(said)
                if i in labels and j in labels:
                    gaps.append((1.0 if labels[i] == labels[j] else -1 / (m - 1)) - x[i] * x[j])
            n = len(gaps)
            if n < 2:
                continue
            careful = []
            for k in (i, j):
                least = 0.5 / (counts[k] + 1)
                p = min(max((1 + (m - 1) * x[k]) / m, least), 1 - least)
                careful.append((m * p - 1) / (m - 1))
            p = (1 + (m - 1) * careful[0] * careful[1]) / m
            variance = (m / (m - 1)) ** 2 * p * (1 - p)
            excess += (sum(gaps) ** 2 - sum(gap**2 for gap in gaps)) / (n * variance)
            spread += 2 - 2 / n
    return float(excess / np.sqrt(spread))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_misfit_is_its_definition_at_the_skills_nearest_to_the_correlations(classes: int) -> None:
    problem = coin(4, np.array([0.8, 0.6, 0.7, 0.3, 0.5]), tasks=40, per_task=3, classes=classes)
    # Nearest by brute force: a fine grid around each skill in turn, again and again.
    shared, agreed = co_occurrence(problem)
    target = correlations_of(shared, agreed.copy(), classes)
    x = np.full(5, 0.5)
    for _ in range(60):
        for i in range(5):
            best = (shared[i] * target[i]) @ x / (shared[i] @ x**2)
            x[i] = min(max(best, -1 / (classes - 1)), 1.0)
    fit = model_fit(problem.model, np.full(5, 0.5))
    assert fit.misfit == pytest.approx(misfit_by_loops(problem, x), abs=0.02)
    assert fit.pairs == int((np.triu(shared) > 1).sum())
    assert fit.holds


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 10, 20, 30])
def test_nothing_is_said_where_the_model_holds(first: int) -> None:
    for seed in range(first, first + 10):
        problem = of_the_model(seed)
        result = optiframe.solve(problem, "rankone.pgd", trace=False)
        fit = model_fit(problem.model, result.solution.skills)
        assert fit.misfit < LIMIT / 2, f"draw {seed}"
        assert len(fit.together) == 0, f"draw {seed}"
        assert found(result, FIT) == []


@pytest.mark.slow
@pytest.mark.parametrize("solver", ONE_SKILL)
def test_workers_who_always_click_on_one_label_are_more_than_one_skill_explains(solver: str) -> None:
    for seed in range(3):
        (said,) = found(optiframe.solve(clickers(seed), solver, trace=False), FIT)
        assert said.level == "warning"
        assert "Intervals of skills and confidences" in said.text
        assert "not valid" in said.text
        assert "labels.crowd" in said.text


def test_copiers_agree_more_than_their_skills_explain_and_are_named() -> None:
    for seed in range(3):
        (said,) = found(optiframe.solve(copiers(seed), "labels.one-coin-em", trace=False), FIT)
        assert "These workers agree more than their skills explain: 0, 1, 2, 3, 4 and 1 more" in said.text
        assert said.about == (0, 1, 2, 3, 4, 5)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", ["temp", "dogs", "web"])
def test_the_warning_is_given_on_real_labels_that_one_skill_does_not_explain(name: str) -> None:
    result = optiframe.solve(optiframe.problem(dataset=f"labels.{name}"), "rankone.pgd", trace=False)
    assert found(result, FIT)


@pytest.mark.usefixtures("data_folder")
def test_nothing_is_said_of_word_senses_where_only_the_box_keeps_skills_from_their_fit() -> None:
    result = optiframe.solve(optiframe.problem(dataset="labels.wsd"), "rankone.pgd", trace=False)
    assert found(result, FIT) == []


def test_where_the_model_does_not_fit_nobody_is_accused_or_called_a_spammer() -> None:
    for seed in range(3):
        names = {finding.identifier for finding in optiframe.solve(clickers(seed), "rankone.pgd").findings}
        assert FIT in names
        assert not names & {
            "labels.reliably-wrong-worker",
            "labels.possibly-guessing-worker",
            "labels.all-may-be-guessing",
        }


def test_honest_workers_among_clickers_are_not_said_to_guess_and_clickers_are() -> None:
    for seed in range(3):
        result = optiframe.solve(clickers(seed), "labels.crowd", trace=False)
        assert found(result, "labels.all-may-be-guessing") == []
        (said,) = found(result, "labels.possibly-guessing-worker")
        assert {20, 21, 22} <= set(said.about)
        assert len(set(said.about) & set(range(20))) <= 2


@pytest.mark.parametrize("solver", ["rankone.pgd", "labels.crowd", "labels.dawid-skene"])
def test_six_good_workers_among_passers_by_are_never_called_wrong(solver: str) -> None:
    for seed in range(3):
        for said in optiframe.solve(drive_by(seed), solver, trace=False).findings:
            if said.identifier in ("labels.reliably-wrong-worker", "labels.seemingly-wrong-worker"):
                assert not set(said.about) & set(range(6))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["labels.crowd", "labels.dawid-skene", "labels.opt-ds", "labels.majority"])
@pytest.mark.parametrize("make", [clickers, drive_by, copiers, of_the_model])
def test_findings_on_one_skill_a_worker_are_not_for_methods_without(solver: str, make: object) -> None:
    assert callable(make)
    names = {finding.identifier for finding in optiframe.solve(make(1), solver, trace=False).findings}
    assert not names & {
        FIT,
        "labels.fit-not-checked",
        "labels.sign-by-convention",
        "labels.contested-sign",
        "labels.group-against-gold",
        "labels.too-few-labels",
        "labels.uncompared-worker",
        "labels.worker-below-cutoff",
        "labels.undecided-group",
        "labels.seemingly-wrong-worker",
        "labels.worker-overlap",
        "labels.weak-worker-overlap",
        "labels.skill-size-bound",
        "labels.overlap-not-computed",
    }


def loose_groups() -> LabelAggregation:
    """Two groups of three workers whom one label joins, and two workers who meet only each other."""
    given = [(f"{g}{t}", f"{g}{w}", (t + (w == t)) % 2) for g in "ab" for t in range(6) for w in range(3)]
    pair = [(f"p{t}", who, (t + (t == 3)) % 2) for t in range(6) for who in ("left", "right")]
    return LabelAggregation(labels=rows(*given, *pair, ("b0", "a0", 0)))


@pytest.mark.parametrize("solver", ["labels.crowd", "labels.dawid-skene", "labels.glad", "labels.iwmv"])
def test_what_only_agreement_of_pairs_leaves_open_is_not_said_of_other_methods(solver: str) -> None:
    texts = {}
    for name in (solver, "rankone.pgd"):
        result = optiframe.solve(loose_groups(), name, trace=False)
        (group,) = found(result, "labels.bipartite-group")
        (bridge,) = found(result, "labels.groups-joined-by-one-label")
        texts[name] = group.text, bridge.text
    assert "only products of skills" in texts["rankone.pgd"][0]
    assert "which side is right" in texts["rankone.pgd"][1]
    assert "rests on the method's assumptions" in texts[solver][0]
    assert "how their skills compare rests on that label alone" in texts[solver][1]


def test_a_fit_that_would_take_too_long_is_said_to_be_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = coin(1, np.full(8, 0.6), tasks=60, per_task=4)
    assert found(optiframe.solve(problem, "labels.one-coin-em"), "labels.fit-not-checked") == []
    monkeypatch.setattr("optiframe_rankone.trust.findings._LABELS", 100)
    assert len(found(optiframe.solve(problem, "labels.one-coin-em"), "labels.fit-not-checked")) == 1


def test_skills_of_zero_are_no_reason_to_refuse_the_model() -> None:
    # Half of the workers are always right and half always wrong: an answer may leave their skills at 0.
    problem = coin(3, np.array([0.9] * 4 + [-0.9] * 4), tasks=100, per_task=4)
    assert model_fit(problem.model, np.zeros(8)).holds


def test_labels_without_two_shared_tasks_say_nothing_about_the_model() -> None:
    problem = LabelAggregation(labels=rows((0, "a", 0), (0, "b", 1), (1, "b", 1), (1, "c", 1)))
    fit = model_fit(problem.model, np.full(3, 0.5))
    assert (fit.pairs, fit.misfit, fit.holds) == (0, 0.0, True)


def test_of_many_workers_those_with_the_most_labels_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optiframe_rankone.trust.model_fit._MOST", 12)
    problem = copiers(2)
    kept = np.argsort(-problem.labels_per_worker, kind="stable")[:12]
    assert set(range(6)) <= set(kept.tolist())  # each labels what the other does, too
    fit = model_fit(problem.model, np.full(20, 0.5))
    assert fit.pairs <= 66
    assert not fit.holds
    assert fit.together.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert model_fit(of_the_model(2).model, np.full(100, 0.5)).holds


@pytest.mark.parametrize("kind", ["dense", "sparse", "left in the labels", "not yet counted", "with gold"])
def test_pairs_of_some_workers_are_those_of_all(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = single_coin(3, np.full(80, 0.5), tasks=60 if kind == "sparse" else 300, per_task=4, classes=3)
    gold = {"task": [1, 2], "label": [0, 1]} if kind == "with gold" else None
    problem = LabelAggregation(labels=given["labels"], gold=gold)
    if kind == "left in the labels":
        monkeypatch.setattr("optiframe_rankone.completion.skill_model._MOST_PAIRS", 10)
    if kind != "not yet counted":
        problem.formulate()
        expected = {"sparse": SparsePairs, "left in the labels": LabelPairs}.get(kind, DensePairs)
        assert isinstance(problem.model.with_gold.least_squares.pairs, expected)
    kept = np.array([0, 3, 4, 11, 30, 31, 32, 77])
    shared, correlation = problem.model.pair_counts_of(kept)
    cells = np.ix_(kept, kept)
    met, agreed = (counted[cells] for counted in co_occurrence(problem))
    assert (shared.toarray() == met).all()
    assert (correlation == correlations_of(met, agreed, 3)[met > 0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("structure", [None, "clickers"])
@pytest.mark.parametrize("solver", ["rankone.pgd", "labels.one-coin-em", "labels.crowd"])
def test_tables_say_that_intervals_and_confidences_are_not_valid_where_the_finding_does(
    solver: str, structure: str | None
) -> None:
    if structure is None:
        problem = coin(0, np.full(12, 0.6), tasks=100, per_task=5)
    else:
        problem = optiframe.problem(dataset={"name": "synthetic.hostile-crowd", "structure": structure})
    result = optiframe.solve(problem, solver, progress=False)
    warned = bool(found(result, FIT))
    assert warned == (structure is not None and solver != "labels.crowd")
    tables, labels = result.to_tables(), problem.labels
    model = LabelAggregator(solver).fit(as_rows(labels))
    columns = (
        tables["workers"]["intervals_valid"],
        tables["labels"]["confidence_valid"],
        intervals(result)["valid"],
        model.predict()["confidence_valid"],
        model.predict(rows(*((0, worker, 0) for worker in labels.worker_ids[:3])))["confidence_valid"],
    )
    for column in columns:
        assert (np.asarray(column) == (not warned)).all()
