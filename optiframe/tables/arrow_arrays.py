"""Arrays of pyarrow as those of NumPy, text as codes; without pandas, which `to_numpy` imports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optiframe.tables.columns import Coded, Coder


def numbers_of(numbers: Any) -> NDArray[Any]:
    """The same memory as a vector, of a pyarrow array of numbers without gaps."""
    return np.asarray(np.from_dlpack(numbers))


def codes_of_text(texts: Any, coder: Coder | None = None) -> Coded:
    """Codes of a pyarrow array of text, not empty and without gaps.

    By the coder where it takes the array, else by Arrow's dictionary: several times as fast as going
    through Python's objects.
    """
    found = None if coder is None else coder(texts)
    if found is not None:
        return found
    coded = texts.dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
        if hasattr(coded, "unify_dictionaries"):  # several pieces are still a chunked array
            coded = coded.unify_dictionaries().combine_chunks()
    ids = np.array(coded.dictionary.to_pylist(), dtype=object)
    order = np.array(sorted(range(len(ids)), key=ids.tolist().__getitem__))
    rank = np.empty(len(ids), dtype=np.int32)
    rank[order] = np.arange(len(ids), dtype=np.int32)
    return Coded(rank[numbers_of(coded.indices)], ids[order])
