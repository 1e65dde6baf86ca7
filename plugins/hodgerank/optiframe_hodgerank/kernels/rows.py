"""Passes over the rows of a comparison graph."""

from __future__ import annotations

from optiframe.native import native
from optiframe_hodgerank.kernels import reference

RowsByPair = native(reference.RowsByPair)
bregman_block = native(reference.bregman_block)
merge = native(reference.merge)
