"""The steps of EM: expected counts, scores by confusion matrices, posteriors with a prior for every worker."""

from __future__ import annotations

from optiframe.native import native
from optiframe_rankone.kernels import reference

count_classes = native(reference.count_classes)
class_scores = native(reference.class_scores)
pooled_posteriors = native(reference.pooled_posteriors)
