"""Passes over votes: by worker, and counted by pair."""

from __future__ import annotations

from optiframe.native import native
from optiframe_hodgerank.kernels import reference_votes as reference

bradley_terry_terms = native(reference.bradley_terry_terms)
crowd_doubt = native(reference.crowd_doubt)
crowd_likelihoods = native(reference.crowd_likelihoods)
crowd_slopes = native(reference.crowd_slopes)
laplacian_product = native(reference.laplacian_product)
sides_p = native(reference.sides_p)
votes_by_worker = native(reference.votes_by_worker)
