"""Passes over a block of rows of a dense matrix."""

from __future__ import annotations

from optiframe.native import native
from optiframe_comrade.kernels import reference

logistic = native(reference.logistic)
scale = native(reference.scale)
sparse_gram = native(reference.sparse_gram)
