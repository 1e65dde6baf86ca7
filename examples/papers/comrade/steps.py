"""What the figures share: data sets by name, accuracy and gap step by step, off stored traces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from harness.claims import Line, against, cannot, level, order, throughout
from harness.figures import legend_below, panels
from harness.runs import Run, Runs
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from optiframe.report.looks import looks

POINT = 0.01
"""One point of accuracy: the figures print no numbers, and a plot of accuracies shows no less."""
DECADE = 1.0
"""Ten times the gap without attack, as a power of ten: what a plot of gaps shows at a glance."""
FILTER = "norm"
FEWEST = 5
"""Steps from which on a claim is judged: the paper does not say how many there are."""
_MISSING = {
    "synthetic.covtype-shape": "the real covtype data; ours are generated, a tenth of its rows",
    "synthetic.epsilon-shape": "the real Epsilon data; ours are generated, of ten terms a column and worker",
}


def label(data: dict[str, Any]) -> str:
    """What a page calls a data set."""
    if data["name"].startswith("synthetic."):
        return f"generated, of {data['name'].removeprefix('synthetic.').removesuffix('-shape')}'s shape"
    name = str(data["name"]).removeprefix("libsvm.")
    return f"{name}, l2 = {data['l2']:g}" if "l2" in data else name


def missing(data: dict[str, Any]) -> str | None:
    """Why a panel on these data cannot be checked; None where the data are the paper's."""
    return _MISSING.get(data["name"])


def data_sets(runs: Runs) -> list[dict[str, Any]]:
    """The data sets of the runs, as their tables, in the plan's order."""
    found = []
    for run in runs:
        if run.problem["dataset"] not in found:
            found.append(run.problem["dataset"])
    return found


def unattacked(runs: Runs) -> Runs:
    """The runs without hostile workers."""
    return Runs([run for run in runs if "byzantine" not in run.solver], runs.size, runs.folder)


def steps(run: Run, what: str) -> NDArray[np.float64]:
    """Accuracy or gap after each step, the first to begin with. An accuracy that is not finite is 0."""
    if what == "accuracy":
        return np.nan_to_num(np.array([0.0 if v is None else v for v in run.outcome.trace["accuracy"]]))
    least = run.outcome.objective - run.outcome.metrics["gap"]
    values = np.array([np.nan if v is None else v for v in run.outcome.trace["objective"]], dtype=float)
    return np.maximum(values - least, 1e-12)


def last(runs: Runs, what: str = "accuracy", step: int | None = None, **chosen: Any) -> NDArray[np.float64]:
    """Accuracy or gap after so many steps, by seed; None: after the last.

    A coordinator does not know its best point.
    """
    found = runs.where(**chosen).by_seed()
    if not len(found):
        raise LookupError(f"no run has {chosen}")
    return np.array([steps(run, what)[-1 if step is None else step - 1] for run in found])


def plot(axis: Any, runs: dict[str, Runs], what: str) -> None:
    """A curve for each entry: the mean over shardings of the rows; the band has all of them."""
    for (name, mine), look in zip(runs.items(), looks(list(runs)).values(), strict=True):
        values = np.array([steps(run, what) for run in mine])
        at = mine[0].outcome.trace["iteration"]
        middle = values.mean(axis=0) if what == "accuracy" else np.exp(np.log(values).mean(axis=0))
        axis.plot(
            at,
            middle,
            label=name,
            color=look.light,
            dashes=look.dashes or (None, None),
            linewidth=1.3,
            marker=look.marker,
            markersize=3,
        )
        axis.fill_between(
            at, values.min(axis=0), values.max(axis=0), color=look.light, alpha=0.13, linewidth=0
        )
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    if what == "gap":
        axis.set_yscale("log")
        return
    low, high = axis.get_ylim()
    middle, half = (low + high) / 2, max((high - low) / 2, 2 * POINT)
    axis.set_ylim(middle - half, middle + half)  # so that hundredths of a point do not look like much


