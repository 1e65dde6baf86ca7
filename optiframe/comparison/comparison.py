"""A comparison as an object: run it, look at it as a table, a figure or a page."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Literal

from optiframe.comparison.records import Records
from optiframe.errors import InvalidInput
from optiframe.numbers import counted
from optiframe.tables.frames import to_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Backend = Literal["pandas", "polars", "pyarrow"]


class Comparison:
    """What came out of a comparison; `compare` and `Comparison.open` make one.

    `records` holds every cell with its outcome. The results stay in `folder`; without one they
    are kept until this object is gone.
    """

    def __init__(self, records: Records, folder: Path, *, temporary: bool = False) -> None:
        # A temporary folder's name says nothing: a page is not to be titled by it.
        self.records = replace(records, title="comparison") if temporary else records
        self.folder = folder
        self._temporary = temporary
        if temporary:
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @classmethod
    def open(cls, folder: str | Path) -> Comparison:
        """Read a stored comparison.

        Raises
        ------
        InvalidInput
            When the folder holds none, or one that cannot be read.
        """
        from optiframe.comparison.store.store import Store

        with Store(Path(folder), create=False) as store:
            return cls(store.records(), Path(folder))

    def frame(self, *, traces: bool = False, backend: Backend = "pandas") -> Any:
        """Every cell as a row of a data frame; with `traces`, every recorded point of every run.

        Raises
        ------
        MissingPackage
            When the data-frame library is not installed.
        """
        from optiframe.comparison.store.export import cell_columns, trace_columns

        columns = trace_columns(self.records) if traces else cell_columns(self.records)
        return _framed(columns, backend)

    def table(self, *, backend: Backend = "pandas") -> Any:
        """One row for each problem and solver: runs, failures, and the median of each measure.

        Beside each median stand the ends of its 95% bootstrap interval (`time_low`, `time_high`).
        """
        from optiframe.comparison.stats.summary import summarize

        summaries = summarize(self.records)
        names = list(dict.fromkeys(name for summary in summaries for name in summary.measures))
        columns: dict[str, list[Any]] = {
            "problem": [s.problem for s in summaries],
            "solver": [s.solver for s in summaries],
            "runs": [s.runs for s in summaries],
            "failures": [s.failures for s in summaries],
        }
        for name in names:
            intervals = [s.measures.get(name) for s in summaries]
            columns[name] = [None if i is None else i.median for i in intervals]
            columns[f"{name}_low"] = [None if i is None else i.low for i in intervals]
            columns[f"{name}_high"] = [None if i is None else i.high for i in intervals]
        return _framed(columns, backend)

    def solved(
        self,
        accuracies: Sequence[float] = (1e-1, 1e-3, 1e-5),
        within: Sequence[float] = (10, 100),
        *,
        backend: Backend = "pandas",
    ) -> Any:
        """By solver, the share of instances solved to each accuracy within so many times n + 1 evaluations.

        Points of data profiles on histories of evaluations, which a comparison keeps where its budget limits
        evaluations; no rows otherwise. See `stats.evaluation_profiles`.
        """
        from optiframe.comparison.stats.evaluation_profiles import solved_shares

        return _framed(solved_shares(self.records, accuracies=accuracies, within=within), backend)

    def plot(
        self,
        kind: Literal["convergence", "performance", "data"] = "convergence",
        *,
        problem: str | None = None,
        gap: float | None = None,
        measure: str | None = None,
        within: float | None = None,
        accuracy: float | None = None,
    ) -> Figure:
        """A figure: "convergence" of one problem, "performance" or "data" profiles.

        Parameters
        ----------
        kind
            Which figure.
        problem
            Title of the problem whose convergence is shown; the first by default.
        gap
            The suboptimality of a profile; the middle one of the comparison by default.
        measure, within
            A metric for a profile in place of suboptimality, and how far from the best solver's counts
            as solved; see `profiles.performance_profile`.
        accuracy
            A profile on histories of evaluations, to this accuracy; see `stats.evaluation_profiles`.

        Raises
        ------
        InvalidInput
            For a kind, problem or measure that there is not, and for a comparison without problems.
        """
        from optiframe.report import figures

        if kind not in ("convergence", "performance", "data"):
            raise InvalidInput(f"kind must be convergence, performance or data, got {kind!r}")
        if not self.records.problems:
            raise InvalidInput("this comparison has no cells, so there is nothing to plot")
        if kind != "convergence" and accuracy is not None:
            return figures.evaluations_profile(self.records, kind, accuracy=accuracy)
        if kind != "convergence":
            return figures.profile(self.records, kind, gap=gap, measure=measure, within=within)
        chosen = problem or self.records.problems[0]
        if chosen not in self.records.problems:
            known = ", ".join(map(repr, self.records.problems))
            raise InvalidInput(f"no problem is titled {chosen!r}; there are {known}")
        return figures.convergence(self.records, chosen)

    def report(self, path: str | Path) -> Path:
        """Write the page with curves, profiles, tables, failures and environment; gives its path."""
        from optiframe.report.again import rerun_line
        from optiframe.report.page import write_page

        again = "" if self._temporary else rerun_line(self.folder)
        return write_page(self.records, path, again=again)

    def verdicts(self, measure: str | None = None) -> list[str]:
        """What can be said of each pair of solvers, in words; by the first measure that ranks.

        Over problems; over the seeds of the only problem where each seed draws its own.
        """
        from optiframe.comparison.stats.loss_table import measures
        from optiframe.comparison.stats.paired_samples import pairs

        chosen = measure or next(iter(measures(self.records)), None)
        return [] if chosen is None else [pair.text for pair in pairs(self.records, chosen)]

    def _repr_html_(self) -> str:
        """What a notebook shows: who wins, the primary metric by solver, against time and as a table."""
        from optiframe.report.notebook import comparison_html

        return comparison_html(self.records)

    def __repr__(self) -> str:
        solvers, problems = (
            counted(len(self.records.solvers), "solver"),
            counted(len(self.records.problems), "problem"),
        )
        ended = f"{len(self.records.outcomes)} of {len(self.records.rows)} cells ended"
        return f"<comparison of {solvers} on {problems}: {ended}>"


def compare(
    problems: Any,
    solvers: Any,
    *,
    seeds: int | Sequence[int] = 1,
    budget: Any = None,
    repeat: int | Literal["auto"] = 1,
    limits: Mapping[str, Any] | None = None,
    workers: int | None = None,
    executor: str | Mapping[str, Any] = "local",
    gaps: Sequence[float] | None = None,
    better: Mapping[str, Literal["lower", "higher"]] | None = None,
    folder: str | Path | None = None,
    show: bool = True,
) -> Comparison:
    """Run many solvers on shared problems, each run in a process of its own.

    Parameters
    ----------
    problems
        A list, or a mapping of title to problem: problem objects, data-set names, or tables as
        in a file (``{"dataset": {...}}``, ``{"name": "minimize", ...}``).
    solvers
        A list, or a mapping of title to solver: names, solver objects, or tables
        (``{"name": "rankone.pgd", "step": 0.1}``). Values ``{"sweep": [...]}`` in tables make grids.
    seeds
        The seeds of each pair, or how many: 3 means 0, 1, 2.
    budget
        A `Budget` or its keys in a mapping; the same for every solver.
    repeat
        Timed solves a cell, or "auto": until the median's interval is narrow.
    limits
        `time` (seconds a cell), `memory` (bytes or such as "2 GB"), `threads`.
    workers
        Cells run at once; default: as many as the cores have threads for.
    executor
        "local", or a table such as ``{"name": "dask", "address": "tcp://..."}``.
    gaps
        Relative suboptimalities at which time to target is measured.
    better
        For metrics whose problem does not say: "lower" or "higher".
    folder
        Where the results are kept; a comparison already there is resumed. Default: a temporary one.
    show
        A live table on a terminal, lines elsewhere.

    Raises
    ------
    UnknownName, InvalidInput
        Before anything has run. What goes wrong in a cell is a row with its status.
    """
    from optiframe.comparison.engine import run_plan
    from optiframe.comparison.plan.plan import make_plan

    plan = make_plan(
        problems,
        solvers,
        seeds=seeds,
        budget=budget,
        repeat=repeat,
        limits=limits,
        workers=workers,
        executor=executor,
        gaps=gaps,
        better=better,
    )
    if folder is not None:
        return Comparison(run_plan(plan, Path(folder), show=show), Path(folder))
    temporary = Path(mkdtemp(prefix="optiframe-"))
    try:
        return Comparison(run_plan(plan, temporary, show=show), temporary, temporary=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _framed(columns: Mapping[str, Any], backend: Backend) -> Any:
    from optiframe.errors import require

    require(backend, "frames")
    return to_frame(dict(columns), backend)
