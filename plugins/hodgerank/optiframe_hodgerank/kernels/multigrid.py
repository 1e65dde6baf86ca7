"""A multigrid cycle for the Laplacian of a graph."""

from __future__ import annotations

from optiframe.native import native
from optiframe_hodgerank.kernels import reference

multigrid = native(reference.multigrid)
