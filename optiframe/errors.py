"""What can go wrong, said for the person at the keyboard.

A message says what was wrong, where (file, row, key) and what to do about it.
"""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterable, Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from types import ModuleType, TracebackType


class OptiframeError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(OptiframeError, ValueError):
    """An input is wrong.

    ``problems`` holds one ``(path, message)`` pair for each thing found, the path being
    the keys that lead to it, so that a caller who knows the file can add the line.
    """

    def __init__(self, message: str, problems: Iterable[tuple[tuple[str, ...], str]] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (((), message),)


class Complaints:
    """What several checks of one input find, for one error that says it all.

    Each check runs inside ``with complaints:``, which takes the `InvalidInput` it raises; `tell`
    raises what was taken, and does nothing when all was right.
    """

    def __init__(self) -> None:
        self._heard: list[tuple[tuple[str, ...], str]] = []

    def __enter__(self) -> Complaints:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool:
        if not isinstance(error, InvalidInput):
            return False
        self._heard.extend(error.problems)
        return True

    def tell(self, between: str = "; ") -> None:
        """Raise one `InvalidInput` for all that was taken."""
        if self._heard:
            raise InvalidInput(between.join(text for _, text in self._heard), self._heard)


class UnknownName(OptiframeError, LookupError):
    """No such solver, problem, data set, objective, constraint set or part."""


class Unsuited(OptiframeError):
    """The solver cannot take this problem; the message says why."""


class BrokenPlugin(OptiframeError):
    """A plugin, or something it registered, does not keep the contract."""


class MissingPackage(OptiframeError, ImportError):
    """An optional package is needed and not installed."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x' or 'y'?`, or an empty string when nothing is near.

    Names that differ in capitals and blanks alone are the nearest.
    Names whose part after a dot is the word (``filter.norm`` for ``norm``) go before all others. Where no
    name is spelled alike, those that begin so after a dot are shown (``scipy.nelder-mead`` for ``nelder``).
    """
    names = list(dict.fromkeys(known))
    ends = [name for name in names if word and name.endswith(f".{word}")]
    alike = [name for name in names if name.casefold().split() == word.casefold().split()]
    close = ends[:5] or alike[:3] or difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    close = close or [name for name in names if len(word) > 3 and f".{word}" in name][:5]
    return f"; did you mean {' or '.join(repr(name) for name in close)}?" if close else ""


# The distribution that holds the package optiframe, and the prefix of its plugins': `optiframe` on PyPI is
# another project, so no requirement and no command of ours may name it.
DISTRIBUTION = "optiframework"
# Where the name to install is not the name to import.
_DISTRIBUTION = {"sklearn": "scikit-learn", "crowdkit": "crowd-kit", "xgboost": "xgboost-cpu"}
_REQUIRED = re.compile(r"""([\w.-]+)[^;]*;.*extra\s*==\s*['"]([\w.-]+)['"]""")


def require(package: str, extra: str | None = None, of: str = DISTRIBUTION) -> ModuleType:
    """Import an optional package on use: one that the `extra` (none: any) of the distribution `of` brings.

    Raises
    ------
    MissingPackage
        With the command that installs it.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is not None and package.split(".", maxsplit=1)[0] != error.name.split(".")[0]:
            raise  # the package is there; something inside it is not
        raise MissingPackage(_missing(package, of, extra)) from None


def absent(requires: Iterable[str], of: str = DISTRIBUTION) -> str | None:
    """Why what has these requirements cannot run here (see `Record.requires`); None where it can.

    Says of the first one that is not installed what `require` says, and imports nothing.
    """
    for module in map(module_of, requires):
        if find_spec(module.partition(".")[0]) is None:
            return _missing(module, of)
    return None


def _missing(module: str, of: str, extra: str | None = None) -> str:
    name = distribution(module)
    return f"this needs the package {name!r}, which is not installed; run: {remedy([name], of, extra)}"


def distribution_of(requirement: str) -> str:
    """The distribution of a requirement (see `Record.requires`): what stands before its colon."""
    return requirement.partition(":")[0]


def module_of(requirement: str) -> str:
    """The module of a requirement: what stands after its colon; without one, the distribution's name."""
    name, _, module = requirement.partition(":")
    return module or name.replace("-", "_")


def distribution(module: str) -> str:
    """What is installed to have a module."""
    top = module.partition(".")[0]
    return _DISTRIBUTION.get(top, top)


def remedy(missing: Sequence[str], of: str = DISTRIBUTION, extra: str | None = None) -> str:
    """The command that installs these packages, with whatever else an extra that brings them still lacks.

    The packages are named, not the extra: an extra needs our distributions from a package index,
    and they come from a checkout.

    Parameters
    ----------
    missing
        Names of distributions.
    of, extra
        The distribution that knows which versions it can take, and which of its extras; the first
        that brings them all by default.
    """
    extras = _extras(of)
    if extra is None:
        extra = next((name for name, lines in extras.items() if set(missing) <= set(lines)), None)
    lines = _expanded(extras, extra, of) if extra is not None else {}
    wanted = [line for name, line in lines.items() if name in missing or not is_installed(name)]
    return f"pip install {' '.join(shlex.quote(line) for line in wanted or missing)}"


def is_installed(name: str) -> bool:
    """Whether there is a distribution of this name."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _extras(of: str) -> dict[str, dict[str, str]]:
    """For each extra of an installed distribution: name of a package -> requirement, as it declares them."""
    try:
        required = metadata.requires(of) or []
    except metadata.PackageNotFoundError:
        return {}
    extras: dict[str, dict[str, str]] = {}
    for line in required:
        if found := _REQUIRED.match(line):
            extras.setdefault(found[2], {})[found[1]] = line.partition(";")[0].strip()
    return extras


def _expanded(extras: dict[str, dict[str, str]], extra: str, of: str) -> dict[str, str]:
    """The requirements of an extra and of those it takes in; plugins of ours are in no package index."""
    lines: dict[str, str] = {}
    for name, line in extras.get(extra, {}).items():
        if name == of:
            for other in line.partition("[")[2].partition("]")[0].split(","):
                lines |= _expanded(extras, other.strip(), of)
        elif not name.startswith(f"{DISTRIBUTION}-"):
            lines[name] = line
    return lines
