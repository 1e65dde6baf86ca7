"""Searches for supports of small tables, and quadratics with an l1 penalty."""

from __future__ import annotations

from optiframe.native import native
from optiframe_tvcs.kernels import reference_splicing as reference

SmallSplicing = native(reference.SmallSplicing)
lasso = native(reference.lasso)
