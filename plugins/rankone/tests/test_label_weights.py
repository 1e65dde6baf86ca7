"""Labels with weights: each counts as many times as its weight says."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from optiframe_rankone import LabelAggregator, accuracy_by_labels, bootstrap_errors, count_labels, suggest
from optiframe_rankone.data import LabelTable
from optiframe_rankone.problem import LabelAggregation
from optiframe_rankone.solvers.crowd import MEMBERS
from optiframe_rankone.solvers.pooled_em import Fit

import optiframe
from optiframe import InvalidInput, Unsuited
from optiframe.files.solve_file import SolveFile
from optiframe.registry.registry import registry
from optiframe.solving.chain import why_unsuited

from .slow import quietly, said, single_coin, texts

SKILLS = np.array([0.8, 0.6, 0.7, 0.3, 0.1, -0.2])
WEIGHTED = [
    "labels.majority",
    "labels.crowd",
    "labels.dawid-skene",
    "labels.one-coin-em",
    "labels.iwmv",
    "labels.glad",
    "labels.ebcc",
    "labels.oracle",
]


def labels_with(weight: Any, classes: int = 3, tasks: int = 60) -> dict[str, Any]:
    """Inputs of the problem, labels in order of tasks and workers, with these weights where there are any."""
    inputs = single_coin(3, SKILLS, tasks=tasks, per_task=4, classes=classes)
    inputs["skills"] = {"worker": np.arange(6), "skill": SKILLS}
    frame = pd.DataFrame(inputs["labels"]).sort_values(["task", "worker"], ignore_index=True)
    if weight is not None:
        frame["weight"] = weight
    return {**inputs, "labels": frame}


def whole_weights(rows: int = 240) -> np.ndarray:
    return np.random.default_rng(5).integers(1, 4, rows).astype(np.float64)


def repeated(labels: LabelTable) -> LabelTable:
    """The labels, each as many times as its weight says; tables that are read have no such rows."""
    assert labels.weight is not None
    rows = np.repeat(np.arange(len(labels)), labels.weight.astype(int))
    codes = {name: getattr(labels, name)[rows] for name in ("task", "worker", "label")}
    return replace(labels, **codes, weight=None)


@pytest.mark.parametrize("solver", [name for name in WEIGHTED if name != "labels.crowd"])
def test_a_label_of_weight_two_is_the_label_twice(solver: str) -> None:
    problem = LabelAggregation(**labels_with(whole_weights()))
    again = problem.model_copy(update={"labels": repeated(problem.labels), "columns": {}})
    # Without the findings, which count pairs of workers.
    method = optiframe.solver(solver)
    one, other = (_tenth(method, data) for data in (problem, again))
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-6, atol=1e-6)
    if one.skills is not None:
        np.testing.assert_allclose(one.skills, other.skills, rtol=1e-6, atol=1e-6)


def _tenth(method: Any, problem: LabelAggregation) -> Any:
    run: Any = SimpleNamespace(start=None, rng=np.random.default_rng(0))
    return [each.x for each in islice(method.iterates(problem, run), 10)][-1]


def test_so_it_is_in_the_default_where_a_label_confirms_itself() -> None:
    problem = LabelAggregation(**labels_with(whole_weights()))
    again = problem.model_copy(update={"labels": repeated(problem.labels), "columns": {}})
    one, other = (Fit(MEMBERS[1], each.crowd) for each in (problem, again))
    for _ in range(5):
        assert one.step() == pytest.approx(other.step(), abs=1e-10)
    np.testing.assert_allclose(one.posterior, other.posterior, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("solver", WEIGHTED)
def test_weights_of_one_change_nothing(solver: str) -> None:
    one, other = (
        quietly(LabelAggregation(**labels_with(weight)), solver, iterations=20).solution
        for weight in (None, np.ones(240))
    )
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-8)


@pytest.mark.parametrize("solver", WEIGHTED)
def test_weights_decide(solver: str) -> None:
    # The first worker of each task, who alone is sure, says 0 throughout.
    inputs = labels_with(None, classes=2)
    first = ~inputs["labels"].duplicated("task").to_numpy()
    inputs["labels"].loc[first, "label"] = 0
    inputs["labels"]["weight"] = np.where(first, 40.0, 0.01)
    inputs["skills"]["skill"] = np.full(6, 0.5)
    assert (quietly(LabelAggregation(**inputs), solver).solution.predicted() == 0).all()


def test_every_solver_counts_weights_or_says_that_it_cannot() -> None:
    problem = LabelAggregation(**labels_with(np.full(240, 2.0)))
    taking = []
    for entry in registry().entries("solver"):
        if entry.name.partition(".")[0] in ("labels", "rankone", "crowdkit"):
            reason = why_unsuited(problem, registry().get("solver", entry.name)())
            assert reason is None or "its labels have weights" in reason
            taking += [entry.name] if reason is None else []
    assert sorted(taking) == sorted(WEIGHTED)
    with pytest.raises(Unsuited, match=r"counts each label once; labels\.crowd"):
        optiframe.solve(problem, "rankone.pgd")


def test_the_recommended_solver_takes_weights() -> None:
    result = optiframe.solve(LabelAggregation(**labels_with(whole_weights())), progress=False)
    assert result.settings["solver"]["name"] == "labels.crowd"
    assert said(result, "each label counts as many times as its weight says, from 1 to 3").level == "note"


def test_a_label_of_weight_zero_is_not_there() -> None:
    weight = whole_weights()
    weight[::7] = 0
    weight[:4] = 0  # all of the first task
    inputs = labels_with(weight)
    problem = LabelAggregation(**inputs)
    kept = inputs["labels"][weight > 0]
    assert problem.fingerprint() == LabelAggregation(**{**inputs, "labels": kept}).fingerprint()
    result = quietly(problem, "labels.majority")
    assert f"; {(weight == 0).sum()} labels of weight 0 left out" in texts(result)
    assert said(result, "1 task without any label left").about == (0,)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1, 1], "row 1: the weight is -1; it says how many times the label counts, 0 or between"),
        ([1, 1e12, 1], "row 1: the weight is 1e[+]12; it says"),
        ([1, np.inf, 1], "row 1: the weight is inf; it must be a finite number"),
        (
            [1, None, "much"],
            "row 1: the weight is empty; it must be a finite number .2 such rows",
        ),
        ([0, 0, 0], "every weight is 0"),
    ],
)
def test_wrong_weights_are_refused_with_their_rows(weight: list[Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        LabelAggregation(
            labels={"task": [1, 1, 2], "worker": [1, 2, 1], "label": ["x", "y", "x"], "weight": weight}
        )


def test_weights_come_with_the_rows_in_any_order_and_of_those_that_count() -> None:
    inputs = labels_with(whole_weights())
    whole = LabelAggregation(**inputs).labels
    mixed = inputs["labels"].sample(frac=1.0, random_state=1)
    np.testing.assert_array_equal(LabelAggregation(**{**inputs, "labels": mixed}).labels.weight, whole.weight)
    more = pd.concat([mixed, mixed.assign(weight=0.5)])
    first = LabelAggregation(**{**inputs, "labels": more}, duplicates="first").labels
    np.testing.assert_array_equal(first.weight, whole.weight)


def test_files_and_mapped_columns_have_weights(tmp_path: Path) -> None:
    inputs = labels_with(np.round(np.random.default_rng(1).uniform(0.5, 1, 240), 3))
    direct = LabelAggregation(labels=inputs["labels"])
    inputs["labels"].rename(columns={"weight": "sure"}).to_csv(tmp_path / "labels.csv", index=False)
    path, mapping = str(tmp_path / "labels.csv"), {"weight": "sure"}
    file = tmp_path / "solve.toml"
    file.write_text(
        f'[problem]\nname = "label-aggregation"\nlabels = {json.dumps(path)}\n'
        'columns = { weight = "sure" }\n[solver]\nname = "labels.majority"\n'
    )
    assert SolveFile.read(file).problem.fingerprint() != LabelAggregation(labels=path).fingerprint()
    np.testing.assert_array_equal(SolveFile.read(file).problem.labels.weight, direct.labels.weight)
    model = LabelAggregator("majority", columns=mapping).fit(path)
    expected = LabelAggregator("majority").fit(inputs["labels"])
    np.testing.assert_allclose(model.predict_proba()["0"], expected.predict_proba()["0"])
    assert LabelAggregator("majority", columns={"weight": ""}).fit(inputs["labels"]).n_iter_ == 1
    assert "nothing reads the column 'sure'" in texts(
        quietly(LabelAggregation(labels=path), "labels.majority")
    )


@pytest.mark.slow
@pytest.mark.parametrize("later", [None, 2.0])
def test_a_further_batch_brings_its_weights(later: float | None) -> None:
    frame = labels_with(whole_weights())["labels"]
    first, second = frame[:100], frame[100:].drop(columns="weight")
    if later is not None:
        second = second.assign(weight=later)
    whole = LabelAggregator("crowd").fit(pd.concat([first, second.assign(weight=later or 1.0)]))
    model = LabelAggregator("crowd").fit(first).partial_fit(second)
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())
    model = LabelAggregator("crowd", duplicates="first").fit(first)
    again = first[-1:] if later else first[-1:].drop(columns="weight")
    model.partial_fit(pd.concat([again, second]))
    np.testing.assert_array_equal(model.predict_proba(), whole.predict_proba())


@pytest.mark.parametrize("solver", ["majority", "crowd", "one-coin-em"])
def test_new_tasks_are_decided_with_their_weights(solver: str) -> None:
    model = LabelAggregator(solver).fit(labels_with(None)["labels"])
    new = pd.DataFrame({"task": [9] * 3, "worker": [2, 0, 1], "label": [1, 2, 2], "weight": [30.0, 1.0, 0.5]})
    assert model.predict(new)["label"].tolist() == [1]
    assert model.predict(new.drop(columns="weight"))["label"].tolist() == [2]


def test_copies_share_a_vote_of_their_mean_weight() -> None:
    rng = np.random.default_rng(0)
    truth, noise = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    honest = [np.where(rng.random(200) < 0.85, truth, 1 - truth) for _ in range(9)]
    said = np.array([*honest, noise, noise])
    frame = pd.DataFrame(
        {
            "task": np.tile(np.arange(200), 11),
            "worker": np.repeat(np.arange(11), 200),
            "label": said.ravel(),
            "weight": np.repeat([*np.ones(9), 2.0, 3.0], 200),
        }
    )
    labels = LabelAggregation(labels=frame, copies="share").labels
    assert len(labels.worker_ids) == 10
    assert labels.weight is not None
    np.testing.assert_allclose(labels.weight[labels.worker == 9], 2.5)


def test_streamed_labels_have_no_weights(tmp_path: Path) -> None:
    labels_with(whole_weights())["labels"].to_parquet(tmp_path / "labels.parquet")
    with pytest.raises(InvalidInput, match="the column 'weight' has weights of labels"):
        count_labels(tmp_path / "labels.parquet")
    assert len(count_labels(tmp_path / "labels.parquet", columns={"weight": ""})) == 240


def test_tools_take_labels_with_weights() -> None:
    problem = LabelAggregation(**labels_with(whole_weights()))
    result = quietly(problem, "labels.dawid-skene")
    assert np.isfinite(bootstrap_errors(problem, "labels.one-coin-em", draws=3, seed=1)).any()
    heavy = LabelAggregation(**labels_with(np.full(240, 3.0)))
    once = LabelAggregation(**labels_with(None))
    one, other = (accuracy_by_labels(each, ["labels.majority"], repeats=2) for each in (heavy, once))
    np.testing.assert_array_equal(one["accuracy"], other["accuracy"])
    assert len(suggest(problem, result, 3)["task"]) == 3
    assert {"skill_low", "skill_high"} <= set(result.to_tables()["workers"])
