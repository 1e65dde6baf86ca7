"""Where an error was raised, in words."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from traceback import FrameSummary, extract_tb


def innermost(error: BaseException) -> str:
    """The innermost line that is of no installed package, ``mine.py:48 (in iterates)``; or the last."""
    frames = extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not is_library(frame.filename)]
    return words_of((theirs or frames)[-1]) if frames else ""


def words_of(frame: FrameSummary) -> str:
    """A place in words."""
    return f"{_short(frame.filename)}:{frame.lineno} (in {frame.name})"


def _short(path: str) -> str:
    """Relative where it is below the working folder, so that it is as short as what one would type."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path


def is_library(path: str) -> bool:
    """Whether a file is of an installed package or of Python itself."""
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    return "site-packages" in path or path.startswith("<frozen") or path.startswith(tuple(places))