def withstood(runs: Runs, what: str, data: dict[str, Any], attack: str, compressor: str | None) -> Line:
    """Whether COMRADE under an attack is as COMRADE without one, by accuracy or by gap.

    Of the shares of hostile workers the one that moves it most is judged, after each number of steps from
    `FEWEST` on, since the paper does not give theirs. The control is the plain mean in place of the filter.
    """
    clean = unattacked(runs).where(filter=FILTER, dataset=data)
    coded = "" if compressor in (None, "none") else f", {compressor}"
    called = f"{label(data)}, {attack}{coded}"
    hit = {each: attacked_by(runs, data, attack, compressor, each) for each in (FILTER, "mean")}
    lines = {}
    for step in step_counts(clean):
        line, control = (_moved(called, what, last(clean, what, step), each, step) for each in hit.values())
        lines[str(step)] = against(line, "with the mean, no filter", control)
    line = throughout(lines, "the number of steps")
    lacking = missing(data)
    if lacking is None:
        return line
    return replace(cannot(line.what, line.paper, lacking, line.ours), control=line.control)


def step_counts(runs: Runs) -> range:
    """The numbers of steps after which a claim is judged."""
    most = len(steps(runs[0], "accuracy"))
    return range(min(FEWEST, most), most + 1)


def _moved(called: str, what: str, clean: NDArray[np.float64], hit: Runs, step: int) -> Line:
    claim = "COMRADE is robust, with compression, too"
    ends = {share: last(hit, what, step, byzantine=share) for share in hit.distinct("byzantine")}
    shares = ", ".join(f"{share:.0%}" for share in ends)
    if what == "accuracy":
        worst = max(ends, key=lambda share: abs(float((ends[share] - clean).mean())))
        told = f"{ends[worst].mean():.4f} at {worst:.0%} hostile, the worst of {shares}; {clean.mean():.4f}"
        line = level(f"{called}: accuracy", claim, clean, ends[worst], within=POINT)
    else:
        worst = max(ends, key=lambda share: float(ends[share].mean()))
        told = f"{ends[worst].mean():.1e} at {worst:.0%} hostile, the worst of {shares}; {clean.mean():.1e}"
        allowed = np.log10(clean) + DECADE
        line = order(f"{called}: gap below ten times that without", claim, np.log10(ends[worst]), allowed)
    return replace(line, ours=f"{told} without attack; {line.ours}")


def all_withstood(runs: Runs) -> list[Line]:
    """A line by accuracy and one by gap for each compressor, if there is one, attack and data set."""
    return [
        withstood(runs, what, data, attack, compressor)
        for compressor in runs.distinct("compressor.name") or [None]
        for attack in runs.distinct("attack.name")
        for data in data_sets(runs)
        for what in ("accuracy", "gap")
    ]


def attacked_by(
    runs: Runs, data: dict[str, Any], attack: str, compressor: str | None, filtered: str = FILTER
) -> Runs:
    """COMRADE's runs under an attack with a filter, and with a compressor where one is named."""
    hit = runs.where(dataset=data, attack__name=attack, filter=filtered)
    return hit if compressor is None else hit.where(compressor__name=compressor)


def under_attack(runs: Runs, what: str) -> Any:
    """A figure of COMRADE under attack: a row for each attack and compressor, a column for each data set."""
    data = data_sets(runs)
    kinds = [
        (attack, compressor)
        for attack in runs.distinct("attack.name")
        for compressor in runs.distinct("compressor.name") or [None]
    ]
    figure, axes = panels(len(data), len(kinds), width=max(6.0, 2.3 * len(data)), height=2.2)
    for line, (attack, compressor) in zip(np.atleast_2d(axes), kinds, strict=True):
        for axis, each in zip(line, data, strict=True):
            hit = attacked_by(runs, each, attack, compressor)
            mine = {"no attack": unattacked(runs).where(dataset=each)}
            mine |= {
                f"{share:.0%} hostile": hit.where(byzantine=share) for share in hit.distinct("byzantine")
            }
            plot(axis, mine, what)
            axis.set_title(label(each).replace("generated, of", "generated,\nof"), fontsize=8)
        line[0].set_ylabel(attack + ("" if compressor in (None, "none") else f", {compressor}") + f"\n{what}")
    for axis in np.atleast_2d(axes)[-1]:
        axis.set_xlabel("step")
    legend_below(figure, np.atleast_2d(axes)[0][0])
    return figure
