"""The steps of EM with a prior for every worker: expected counts, and posteriors."""

from __future__ import annotations

from optiframe.native import native
from optiframe_rankone.kernels import reference

count_classes = native(reference.count_classes)
pooled_posteriors = native(reference.pooled_posteriors)
