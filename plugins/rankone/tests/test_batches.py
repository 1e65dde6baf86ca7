"""Batches of labels: joined by codes, they are the labels of one table, and answers are those of one fit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_rankone import LabelAggregator, estimator
from optiframe_rankone.batches import as_rows, joined
from optiframe_rankone.data import LabelTable
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.read.further import FurtherLabels

from .slow import rows, single_coin

NUMBERS = st.integers(0, 9)
NAMES = st.sampled_from([f"w{n}" for n in range(9)])
MIXED = st.sampled_from([1, 2, 3, 10, "1", "a", "b", 2.5])


@st.composite
def labels(draw: st.DrawFn, ids: st.SearchStrategy[Any]) -> list[tuple[Any, Any, Any]]:
    """Rows of labels, no task and worker twice; two values among the first three rows."""
    pairs = draw(st.lists(st.tuples(ids, ids), min_size=4, max_size=25, unique=True))
    return [(*pair, number % 2 + 2 * (number > 5)) for number, pair in enumerate(pairs)]


def read(told: list[tuple[Any, Any, Any]]) -> LabelTable:
    return FurtherLabels(labels=rows(*told)).labels


@settings(max_examples=60, deadline=None)
@given(told=st.one_of(labels(NUMBERS), labels(NAMES)), data=st.data())
@pytest.mark.slow
def test_labels_joined_by_codes_are_those_read_together(told: Any, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(told) - 1))
    found, whole = joined(read(told[:cut]), read(told[cut:])), read(told)
    assert found is not None
    for name in ("task", "worker", "label"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
        ids, expected = getattr(found, f"{name}_ids"), getattr(whole, f"{name}_ids")
        assert ids.dtype == expected.dtype
        assert ids.tolist() == expected.tolist()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(told=labels(MIXED), data=st.data())
def test_ids_of_several_kinds_are_joined_or_left_to_their_rows(told: Any, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(told) - 1))
    found, whole = joined(read(told[:cut]), read(told[cut:])), read(told)
    if found is not None:  # else the ids have no order in which codes stay sorted
        columns = as_rows(found)
        assert set(zip(*(columns[name].tolist() for name in columns), strict=True)) == set(told)
        assert found.look_alike == whole.look_alike
        key = found.task.astype(np.int64) * 100 + found.worker
        assert (np.diff(key) > 0).all()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(told=st.one_of(labels(NUMBERS), labels(NAMES)), cuts=st.lists(st.integers(3, 24), max_size=3))
@pytest.mark.parametrize("solver", ["labels.majority", "labels.dawid-skene", "labels.crowd"])
def test_batches_give_the_answer_of_one_fit(solver: str, told: Any, cuts: list[int]) -> None:
    at = [0, *sorted({cut for cut in cuts if cut < len(told)}), len(told)]
    model = LabelAggregator(solver)
    for first, last in pairwise(at):
        model.partial_fit(rows(*told[first:last]))
    full = LabelAggregator(solver).fit(rows(*told))
    np.testing.assert_array_equal(model.result_.solution.scores, full.result_.solution.scores)
    assert model.findings_ == full.findings_
    assert model.predict()["label"].tolist() == full.predict()["label"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["rankone.pgd", "rankone.coordinate"])
def test_fits_of_correlations_end_at_the_same_skills(solver: str) -> None:
    inputs = single_coin(0, np.linspace(0.2, 0.9, 12), tasks=300, per_task=5)
    frame, order = inputs["labels"], np.random.default_rng(0).permutation(1500)
    model = LabelAggregator(solver)
    for part in np.array_split(order, 3):
        model.partial_fit({name: column[part] for name, column in frame.items()}, gold=inputs["truth"])
    full = LabelAggregator(solver).fit(frame, gold=inputs["truth"])
    np.testing.assert_allclose(model.skills_["skill"], full.skills_["skill"], atol=1e-4)


def test_clean_batches_are_never_decoded_and_repeats_are() -> None:
    told = [(f"t{t}", f"w{w}", (t * w) % 2) for t in range(6) for w in range(3)]
    model = LabelAggregator("labels.majority", duplicates="last").fit(rows(*told[:9]))
    with mock.patch.object(estimator, "all_rows", side_effect=AssertionError("decoded")):
        model.partial_fit(rows(*told[9:]))
        with pytest.raises(AssertionError, match="decoded"):
            model.partial_fit(rows(("t0", "w0", 1)))
    model.partial_fit(rows(("t0", "w0", 1)))
    assert len(model.result_.problem.labels) == len(told)
    everything = LabelAggregation(labels=rows(*told, ("t0", "w0", 1)), duplicates="last").labels
    np.testing.assert_array_equal(model.result_.problem.labels.label, everything.label)
