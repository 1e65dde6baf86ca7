"""Passes over the codes of labels."""

from __future__ import annotations

from optiframe.native import native
from optiframe_rankone.kernels import reference

encode = native(reference.encode)
encode_texts = native(reference.encode_texts)
sort_labels = native(reference.sort_labels)
count_codes = native(reference.count_codes)
vote = native(reference.vote)
