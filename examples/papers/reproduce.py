"""Run the papers' tables and figures, judge them, and write a page for each.

    python examples/papers/reproduce.py                      # every item, at the quick size
    python examples/papers/reproduce.py --size full rankone  # one paper, at the paper's size
    python examples/papers/reproduce.py tvcs/figure_4        # one item
    python examples/papers/reproduce.py --stored             # write the pages again, run nothing

What has finished is stored under results/papers/<size> and not run again. The pages of the full size, with
figures and judged numbers, go to docs/papers, and what changed there is printed; those of the quick size go
to results/papers/quick/pages. Exit code 1 when a run ended by an error, a crash or a limit; a claim that
differs is a result, not a failure.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.claims import NoAnswer, cannot, ran
from harness.evaluation import Evaluation, changes, kept
from harness.figures import save
from harness.inside import Inside
from harness.items import HERE, Item, items
from harness.origin import origin
from harness.pages import totals, write_index, write_page
from harness.readme import write_counts
from harness.runs import Runs

from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import read_plan
from optiframe.comparison.store.store import load

DOCS = HERE.parent.parent / "docs" / "papers"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("items", nargs="*", help="paper, or paper/item; default: all")
    parser.add_argument("--size", choices=("quick", "full"), default="quick")
    parser.add_argument("--output", type=Path, default=Path("results/papers"), help="what has finished")
    parser.add_argument("--pages", type=Path, help="default: docs/papers at the full size")
    parser.add_argument("--workers", type=int, help="cells run at once")
    parser.add_argument(
        "--index", action="store_true", help="judge nothing: write pages, gallery and counts again"
    )
    parser.add_argument("--stored", action="store_true", help="run nothing: judge what is stored")
    asked = parser.parse_args()
    try:
        chosen = [] if asked.index else items(asked.items)
    except LookupError as error:
        parser.error(str(error))
    folder = asked.output / asked.size
    pages = asked.pages or (DOCS if asked.size == "full" else folder / "pages")
    failed = False
    for item in chosen:
        before = kept(item, file_of(item, pages))
        now = reproduce(item, asked.size, folder, pages, asked.workers, stored=asked.stored)
        print(_told(now, changes(before, now) if asked.size == "full" else []), flush=True)
        failed |= bool(now.failed)
    judged = [each for item in items() if (each := kept(item, file_of(item, pages))) is not None]
    if asked.index:
        for each in judged:
            each.keep(file_of(each.item, pages))
            write_page(each, pages)
    known = {each.item.file for each in judged}
    missing = [item for item in items() if item.file not in known]
    print(f"wrote {write_index(judged, missing, pages, asked.size)}")
    if pages == DOCS:
        write_counts(totals(judged))
    return int(failed)


def file_of(item: Item, pages: Path) -> Path:
    """The judged numbers of an item."""
    return pages / item.paper / f"{item.name}.json"


def reproduce(
    item: Item, size: str, folder: Path, pages: Path, workers: int | None = None, *, stored: bool = False
) -> Evaluation:
    """Run what is missing of an item (nothing when `stored`), judge it, draw it and write its page."""
    plan_changes = list(item.quick) if size == "quick" else []
    if workers is not None:
        plan_changes.append(f"executor.workers={workers}")
    plan = read_plan(item.file, plan_changes, modules=item.modules)
    home = folder / item.paper / item.name
    clock = Clock(home)
    if stored:
        records = load(home)
    else:
        records = run_plan(plan, home, show=False, executor=Inside() if item.inside else None)
    runs = Runs.of(plan, records, size, str(home), stored=stored)
    failed = [
        f"{run.problem_title}, {run.solver_title}, seed {run.seed}: {run.outcome.status}: "
        f"{run.outcome.message}"
        for run in runs.failed()
    ]
    figure = None
    try:
        lines = list(item.judge(runs))
        if item.draw is not None:
            figure = f"{item.name}.svg"
            save(item.draw(runs), pages / item.paper / figure)
    except (NoAnswer, LookupError):
        if not failed:  # then it is a mistake of the item
            raise
        lines = [cannot("all of it", "see the paper", f"{len(failed)} runs failed; the first: {failed[0]}")]
    if size == "quick":  # it shows that the item runs; its few repeats prove nothing
        lines = [ran(line) for line in lines]
    seconds = math.fsum(run.outcome.cpu for run in runs if math.isfinite(run.outcome.cpu))
    made = origin(item, size, clock.total(keep=not stored), seconds)
    judged = Evaluation(item, size, lines, len(runs), failed, figure, made, runs.older)
    judged.keep(file_of(item, pages))
    write_page(judged, pages)
    return judged


class Clock:
    """Seconds spent on an item by all calls that ran something, kept beside its results."""

    def __init__(self, home: Path) -> None:
        self._file, self._began = home / "seconds.json", time.perf_counter()

    def total(self, *, keep: bool) -> float:
        """With those since it was made, which are kept when asked for."""
        before = float(json.loads(self._file.read_text())) if self._file.is_file() else 0.0
        if not keep:
            return before
        now = before + time.perf_counter() - self._began
        self._file.write_text(json.dumps(now), encoding="utf-8")
        return now


def _told(judged: Evaluation, changed: Sequence[str]) -> str:
    name = f"{judged.item.paper}/{judged.item.name}"
    head = f"{name}: {judged.verdict} ({judged.counted}; {judged.origin.wall:.0f} s)"
    lines = [
        f"  {line.verdict:18} {line.what}: paper {line.paper}, ours {line.ours}; control: {line.control}"
        for line in judged.lines
    ]
    failures = [f"  FAILED {failure}" for failure in judged.failed]
    return "\n".join([head, *lines, *failures, *(f"  CHANGED {each}" for each in changed)])


if __name__ == "__main__":
    sys.exit(main())
