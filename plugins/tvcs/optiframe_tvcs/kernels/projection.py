"""The projection onto a three-view set, from worths to a proved support."""

from __future__ import annotations

from optiframe.native import native
from optiframe_tvcs.kernels import reference

Layout = native(reference.Layout)
project = native(reference.project)
keep = native(reference.keep)
