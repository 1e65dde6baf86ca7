"""Fields that are tables, and the field that names their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from optiframe.records.fields import Accepts
from optiframe.tables.column_names import column_names
from optiframe.tables.read import Table, read_table


class TableOf(Accepts):
    """Field metadata: a table with these columns, read and checked as by `read_table`.

    ``votes: Annotated[Table, TableOf("worker", "item", optional=("comment",))]`` takes a data frame, a
    mapping of columns, or the path of a CSV, Parquet or Excel file, which in a TOML file begins at that file.

    Parameters
    ----------
    required, optional
        Columns to take; further ones are left.
    """

    def __init__(self, *required: str, optional: tuple[str, ...] = ()) -> None:
        columns = ", ".join((*required, *(f"{name} (optional)" for name in optional)))
        super().__init__(
            f"data frame, mapping of columns, or path of a CSV, Parquet or Excel file; columns: {columns}"
        )
        object.__setattr__(self, "required", required)
        object.__setattr__(self, "optional", optional)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            lambda value, info: self._read(value, info.field_name or "table")
        )

    def _read(self, value: Any, title: str) -> Table:
        if isinstance(value, Table):
            return value
        required: tuple[str, ...] = self.required  # type: ignore[attr-defined]  # set above: it is frozen
        optional: tuple[str, ...] = self.optional  # type: ignore[attr-defined]
        return read_table(value, required, optional, title=title)


@dataclass(frozen=True)
class ColumnNames(Accepts):
    """Field metadata: our names of these columns -> the user's, where they differ, checked by `column_names`.

    ``columns: Annotated[dict[str, str], ColumnNames(("worker", "item"))]``
    """

    words: str = field(default="table of our column name to yours", init=False)
    known: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda value: column_names(value, self.known))
