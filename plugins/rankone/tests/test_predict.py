"""Tasks that come after a fit: `predict(frame)`, `score`, and known labels as series or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from optiframe_rankone import LabelAggregator
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

import optiframe
from optiframe.errors import InvalidInput

from .slow import single_coin

SKILLS = np.array([0.95, 0.9, 0.8, 0.3, 0.1, 0.0, -0.2, 0.5, 0.6, 0.2])


def crowd(
    tasks: int = 400, seed: int = 0, classes: int = 3, skills: Any = SKILLS, per_task: int = 4
) -> tuple[pd.DataFrame, pd.Series]:
    """Labels in random order of rows, and the truth by task."""
    inputs = single_coin(seed, np.asarray(skills), tasks, per_task=per_task, classes=classes)
    labels = pd.DataFrame(inputs["labels"]).sample(frac=1.0, random_state=seed, ignore_index=True)
    return labels, pd.Series(inputs["truth"]["label"], index=inputs["truth"]["task"])


def parted(labels: pd.DataFrame, first: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    return labels[labels["task"] < first], labels[labels["task"] >= first]


METHODS = ["labels.crowd", "labels.dawid-skene", "labels.one-coin-em", "rankone.pgd", "labels.majority"]


@pytest.mark.slow
@pytest.mark.parametrize("solver", METHODS)
def test_new_tasks_are_decided_nearly_as_well_as_if_they_had_been_learnt_from(solver: str) -> None:
    labels, truth = crowd()
    early, late = parted(labels, 250)
    answer = LabelAggregator(solver).fit(early).predict(late)
    assert list(answer.columns) == ["task", "label", "confidence", "tied", "confidence_valid"]
    assert answer["task"].tolist() == list(range(250, 400))
    whole = LabelAggregator(solver).fit(labels).predict().set_index("task")["label"][250:]
    error = (answer["label"].to_numpy() != truth[250:].to_numpy()).mean()
    assert error <= (whole.to_numpy() != truth[250:].to_numpy()).mean() + 0.04
    majority = LabelAggregator("labels.majority").fit_predict(late)["label"].to_numpy()
    if solver != "labels.majority":
        assert error < (majority != truth[250:].to_numpy()).mean() - 0.05


def test_posteriors_are_those_of_the_confusion_matrices_by_loops() -> None:
    labels, _ = crowd(60)
    early, late = parted(labels, 40)
    for solver in ("labels.dawid-skene", "labels.crowd"):
        model = LabelAggregator(solver).fit(early)
        learnt = model.result_.solution
        found = model.predict_proba(late).set_index("task")
        for task, rows in late.groupby("task"):
            score = np.zeros(3) if learnt.prior is None else np.log(learnt.prior)
            for worker, label in zip(rows["worker"], rows["label"], strict=True):
                score = score + np.log(learnt.confusion[learnt.worker_ids.tolist().index(worker), :, label])
            score = score / (1 + learnt.cooling * (len(rows) - 1))
            np.testing.assert_allclose(found.loc[task], np.exp(score) / np.exp(score).sum(), rtol=1e-9)


@pytest.mark.parametrize("solver", ["labels.dawid-skene", "labels.one-coin-em"])
def test_tasks_learnt_from_get_the_answer_that_they_had(solver: str) -> None:
    labels, _ = crowd(100)
    model = LabelAggregator(solver).fit(labels)
    pd.testing.assert_frame_equal(model.predict(labels), model.predict())


def test_a_new_worker_counts_as_the_average_one() -> None:
    labels, _ = crowd(300)
    new = pd.DataFrame({"task": ["x"], "worker": ["nobody knows"], "label": [2]})
    for solver in ("labels.crowd", "rankone.pgd"):
        model = LabelAggregator(solver).fit(labels)
        solution, count = model.result_.solution, model.skills_["labels"].to_numpy()
        confidence = model.predict(new)["confidence"][0]
        if solver == "rankone.pgd":
            accuracy = np.average(solution.accuracies, weights=count)
            assert confidence == pytest.approx(accuracy)
        else:
            average = np.einsum("j,jkl->kl", count / count.sum(), solution.confusion)
            row = solution.prior * average[:, 2]
            assert confidence == pytest.approx(row[2] / row.sum())


def test_predicting_learns_nothing_and_reads_the_new_labels_alone() -> None:
    labels, _ = crowd(200)
    early, late = parted(labels, 150)
    model = LabelAggregator().fit(early)
    before = model.predict()
    one = late[late["task"] == 160]
    whole = model.predict(late).set_index("task")
    assert model.predict(one)["confidence"][0] == whole.loc[160, "confidence"]
    pd.testing.assert_frame_equal(model.predict(), before)


def test_columns_policies_and_kinds_of_frames_are_those_of_the_fit() -> None:
    labels, _ = crowd(50)
    renamed = labels.rename(columns={"task": "question"})
    model = LabelAggregator(columns={"task": "question"}, duplicates="last").fit(renamed)
    twice = pl.DataFrame({"question": ["a", "a", "a"], "worker": [0, 0, 1], "label": [1, 2, 2]})
    answer = model.predict(twice)
    assert isinstance(answer, pl.DataFrame)
    assert answer["label"].to_list() == [2]


def test_workers_who_shared_a_vote_share_it_in_other_labels_too() -> None:
    tables = optiframe.dataset("synthetic.hostile-crowd", structure="copiers").inputs()
    early, late = parted(pd.DataFrame(tables["labels"]), 200)
    model = LabelAggregator(copies="share").fit(early)
    [note] = [each for each in model.findings_ if each.identifier == "labels.copies-share-a-vote"]
    named, others = set(note.about) & set(model.skills_["worker"]), set(note.about)
    one = late[~late["worker"].isin(others - named)]
    assert len(one) < len(late)
    pd.testing.assert_frame_equal(model.predict(late), model.predict(one))
    without_named = late[~late["worker"].isin(named)]  # the others vote under the name of who is not there
    pd.testing.assert_frame_equal(model.predict(without_named), model.predict(one))
    keeps = LabelAggregator(copies="keep").fit(early)
    truth = pd.DataFrame(tables["truth"])
    assert model.score(late, truth) == model.score(one, truth) > keeps.score(late, truth) + 0.2


def test_what_cannot_be_decided_is_refused() -> None:
    labels, _ = crowd(50)
    new = {"task": ["x"], "worker": [0], "label": [7]}
    with pytest.raises(InvalidInput, match="nothing has been learnt yet"):
        LabelAggregator().predict(new)
    model = LabelAggregator().fit(labels)
    with pytest.raises(
        InvalidInput, match=r"task x has a label that fit did not see \(7\); the classes are 0"
    ):
        model.predict(new)
    with pytest.raises(InvalidInput, match="worker 0 labels task x again"):
        model.predict({"task": ["x", "x"], "worker": [0, 0], "label": [1, 1]})


# Attributes


def test_confusion_matrices_and_class_shares_are_frames() -> None:
    labels, truth = crowd(300)
    model = LabelAggregator().fit(labels)
    confusion = model.confusion_
    assert isinstance(confusion, pd.DataFrame)
    assert list(confusion.columns) == ["worker", "class", "label", "probability"]
    assert len(confusion) == 10 * 3 * 3
    np.testing.assert_allclose(confusion.groupby(["worker", "class"])["probability"].sum(), 1.0)
    shares = model.class_shares_.set_index("class")["share"]
    np.testing.assert_allclose(shares, truth.value_counts(normalize=True).sort_index(), atol=0.1)
    with pytest.raises(AttributeError, match=r"rankone\.pgd has no confusion matrices; labels\.crowd,"):
        LabelAggregator("pgd").fit(labels).confusion_  # noqa: B018


# Known labels


def test_truth_and_gold_may_be_a_series_by_task_or_one_label_for_each_row() -> None:
    labels, truth = crowd(100)
    table = pd.DataFrame({"task": truth.index, "label": truth.to_numpy()})
    gold = table[:30]
    expected = LabelAggregator("rankone.pgd").fit(labels, table, gold=gold)
    rows = labels["task"].map(truth)
    for given in (truth, rows.to_numpy(), rows.tolist(), rows, pl.Series(rows.to_numpy())):
        model = LabelAggregator("rankone.pgd").fit(labels, given, gold=truth[:30])
        assert model.result_.metrics == expected.result_.metrics
        np.testing.assert_array_equal(model.skills_["skill"], expected.skills_["skill"])


def test_a_series_of_some_tasks_in_any_order_is_by_task() -> None:
    labels, truth = crowd(100)
    some = truth.sample(frac=0.5, random_state=1)
    model = LabelAggregator().fit(labels, some)
    table = {"task": some.index.to_numpy(), "label": some.to_numpy()}
    assert model.result_.metrics == LabelAggregator().fit(labels, table).result_.metrics


def test_an_array_that_is_not_one_label_a_row_is_refused() -> None:
    labels, truth = crowd(100)
    with pytest.raises(InvalidInput, match=r"truth: 100 labels for 400 rows; give one for each row"):
        LabelAggregator().fit(labels, truth.to_numpy())


def test_labels_for_rows_follow_the_column_names() -> None:
    labels, truth = crowd(60)
    renamed = labels.rename(columns={"task": "question", "label": "said"})
    model = LabelAggregator(columns={"task": "question", "label": "said"})
    model.fit(renamed, renamed["question"].map(truth).to_numpy())
    assert model.result_.metrics == LabelAggregator().fit(labels, truth).result_.metrics
    assert model.score(renamed, truth) > 0.7


# Scores


def test_the_score_is_the_share_of_right_answers_to_the_new_tasks() -> None:
    labels, truth = crowd()
    early, late = parted(labels, 250)
    model = LabelAggregator().fit(early)
    answer = model.predict(late)
    right = (answer["label"].to_numpy() == truth[250:].to_numpy()).mean()
    assert model.score(late, truth[250:]) == right
    assert model.score(late, late["task"].map(truth).to_numpy()) == right
    with pytest.raises(InvalidInput, match="score needs `truth`"):
        model.score(late)


def test_a_tie_counts_by_the_number_of_its_labels_and_an_unknown_class_as_wrong() -> None:
    labels = {"task": ["a", "a", "b", "b"], "worker": [1, 2, 1, 2], "label": ["x", "y", "x", "x"]}
    model = LabelAggregator("labels.majority").fit(labels)
    assert model.score(labels, {"task": ["a", "b"], "label": ["y", "x"]}) == 0.75
    assert model.score(labels, {"task": ["a", "b"], "label": ["z", "x"]}) == 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_scikit_learn_searches_over_solvers_with_tasks_kept_together() -> None:
    labels, truth = crowd(200)
    rows = labels["task"].map(truth)
    search = GridSearchCV(
        LabelAggregator(), {"solver": ["labels.majority", "labels.crowd"]}, cv=GroupKFold(4), refit=True
    ).fit(labels, rows, groups=labels["task"])
    assert search.best_params_ == {"solver": "labels.crowd"}
    assert search.best_score_ > search.cv_results_["mean_test_score"][0] + 0.05
    assert len(search.predict(labels)) == 200
    scores = cross_val_score(LabelAggregator("pgd"), labels, rows, groups=labels["task"], cv=GroupKFold(4))
    assert (scores > 0.6).all()
