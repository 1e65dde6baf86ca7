"""An image rebuilt from differences of near pixels, noise of 0.05, a tenth of them off by +-0.5.

Sizes are the paper's. Its photograph is not published: ours is drawn, so that the errors printed in its
figure cannot be met. Three draws of the noise. The paper gives LBI no stop: it ends when 5%, 10% (the true
share) or 20% of the differences are flagged, and the claim has a verdict where these agree; the figures
beside it are those of 10%. (5% and 20% were added when the verdict with 10% was known.) Least squares on the
clean differences alone is what no method can be expected to beat.

The negative control has no wrong differences in the data; LBI still takes that share for outliers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.answers import again, kept, solved
from harness.claims import Line, against, cannot, mean, order, throughout
from harness.runs import Run, Runs
from matplotlib.figure import Figure

import optiframe

TITLE = "Figure 7: image reconstruction"
CLAIM = "LBI rebuilds an image from differences, a tenth of them wrong, significantly better than L2."
QUICK = ("seeds=1", "problem.0.dataset.height=30", "problem.0.dataset.width=27")
_STOPS = {"5%": "LBI, 5%", "20%": "LBI, 20%", "10%": "LBI"}


def judge(runs: Runs) -> list[Line]:
    names = ("L2", "LBI", "HLASSO")
    seconds = [f"{name} {runs.values('cpu', solver=name).mean():.1f} s" for name in names]
    return [
        throughout(
            {share: _line(runs, title) for share, title in _STOPS.items()}, "the share taken for outliers"
        ),
        cannot(
            "Huber-LASSO at this size",
            "none of the LASSO packages tried can deal with it",
            "the packages of that time",
            f"it runs here: processor time {', '.join(seconds)}",
        ),
        cannot(
            "errors printed in the figure",
            "two numbers",
            "the photograph",
            f"as above; least squares on the right differences alone {_clean(runs):.3g} (first draw)",
        ),
    ]


def _line(runs: Runs, title: str) -> Line:
    """With LBI stopped as the solver of this title is."""
    settings = [[run.problem, run.solver, run.seed] for run in runs.where(solver=title)]
    none_wrong = kept(runs, "none-wrong", settings, lambda: _none_wrong(runs, title))
    solvers = {"L2": "L2", "LBI": title, "HLASSO": "HLASSO"}
    wrong = {name: runs.values("score_mse", solver=solver) for name, solver in solvers.items()}
    line, control = (
        _halved({name: np.array(each) for name, each in error.items()}) for error in (wrong, none_wrong)
    )
    return against(line, "none wrong", control)


def _none_wrong(runs: Runs, title: str) -> dict[str, list[float]]:
    """Errors when no difference is wrong."""
    errors: dict[str, list[float]] = {"L2": [], "LBI": []}
    for name, each in errors.items():
        for run in runs.where(solver=title if name == "LBI" else name).by_seed():
            data = {**run.problem["dataset"], "seed": run.seed, "outlier_share": 0.0}
            result = solved(optiframe.problem(dataset=data), dict(run.solver), run.seed)
            each.append(float(result.metrics["score_mse"]))
    return errors


def _halved(error: dict[str, Any]) -> Line:
    return order(
        "mean squared error: LBI's below half of L2's",
        "LBI's is significantly smaller",
        2 * error["LBI"],
        error["L2"],
        told=", ".join(f"{name} {mean(each)}" for name, each in error.items()),
    )


def _clean(runs: Runs) -> float:
    """Mean squared error of least squares without the truly wrong differences, first draw."""
    run = min(runs.where(solver="L2"), key=lambda run: run.seed)

    def compute() -> float:
        problem = optiframe.problem(dataset={**run.problem["dataset"], "seed": run.seed})
        table, right = problem.comparisons, ~problem.outlier_truth
        rest = {"left": table.left[right], "right": table.right[right], "margin": table.margin[right]}
        graph = optiframe.problem("pairwise-ranking", comparisons=rest).graph
        truth = problem.truth.score - problem.truth.score.mean()
        return float(np.mean((graph.scores(graph.margin) - truth) ** 2))

    return float(kept(runs, "clean", [run.problem, run.seed], compute))


def draw(runs: Runs) -> Any:
    figure = Figure(figsize=(10, 4), layout="constrained")
    first = min(runs.where(solver="L2"), key=lambda run: run.seed)
    picture = optiframe.dataset(**first.problem["dataset"] | {"seed": first.seed}).picture()
    images = {"original": picture}
    for name in ("L2", "LBI"):
        run = min(runs.where(solver=name), key=lambda run: run.seed)
        scores = np.array(
            kept(runs, f"scores-{name}", [run.problem, run.solver, run.seed], lambda r=run: _scores(r))
        )
        images[f"{name}, error {run.value('score_mse'):.2g}"] = scores.reshape(picture.shape) + picture.mean()
    for axes, (title, image) in zip(figure.subplots(1, len(images)), images.items(), strict=True):
        axes.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="none")
        axes.set_title(title, loc="left")
        axes.set_axis_off()
    return figure


def _scores(run: Run) -> list[float]:
    return [round(float(score), 4) for score in again(run).solution.scores]
