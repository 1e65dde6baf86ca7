"""Tables of ids: finding some among others, and naming a few in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe_hodgerank.data import Ids

_SHOWN = 5  # ids named in a sentence before "and N more"


def positions(ids: Ids, wanted: Ids) -> NDArray[np.int64]:
    """Where each wanted id is in `ids`; -1 where it is not. Ids must be hashable.

    Numbers also find text that spells them, since a column of a file is numbers or text as a whole.
    """
    table = {value: code for code, value in enumerate(ids.tolist())}
    found = [table.get(value, -1) for value in wanted.tolist()]
    if max(found, default=0) < 0:
        table = {str(value): code for value, code in table.items()}
        found = [table.get(str(value), -1) for value in wanted.tolist()]
    return np.array(found, dtype=np.int64)


def listed(ids: Ids | Sequence[Any]) -> str:
    """The first few ids, and how many more there are."""
    values = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    shown = ", ".join(map(str, values[:_SHOWN]))
    return shown if len(values) <= _SHOWN else f"{shown} and {len(values) - _SHOWN} more"
