"""The support chosen for a point, with its prices, the proof, and the tables of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.findings import Finding
from optiframe.tables.columns import Columns
from optiframe_tvcs.projection.certificate import Bounds, Certificate, Prices, used
from optiframe_tvcs.projection.judged import not_best

Names = Sequence[Any] | NDArray[Any] | None  # of the groups of a view; None: they are numbered


@dataclass(frozen=True, eq=False)
class Selection:
    """The support chosen for a point, with its prices and the proof that no other is better.

    Parameters
    ----------
    support
        Which elements are chosen, shape (p,); those of a matrix row by row.
    prices
        What the bounds cost.
    certificate
        The outcome of checking the two against each other.
    bounds
        The bounds that it was chosen under; not copied.
    views
        What the groups of each view stand for, and their names: ("worker", ids), ("task", ids).
        Without, they are "row" and "column" and numbered.
    """

    support: NDArray[np.bool_] = field(repr=False)
    prices: Prices = field(repr=False)
    certificate: Certificate
    bounds: Bounds = field(repr=False)
    views: tuple[tuple[str, Names], ...] = field(default=(("row", None), ("column", None)), repr=False)

    def named(self, *views: tuple[str, Names]) -> Selection:
        """The same with names for the groups of the two views."""
        return replace(self, views=views)

    def diagnose(self) -> tuple[Finding, ...]:
        """A warning where the support is not proved best; a run whose detail this is reports it."""
        if self.certificate.holds:
            return ()
        text = not_best(self.certificate, self.support)
        return (Finding("warning", text, identifier="projection.not-proved-best"),)

    def tables(self) -> dict[str, Columns]:
        """What the command line writes beside the answer: `prices` of all bounds, and the `certificate`.

        `prices` has one row a bound: its view (total first), its group, the bound, how many elements
        chosen count towards it, and its price. `certificate` is one row, in the same units.
        """
        row_labels, row_caps, column_labels, column_caps, total = self.bounds
        view, group, bound = ["total"], [""], [int(total)]
        count, price = [int(np.count_nonzero(self.support))], [float(self.prices.total)]
        for (title, names), labels, caps, prices in zip(
            self.views, (row_labels, column_labels), (row_caps, column_caps),
            (self.prices.rows, self.prices.columns), strict=True,
        ):  # fmt: skip
            view += [title] * len(caps)
            group += [str(name) for name in (range(len(caps)) if names is None else names)]
            bound += caps.tolist()
            count += used(labels[self.support], len(caps)).tolist()
            price += prices.tolist()
        bounds = {"view": view, "group": group, "bound": bound, "used": count, "price": price}
        proof = asdict(self.certificate)
        return {"prices": bounds, "certificate": {name: [value] for name, value in proof.items()}}
