"""Passes over the codes of labels."""

from __future__ import annotations

from optiframe.native import native
from optiframe_rankone.kernels import reference

encode = native(reference.encode)
order = native(reference.order)
vote = native(reference.vote)
