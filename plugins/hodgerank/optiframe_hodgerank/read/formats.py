"""Tables of comparisons as others write them: winners and losers, Arena files, matrices of wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.tables.read import Table, headings, read_table
from optiframe_hodgerank.read.matrix import is_matrix, read_matrix

Format: TypeAlias = Literal["votes", "winner-loser", "arena", "margin", "matrix"]


@dataclass(frozen=True)
class Convention:
    """How a format calls our columns, and what it writes instead of the winner's id.

    Parameters
    ----------
    columns
        Our column name -> the format's; an empty name: a column that is not read.
    needed
        Headings by which the format is recognized.
    outcomes
        Label -> left, right or tie.
    workers
        Headings under which the worker may be found, the likeliest first.
    ignored
        Headings that are no concern of a ranking, and need no note.
    """

    columns: Mapping[str, str]
    needed: tuple[str, ...]
    outcomes: Mapping[str, str]
    workers: tuple[str, ...] = ()
    ignored: frozenset[str] = frozenset()


_BESIDES = (  # what Arena files say of a battle besides who won
    "question_id id conversation_id battle_id prompt response_a response_b conversation_a conversation_b "
    "full_conversation turn anony language tstamp timestamp openai_moderation toxic_chat_tag conv_metadata "
    "category_tag is_code dedup_tag"
)

CONVENTIONS: Mapping[str, Convention] = {
    "votes": Convention({"margin": ""}, ("left", "right", "label"), {}),
    "margin": Convention({"label": ""}, ("left", "right", "margin"), {}),
    "winner-loser": Convention(
        {"left": "winner", "right": "loser", "label": "winner"}, ("winner", "loser"), {}
    ),
    "arena": Convention(
        {"left": "model_a", "right": "model_b", "label": "winner"},
        ("model_a", "model_b", "winner"),
        {"model_a": "left", "model_b": "right"}
        | dict.fromkeys(("tie", "tie (bothbad)", "bothbad", "both_bad"), "tie"),
        ("judge", "judge_hash", "user_id", "user"),
        frozenset(_BESIDES.split()),
    ),
}

_OURS = Convention({}, (), {})


def open_table(
    value: Any, columns: Mapping[str, str], names: Sequence[str], wanted: Format | None
) -> tuple[Table, Mapping[str, str], tuple[Finding, ...]]:
    """The table with our columns, what labels stand for by its format, and a note on a format recognized.

    Parameters
    ----------
    value
        A data frame, a mapping of columns, or the path of a CSV or Parquet file.
    columns
        Our column name -> the user's; these go before the format's.
    names
        Columns of covariates.
    wanted
        The format; None: that which the headings name, where they leave no doubt.

    Raises
    ------
    InvalidInput
        For whatever `read_table` or `read_matrix` finds, and for a table that is not of the wanted format.
    """
    found = wanted if wanted is not None else recognized(value, columns)
    convention = _OURS if found is None else CONVENTIONS.get(found)
    if convention is not None:
        table = _read(value, columns, names, convention, found)
        by = f"columns are {', '.join(convention.needed)}"
    else:
        if names:
            raise InvalidInput(f"a matrix of wins has no columns of covariates ({', '.join(names)})")
        table, convention = read_matrix(value, title="comparisons"), _OURS
        by = "rows and columns have the same names"
    if found is None or wanted is not None:
        return table, convention.outcomes, ()
    text = f"{table.title} was read as format = {found!r}, since its {by}; name the format to be sure"
    return table, convention.outcomes, (Finding("note", text, identifier="ranking.recognized-format"),)


def _read(
    value: Any,
    columns: Mapping[str, str],
    names: Sequence[str],
    convention: Convention,
    name: str | None,
) -> Table:
    """The table by the convention of this name; by our own names for None."""
    heads = headings(value)
    replaced = {convention.columns.get(ours, ours) for ours in columns}  # what the user calls otherwise
    lacking = [each for each in convention.needed if each not in heads and each not in replaced]
    if name is not None and heads and lacking:
        raise InvalidInput(
            f"format = {name!r} needs the columns {', '.join(convention.needed)}, and there is no "
            f"{' and no '.join(lacking)}; the table has {', '.join(map(repr, heads))} (other names can be "
            "mapped with `columns`)"
        )
    rename = {**convention.columns, **columns}
    worker = next((each for each in convention.workers if each in heads), None)
    if worker is not None and "worker" not in heads:
        rename.setdefault("worker", worker)
    optional = ("worker", "label", "margin", "weight")
    table = read_table(value, ("left", "right", *names), optional, title="comparisons", rename=rename)
    unused = tuple(each for each in table.unused if each not in convention.ignored)
    return replace(table, unused=unused)


def recognized(value: Any, columns: Mapping[str, str]) -> Format | None:
    """The format that the headings name; None for our own names, and where there is any doubt."""
    heads = set(headings(value))
    if {"left", "right", "label", "margin"} & {*heads, *columns}:
        return None
    others: tuple[Format, ...] = ("arena", "winner-loser")
    fits = [name for name in others if heads.issuperset(CONVENTIONS[name].needed)]
    if fits:
        return fits[0] if len(fits) == 1 else None
    return "matrix" if is_matrix(value) else None


def sides(value: Any, columns: Mapping[str, str]) -> dict[str, str]:
    """Our columns left and right -> those of a table of pairs: ours, the user's, or a format's."""
    heads = set(headings(value))
    named = {side: name for side, name in columns.items() if side in ("left", "right")}
    for convention in (_OURS, *CONVENTIONS.values()):
        found = {side: convention.columns.get(side, side) for side in ("left", "right")} | named
        if heads.issuperset(found.values()):
            return found
    return named
