"""How fast the winners are, in words."""

from __future__ import annotations

from collections.abc import Sequence

from optiframe.comparison.records import Records
from optiframe.comparison.stats.timings import Speed, speeds
from optiframe.comparison.units import joined, quoted
from optiframe.numbers import number

_NAMED = 4  # more names are not read


def speed_among(records: Records, leaders: Sequence[str]) -> str:
    """What follows the names of winners that tie: "; A is 41 times faster." A full stop if not known."""
    found = speeds(records, leaders)
    if not found:
        return "."
    first = quoted(found[0].faster)
    alike = [quoted(speed.slower) for speed in found if not speed.known]
    slower = [speed for speed in found if speed.known]
    if not slower:
        return "; their times cannot be told apart."
    if len(leaders) == 2:
        return f"; {first} is {_times(slower[0])} faster."
    last = f", and {_times(slower[-1])} faster than {quoted(slower[-1].slower)}" if len(slower) > 1 else ""
    named = [first, *alike]
    who = joined(named) if len(named) <= _NAMED else f"{first} and {len(alike)} others"
    verb = "are" if alike else "is"
    return f"; {who} {verb} the fastest, {_times(slower[0])} faster than {quoted(slower[0].slower)}{last}."


def speed_beside_next(records: Records, leader: str, following: str) -> str:
    """What follows the name of a winner: "; B, the next, is 3 times faster." A full stop if not known."""
    found = speeds(records, [leader, following])
    if not found:
        return "."
    after = quoted(following)
    if not found[0].known:
        return f"; its time and that of {after}, the next, cannot be told apart."
    return (
        f"; {after}, the next, is {_times(found[0])} {'slower' if found[0].faster == leader else 'faster'}."
    )


def _times(speed: Speed) -> str:
    return f"{f'{speed.ratio:.2g}' if speed.ratio < 10 else number(round(speed.ratio))} times"
