"""Batches of labels that are forgotten once they are counted."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_rankone import LabelAggregator, LabelStream
from optiframe_rankone.data import LabelTable

from optiframe import InvalidInput

from .slow import single_coin


def labels_of(tasks: int = 300, classes: int = 3) -> pd.DataFrame:
    skills = np.array([0.9, 0.7, 0.6, 0.4, 0.2, -0.3])
    return pd.DataFrame(single_coin(1, skills, tasks, 4, classes)["labels"])


def batches(frame: pd.DataFrame) -> list[pd.DataFrame]:
    """Tasks dealt to batches, so that no batch has a range of its own."""
    return [part for _, part in frame.groupby(frame["task"] % 5)]


def without_validity(answers: pd.DataFrame) -> pd.DataFrame:
    """What a stream says, too: it keeps no labels to test a model with."""
    return answers.drop(columns="confidence_valid")


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["rankone.pgd", "coordinate"])
def test_skills_and_answers_are_those_of_all_labels_at_once(solver: str) -> None:
    frame = labels_of()
    exact = {"tolerance": 1e-9}
    stream, whole = LabelStream(solver, budget=exact), LabelAggregator(solver, budget=exact).fit(frame)
    for batch in batches(frame):
        stream.partial_fit(batch)
    columns = ["worker", "labels", "skill", "accuracy"]
    pd.testing.assert_frame_equal(stream.skills_, whole.skills_[columns], rtol=1e-6)
    answers = without_validity(whole.predict(frame))
    pd.testing.assert_frame_equal(stream.predict(frame), answers, rtol=1e-6)
    assert stream.predict_proba(frame).columns.tolist() == ["task", "0", "1", "2"]
    assert stream.classes_.tolist() == [0, 1, 2]


def test_votes_add_up_also_over_batches_that_share_tasks() -> None:
    frame = labels_of()
    stream = LabelStream("majority")
    for batch in (frame[::2], frame[1::2]):
        stream.partial_fit(batch)
    whole = LabelAggregator("majority", ties="keep").fit(frame)
    pd.testing.assert_frame_equal(stream.predict(), without_validity(whole.predict()))
    pd.testing.assert_frame_equal(stream.predict(frame), without_validity(whole.predict()))
    with pytest.raises(AttributeError, match="skills_"):
        _ = stream.skills_


@pytest.mark.parametrize(("first", "then"), [("rankone.pgd", "majority"), ("majority", "rankone.pgd")])
def test_counts_of_one_kind_are_not_taken_for_the_other(first: str, then: str) -> None:
    one, other = batches(labels_of())[:2]
    stream = LabelStream(first).partial_fit(one)
    with pytest.raises(InvalidInput, match=r"begin again with fit\(frame\)"):
        stream.set_params(solver=then).partial_fit(other)
    assert stream.fit(other).predict(other) is not None


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["rankone.pgd", "majority"])
def test_no_labels_are_kept(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tables: list[weakref.ref[LabelTable]] = []
    read = LabelStream._read
    monkeypatch.setattr(
        LabelStream,
        "_read",
        lambda self, frame: tables.append(weakref.ref(table := read(self, frame))) or table,
    )
    stream = LabelStream(solver)
    sizes = [len(pickle.dumps(stream.partial_fit(batch))) for batch in batches(labels_of(1000))]
    gc.collect()
    assert len(tables) == 5
    assert not any(table() for table in tables)
    each = 8 if solver == "rankone.pgd" else 8 + 3 * 8  # the id of a task, and its votes
    assert sizes[-1] - sizes[0] <= 800 * each + 500


def test_new_workers_and_classes_may_come() -> None:
    frame = labels_of()
    first, second = frame[frame["task"] < 150], frame[frame["task"] >= 150]
    first = first[(first["worker"] < 4) & (first["label"] < 2)]
    stream = LabelStream().partial_fit(first).partial_fit(second)
    whole = LabelAggregator("rankone.pgd").fit(pd.concat([first, second]))
    np.testing.assert_allclose(stream.skills_["skill"], whole.skills_["skill"], atol=1e-4)
    assert len(stream.skills_) == 6
    assert stream.fit(first).counts_.worker_ids.tolist() == [0, 1, 2, 3]


def refused(solver: Any, frame: Any) -> str:
    stream = LabelStream(solver)
    with pytest.raises(InvalidInput) as caught:
        stream.partial_fit(frame)
    return str(caught.value)


def test_what_a_stream_cannot_do_is_refused() -> None:
    frame = labels_of(20)
    assert "labels.crowd needs all labels at once" in refused("crowd", frame)
    assert "name the solver of a stream" in refused(None, frame)
    assert "labels with weights cannot be counted" in refused("pgd", frame.assign(weight=2.0))
    assert "only one label value" in refused("pgd", frame.assign(label=1))
    stream = LabelStream().partial_fit(frame)
    before = stream.skills_
    with pytest.raises(InvalidInput, match="3 of these tasks came before: 17, 18, 19"):
        stream.partial_fit(labels_of(40)[lambda table: table["task"] >= 17])
    pd.testing.assert_frame_equal(stream.skills_, before)
    with pytest.raises(InvalidInput, match="give the labels to decide"):
        stream.predict()
    with pytest.raises(InvalidInput, match="call partial_fit"):
        LabelStream().predict(frame)


def test_the_majority_of_a_stream_counts_weights() -> None:
    frame = labels_of(20).assign(weight=lambda table: 1.0 + table["worker"])
    stream = LabelStream("majority").partial_fit(frame)
    whole = LabelAggregator("majority", ties="keep").fit(frame)
    pd.testing.assert_frame_equal(stream.predict(), without_validity(whole.predict()))
