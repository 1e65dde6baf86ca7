"""An item, one table or figure of a paper: a comparison file and the module beside it that judges it.

``<paper>/<item>.toml`` is an ordinary comparison file at the size of the paper. ``<paper>/<item>.py`` has

* a docstring: what the paper shows, and every way in which ours departs from it;
* ``TITLE``: how the page calls it;
* ``CLAIM``: what the paper claims of it, in a sentence;
* ``QUICK``: changes to the file, as on the command line (``"seeds=2"``), for the size of tests;
* ``judge(runs)``: gives the lines, made by the rules of `claims`;
* ``draw(runs)``, where there is something to see: gives a matplotlib figure;
* ``INSIDE = True``, where its many small cells may run in one process (`inside`);
* ``MODULES``: what else to import, where it names data sets of its own.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.claims import Line
from harness.runs import Runs

HERE = Path(__file__).parent.parent
PAPERS = ("rankone", "tvcs", "hodgerank", "manifold", "comrade")


@dataclass(frozen=True)
class Item:
    """One table or figure: `paper` and `name` are its folder and file."""

    paper: str
    name: str
    file: Path
    title: str
    claim: str
    about: str
    quick: tuple[str, ...]
    judge: Callable[[Runs], Sequence[Line]]
    draw: Callable[[Runs], Any] | None
    inside: bool = False
    modules: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The title without what follows a colon."""
        return self.title.partition(":")[0]


def items(chosen: Sequence[str] = ()) -> list[Item]:
    """Every item, or those chosen as ``paper`` or ``paper/item``; LookupError for a name without one."""
    files = [file for paper in PAPERS for file in sorted((HERE / paper).glob("*.toml"), key=_by_number)]
    names = {file: (file.parent.name, f"{file.parent.name}/{file.stem}") for file in files}
    known = {name for each in names.values() for name in each}
    unknown = sorted(set(chosen) - known)
    if unknown:
        raise LookupError(f"no item is called {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [_read(file) for file in files if not chosen or set(names[file]) & set(chosen)]


def _read(file: Path) -> Item:
    spec = importlib.util.spec_from_file_location(
        f"papers_{file.parent.name}_{file.stem}", file.with_suffix(".py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Item(
        file.parent.name,
        file.stem,
        file,
        module.TITLE,
        module.CLAIM,
        (module.__doc__ or "").strip(),
        tuple(module.QUICK),
        module.judge,
        getattr(module, "draw", None),
        bool(getattr(module, "INSIDE", False)),
        tuple(getattr(module, "MODULES", ())),
    )


def _by_number(file: Path) -> tuple[str, int, str]:
    """Tables after figures, by number; ``figure_1_attacks`` after ``figure_1``."""
    kind, _, rest = file.stem.partition("_")
    number, _, part = rest.partition("_")
    return kind, int(number) if number.isdigit() else 0, part
