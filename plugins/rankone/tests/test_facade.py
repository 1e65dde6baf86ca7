"""`LabelAggregator`: labels of a frame in the manner of scikit-learn."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import optiframe_rankone
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from optiframe_rankone import LabelAggregator
from optiframe_rankone.batches import warm_start
from optiframe_rankone.datasets.single_coin import SingleCoin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import optiframe
from optiframe.errors import InvalidInput

TINY = {
    "task": ["a", "a", "a", "b", "b", "b", "c", "c"],
    "worker": ["ann", "bob", "cy", "ann", "bob", "cy", "ann", "bob"],
    "label": ["cat", "cat", "dog", "dog", "dog", "dog", "cat", "dog"],
}


def crowd(tasks: int = 400, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels and truth of 30 workers with text ids, in random order of rows."""
    data = SingleCoin(workers=30, tasks=tasks, labels_per_task=5, classes=3, skill_high=0.9, seed=seed)
    inputs = data.inputs()
    labels = pd.DataFrame(inputs["labels"]).sample(frac=1.0, random_state=seed, ignore_index=True)
    labels["worker"] = "w" + labels["worker"].astype(str)
    return labels, pd.DataFrame(inputs["truth"])


@pytest.mark.parametrize("solver", ["rankone.pgd", None])
def test_fit_gives_the_answer_of_solve(solver: str | None) -> None:
    labels, truth = crowd()
    model = LabelAggregator(solver, weights="binary", tau=1.5).fit(labels, truth)
    problem = optiframe.problem("label-aggregation", labels=labels, truth=truth, weights="binary", tau=1.5)
    result = optiframe.solve(problem, solver)
    np.testing.assert_array_equal(model.result_.solution.skills, result.solution.skills)
    assert model.result_.metrics == result.metrics
    assert model.findings_ == result.findings
    assert model.n_iter_ == result.iterations
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.skills_["worker"].tolist() == problem.labels.worker_ids.tolist()
    # Tables hold 15 digits.
    np.testing.assert_allclose(model.skills_["skill"], result.solution.skills, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_answers_come_in_the_kind_of_frame_given(kind: Any) -> None:
    model = LabelAggregator("labels.majority")
    frame = kind(TINY)
    for answer in (model.fit_predict(frame), model.predict_proba(), model.skills_):
        assert isinstance(answer, type(frame))


def test_columns_without_a_frame_come_back_as_columns() -> None:
    answer = LabelAggregator("labels.majority").fit_predict(TINY)
    assert answer["task"].tolist() == ["a", "b", "c"]
    assert answer["label"].tolist()[:2] == ["cat", "dog"]


def test_a_tie_is_drawn_with_the_seed_or_kept() -> None:
    drawn = {LabelAggregator("labels.majority", seed=s).fit_predict(TINY)["label"][2] for s in range(20)}
    assert drawn == {"cat", "dog"}
    kept = LabelAggregator("labels.majority", ties="keep").fit_predict(TINY)
    assert kept["label"].tolist() == ["cat", "dog", None]
    assert kept["tied"].tolist() == ["", "", "cat|dog"]


def test_probabilities_are_named_by_the_classes_and_sum_to_one() -> None:
    proba = LabelAggregator().fit(pd.DataFrame(TINY)).predict_proba()
    assert list(proba.columns) == ["task", "cat", "dog"]
    np.testing.assert_allclose(proba["cat"] + proba["dog"], 1.0)


def test_classes_that_cannot_name_columns_are_refused() -> None:
    model = LabelAggregator("labels.majority").fit({**TINY, "label": ["task", "b"] * 4})
    with pytest.raises(InvalidInput, match="use result_"):
        model.predict_proba()


def test_columns_can_be_mapped_in_every_batch() -> None:
    labels, truth = crowd(100)
    renamed = labels.rename(columns={"task": "question"})
    model = LabelAggregator(columns={"task": "question"})
    model.fit(renamed[:400], truth.rename(columns={"task": "question"})).partial_fit(renamed[400:])
    assert model.predict()["label"].equals(LabelAggregator().fit_predict(labels)["label"])
    assert set(model.result_.metrics) >= {"error"}


def test_gold_and_the_policy_for_duplicates_reach_the_problem() -> None:
    twice = {name: [*values, values[0]] for name, values in TINY.items()}
    with pytest.raises(InvalidInput, match="ann labels task a again"):
        LabelAggregator().fit(twice)
    model = LabelAggregator(duplicates="agreeing").fit(twice, gold={"task": ["c"], "label": ["dog"]})
    assert model.predict()["label"].tolist()[2] == "dog"


# Batches


def test_more_labels_give_the_answer_of_a_full_fit_in_fewer_iterations() -> None:
    labels, _ = crowd(800)
    full = LabelAggregator("rankone.pgd").fit(labels)
    model = LabelAggregator("rankone.pgd").fit(labels[:3600])
    model.partial_fit(labels[3600:])
    assert model.n_iter_ < full.n_iter_
    tolerance = 1e-4  # in units of skill: both runs stop within 1e-6 of a step, a few steps from the end
    np.testing.assert_allclose(model.skills_["skill"], full.skills_["skill"], atol=tolerance)
    assert model.predict()["label"].equals(full.predict()["label"])


@pytest.mark.parametrize("solver", ["rankone.pgd", "labels.one-coin-em", "labels.majority", "scipy.lbfgs"])
def test_every_kind_of_solver_takes_batches_with_new_workers_and_tasks(solver: str) -> None:
    labels, _ = crowd(150)
    late = labels["worker"].isin(["w3", "w11"]) | (labels["task"] > 120)
    model = LabelAggregator(solver).partial_fit(labels[~late])
    model.partial_fit(labels[late])
    full = LabelAggregator(solver).fit(labels)
    assert model.predict()["task"].tolist() == list(range(150))
    differs = model.predict()["label"].to_numpy() != full.predict()["label"].to_numpy()
    assert differs.sum() <= 1  # a task within the tolerance of a tie


@pytest.mark.parametrize("solver", ["labels.dawid-skene", "labels.one-coin-em", "labels.iwmv"])
def test_batches_do_not_change_where_em_ends(solver: str) -> None:
    labels, _ = crowd(60)
    model = LabelAggregator(solver).fit(labels[:150]).partial_fit(labels[150:])
    full = LabelAggregator(solver).fit(labels)
    np.testing.assert_array_equal(model.result_.solution.scores, full.result_.solution.scores)


def test_a_batch_that_joins_groups_starts_afresh() -> None:
    first = {"task": [1, 1, 1, 2, 2, 2], "worker": list("abcdef"), "label": [0, 0, 1, 1, 1, 0]}
    second = {"task": [3, 3, 4, 4], "worker": ["a", "d", "b", "e"], "label": [0, 1, 1, 0]}
    model = LabelAggregator("rankone.pgd").fit(first)
    joined = {name: first[name] + second[name] for name in first}
    problem = optiframe.problem("label-aggregation", labels=joined)
    assert warm_start(problem, model.result_) is None
    cold = optiframe.solve(problem, "rankone.pgd")
    assert model.partial_fit(second).n_iter_ == cold.iterations


def test_a_start_keeps_known_skills_and_puts_new_workers_half_way() -> None:
    labels, _ = crowd(200)
    late = labels["worker"] == "w7"
    model = LabelAggregator("rankone.pgd").fit(labels[~late])
    problem = optiframe.problem("label-aggregation", labels=labels)
    start = warm_start(problem, model.result_)
    assert start is not None
    by_worker = dict(zip(start.worker_ids, start.skills, strict=True))
    before = dict(zip(model.skills_["worker"], model.skills_["skill"], strict=True))
    assert by_worker.pop("w7") == 0.5
    lower, upper = problem.box
    assert all(
        by_worker[w] in (before[w], lower[i], upper[i]) for i, w in enumerate(start.worker_ids) if w != "w7"
    )


def test_batches_of_other_kinds_of_ids_are_joined() -> None:
    model = LabelAggregator("labels.majority").fit({"task": [1, 1], "worker": [1, 2], "label": [0, 1]})
    model.partial_fit({"task": ["x", "x"], "worker": [1, 2], "label": [0, 0]})
    assert set(model.predict()["task"].tolist()) == {1, "x"}


def test_truth_of_tasks_that_come_later_is_not_forgotten() -> None:
    labels, truth = crowd(60)
    early = labels["task"] < 30
    model = LabelAggregator().fit(labels[early], truth).partial_fit(labels[~early])
    assert model.result_.metrics == LabelAggregator().fit(labels, truth).result_.metrics


def test_a_repeated_pair_in_a_later_batch_is_named_and_nothing_is_lost() -> None:
    model = LabelAggregator("labels.majority").fit(TINY)
    before = model.result_
    with pytest.raises(InvalidInput, match=r"bob labels task c again.*after the 8 labels learnt before"):
        model.partial_fit({"task": ["c"], "worker": ["bob"], "label": ["cat"]})
    assert model.result_ is before


def test_the_last_of_repeated_labels_may_count_over_batches() -> None:
    model = LabelAggregator("labels.majority", duplicates="last", ties="keep").fit(TINY)
    model.partial_fit({"task": ["c"], "worker": ["bob"], "label": ["cat"]})
    assert model.predict()["label"].tolist() == ["cat", "dog", "cat"]


def test_policies_that_leave_rows_out_refuse_batches() -> None:
    model = LabelAggregator("labels.majority", duplicates="majority").fit(TINY)
    with pytest.raises(InvalidInput, match="partial_fit cannot go with duplicates = 'majority'"):
        model.partial_fit(TINY)


# Parameters


def test_wrong_parameters_are_reported_by_fit() -> None:
    for wrong, words in (
        ({"weights": "counts"}, "did you mean 'count'"),
        ({"ties": "sead"}, "did you mean 'seed'"),
    ):
        with pytest.raises(InvalidInput, match=words):
            LabelAggregator(**wrong).fit(TINY)


# Elsewhere


def test_a_fitted_model_can_be_pickled() -> None:
    labels, truth = crowd(100)
    model = LabelAggregator().fit(labels[:400], truth)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict().equals(model.predict())
    assert copy.partial_fit(labels[400:]).predict().equals(model.partial_fit(labels[400:]).predict())


@pytest.mark.slow
def test_threads_get_what_one_thread_gets() -> None:
    labels = [crowd(80, seed)[0] for seed in range(6)]
    alone = [LabelAggregator().fit(frame) for frame in labels]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda frame: LabelAggregator().fit(frame), labels))
        answers = list(pool.map(lambda _: alone[0].predict(), range(8)))
    for one, other in zip(alone, together, strict=True):
        assert one.predict().equals(other.predict())
    assert all(answer.equals(answers[0]) for answer in answers)


def test_it_may_end_a_pipeline() -> None:
    labels, _ = crowd(60)
    holes = pd.concat([labels, pd.DataFrame({"task": [1], "worker": [None], "label": [0]})])
    pipeline = make_pipeline(FunctionTransformer(lambda frame: frame.dropna()), LabelAggregator())
    answer = pipeline.fit_predict(holes.astype({"label": int, "task": int}))
    assert answer.equals(LabelAggregator().fit_predict(labels))


@pytest.mark.slow
def test_it_imports_nothing_of_scikit_learn_and_is_imported_on_use() -> None:
    code = (
        "import sys, optiframe_rankone\n"
        "assert 'numpy' not in sys.modules\n"
        "model = optiframe_rankone.LabelAggregator('labels.majority')\n"
        "model.fit({'task': [1, 1], 'worker': [1, 2], 'label': [0, 1]}).predict()\n"
        "assert 'sklearn' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", optiframe_rankone.__all__)
def test_every_exported_name_can_be_imported(name: str) -> None:
    assert getattr(optiframe_rankone, name) is not None
