"""Pages of text, tables and drawings, for several comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from optiframe.report.document import document
from optiframe.report.drawing import Drawing
from optiframe.report.looks import looks
from optiframe.report.tables import Table
from optiframe.report.writing import stem


@dataclass(frozen=True)
class Section:
    """A part of a page: sentences, then drawings side by side, then tables."""

    heading: str
    notes: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    tables: Sequence[Table] = field(default=())
    anchor: str = ""


def plain_page(
    title: str,
    kicker: str,
    lead: Sequence[str],
    sections: Sequence[Section],
    *,
    solvers: Sequence[str] = (),
    home: str = "",
) -> str:
    """The page as text.

    Parameters
    ----------
    title, kicker, lead
        The heading, the line above it, and sentences below it.
    sections
        What follows. A section without an anchor gets one of its heading and place.
    solvers
        Titles of solvers in tables, in the order that gives them their colours.
    home
        Address of the site's first page, where there is one.

    Raises
    ------
    MissingPackage
        Without Jinja.
    """
    named = [
        {
            "heading": section.heading,
            "notes": section.notes,
            "drawings": section.drawings,
            "tables": section.tables,
            "anchor": section.anchor or f"{stem(section.heading)}-{place}",
        }
        for place, section in enumerate(sections, start=1)
    ]
    content = {"title": title, "kicker": kicker, "lead": lead, "sections": named, "home": home}
    return document("plain.html", {**content, "looks": looks(solvers)}, {})
