"""Passes over comparisons and blocks of rows."""

from __future__ import annotations

from optiframe.native import native
from optiframe_manifold.kernels import reference

log_loss = native(reference.log_loss)
gather = native(reference.gather)
spread = native(reference.spread)
margins = native(reference.margins)
pull = native(reference.pull)
pull_along = native(reference.pull_along)
exp_sum = native(reference.exp_sum)
exp_terms = native(reference.exp_terms)
bend_rows = native(reference.bend_rows)
