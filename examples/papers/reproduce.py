"""Run the papers' tables and figures, judge them, and write a page for each paper.

    python examples/papers/reproduce.py                      # every item, at the quick size
    python examples/papers/reproduce.py --size full rankone  # one paper, at the paper's size
    python examples/papers/reproduce.py tvcs/figure_4        # one item
    python examples/papers/reproduce.py --stored             # write the pages again, run nothing

What has finished is stored under results/papers/<size> and not run again; the pages are in
results/papers/<size>/pages. Exit code 1 when a run ended by an error, a crash or a limit; a claim that
differs is a result, not a failure.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from harness.claims import NoAnswer, cannot, ran
from harness.evaluation import Evaluation, kept
from harness.inside import Inside
from harness.items import Item, items
from harness.pages import write_pages
from harness.runs import Runs

from optiframe.comparison.engine import run_plan
from optiframe.comparison.plan.plan import read_plan
from optiframe.comparison.store.store import load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("items", nargs="*", help="paper, or paper/item; default: all")
    parser.add_argument("--size", choices=("quick", "full"), default="quick")
    parser.add_argument("--output", type=Path, default=Path("results/papers"))
    parser.add_argument("--workers", type=int, help="cells run at once")
    parser.add_argument("--stored", action="store_true", help="run nothing: judge what is stored")
    asked = parser.parse_args()
    try:
        chosen = items(asked.items)
    except LookupError as error:
        parser.error(str(error))
    folder = asked.output / asked.size
    judged = []
    for item in chosen:
        began = time.perf_counter()
        judged.append(reproduce(item, asked.size, folder, asked.workers, stored=asked.stored))
        print(_told(judged[-1], time.perf_counter() - began), flush=True)
    for path in write_pages(known(judged, folder), folder / "pages", asked.size):
        print(f"wrote {path}")
    return 1 if any(each.failed for each in judged) else 0


def reproduce(
    item: Item, size: str, folder: Path, workers: int | None = None, *, stored: bool = False
) -> Evaluation:
    """Run what is missing of an item (nothing when `stored`), judge it and draw it."""
    changes = list(item.quick) if size == "quick" else []
    if workers is not None:
        changes.append(f"executor.workers={workers}")
    plan = read_plan(item.file, changes, modules=item.modules)
    home = folder / item.paper / item.name
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
            figure = f"{item.paper}-{item.name}.png"
            (folder / "pages").mkdir(parents=True, exist_ok=True)
            item.draw(runs).savefig(folder / "pages" / figure, dpi=120, bbox_inches="tight")
    except NoAnswer:
        if not failed:  # then it is a mistake of the item
            raise
        lines = [cannot("all of it", "see the paper", f"{len(failed)} runs failed; the first: {failed[0]}")]
    if size == "quick":  # it shows that the item runs; its few repeats prove nothing
        lines = [ran(line) for line in lines]
    seconds = math.fsum(run.outcome.cpu for run in runs if math.isfinite(run.outcome.cpu))
    today = date.today().isoformat()
    judged = Evaluation(item, size, lines, len(runs), failed, seconds, today, figure, runs.older)
    judged.keep(home)
    return judged


def known(fresh: Sequence[Evaluation], folder: Path) -> list[Evaluation]:
    """Also the items of earlier calls, as they were judged then, so that the pages hold all that is known."""
    now = {each.item.file: each for each in fresh}
    every = [now.get(item.file) or kept(item, folder / item.paper / item.name) for item in items()]
    return [each for each in every if each is not None]


def _told(judged: Evaluation, seconds: float) -> str:
    head = f"{judged.item.paper}/{judged.item.name}: {judged.verdict} ({judged.counted}; {seconds:.0f} s)"
    lines = [
        f"  {line.verdict:18} {line.what}: paper {line.paper}, ours {line.ours}" for line in judged.lines
    ]
    failures = [f"  FAILED {failure}" for failure in judged.failed]
    return "\n".join([head, *lines, *failures])


if __name__ == "__main__":
    sys.exit(main())
