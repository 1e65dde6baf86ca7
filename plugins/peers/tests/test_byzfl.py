"""ByzFL's aggregators as a filter: what is refused, and, where it is installed, that they are ours."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from optiframe_comrade.parts.filters import CoordinateMedian, Mean, TrimmedMean
from optiframe_comrade.parts.kinds import Filter
from optiframe_peers.filters.byzfl import ByzFl

from optiframe.errors import InvalidInput, MissingPackage
from optiframe.registry.by_name import part
from optiframe.registry.registry import registry

VECTORS = np.random.default_rng(0).standard_normal((11, 6))


@pytest.mark.parametrize(
    ("aggregator", "ours"),
    [("average", Mean()), ("median", CoordinateMedian()), ("trimmed-mean", TrimmedMean())],
)
def test_an_aggregator_is_the_filter_of_ours_or_says_what_to_install(aggregator: Any, ours: Filter) -> None:
    theirs = ByzFl(aggregator=aggregator)
    if find_spec("byzfl") is None:
        with pytest.raises(MissingPackage, match="pip install 'byzfl>="):
            theirs.aggregate(VECTORS, 3)
        return
    assert np.allclose(theirs.aggregate(VECTORS, 3), ours.aggregate(VECTORS, 3))


def test_it_is_chosen_by_name_with_its_aggregator() -> None:
    found = part(Filter, {"name": "byzfl", "aggregator": "meamed", "neighbours": True})
    assert found == ByzFl(aggregator="meamed", neighbours=True)
    with pytest.raises(InvalidInput, match="did you mean 'meamed'"):
        part(Filter, {"name": "byzfl", "aggregator": "meamd"})


@pytest.mark.parametrize("aggregator", ["trimmed-mean", "krum", "mda", "caf"])
def test_as_many_lies_as_half_are_refused(aggregator: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{aggregator} withstands less than half of 6 vectors, not 3"):
        ByzFl(aggregator=aggregator).aggregate(VECTORS[:6], 3)


@pytest.mark.parametrize("aggregator", ["mda", "smea"])
def test_more_subsets_than_can_be_tried_are_refused(aggregator: Any) -> None:
    with pytest.raises(InvalidInput, match="tries every 20 of 30 vectors"):
        ByzFl(aggregator=aggregator).aggregate(np.ones((30, 2)), 10)


def test_doctor_is_told_what_it_requires() -> None:
    assert registry().get("part", "filter.byzfl").requires == ("byzfl",)
