"""Searches for supports of small tables, fits on a support, and quadratics with an l1 penalty."""

from __future__ import annotations

from optiframe.native import native
from optiframe_tvcs.kernels import reference_splicing as reference

SmallSplicing = native(reference.SmallSplicing)
newton = native(reference.newton)
lasso = native(reference.lasso)
best_support = native(reference.best_support)
