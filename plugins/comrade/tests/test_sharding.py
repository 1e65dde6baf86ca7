"""Sharding the terms: at random, or in order without a copy; and what an order does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from optiframe_comrade.local.per_sample import mean_of
from optiframe_comrade.protocol.sharding import make_shards, split, visible_order

import optiframe
from optiframe import Budget, Minimize
from optiframe.problems.objectives.losses import LinearModel, Logistic
from optiframe.problems.objectives.objective import FiniteSum
from optiframe.records.fields import Array

from .classification_twins import planted
from .test_local_step import by_hand


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def model_of(shard: FiniteSum) -> LinearModel:
    assert isinstance(shard, LinearModel)
    return shard


def sorted_by(f: Logistic, key: Array) -> Logistic:
    order = np.argsort(key, kind="stable")
    return Logistic(matrix=np.asarray(f.matrix)[order], target=f.target[order], l2=f.l2)


def test_at_random_the_terms_are_those_of_split() -> None:
    f = planted(70, 3)
    for shard, terms in zip(make_shards(f, 4, "random", rng()), split(70, 4, rng()), strict=True):
        np.testing.assert_array_equal(model_of(shard).matrix, np.asarray(f.matrix)[terms])
        np.testing.assert_array_equal(model_of(shard).target, f.target[terms])


@pytest.mark.parametrize("kind", ["dense", "by columns", "sparse", "a loss of the user's"])
def test_in_order_every_term_is_dealt_once_and_evenly(kind: str) -> None:
    f = planted(70, 3)
    forms = {"sparse": sp.csr_array, "by columns": np.asfortranarray}
    matrix = forms.get(kind, np.asarray)(f.matrix)
    of = mean_of(by_hand, f.matrix, f.target) if "user" in kind else Logistic(matrix=matrix, target=f.target)
    shards = make_shards(of, 4, "in-order", rng())
    assert sorted(len(shard) for shard in shards) == [17, 17, 18, 18]
    together = np.mean([len(shard) * shard.gradient(np.ones(3)) for shard in shards], axis=0) / 17.5
    np.testing.assert_allclose(together, of.gradient(np.ones(3)), rtol=1e-12)
    if kind == "dense":  # views: no time, no memory
        assert all(np.shares_memory(model_of(shard).matrix, f.matrix) for shard in shards)


def test_an_order_of_labels_or_features_is_seen_and_none_is_not() -> None:
    f = planted(4000, 5)
    features = np.array(f.matrix)
    assert visible_order(f, 20) is None
    assert visible_order(sorted_by(f, f.target), 20) == "the labels change"
    plain = Logistic(matrix=features, target=np.resize([1.0, -1.0], 4000))
    assert visible_order(plain, 20) is None
    assert visible_order(sorted_by(plain, features[:, 2]), 20) == "column 2 changes"
    by_column = sorted_by(plain, features[:, 3])
    sparse = Logistic(matrix=sp.csr_array(by_column.matrix), target=by_column.target)
    assert visible_order(sparse, 20) == "column 3 changes"


def test_constant_and_rare_features_and_few_rows_look_like_no_order() -> None:
    features = np.zeros((4000, 3))
    features[:, 0] = 0.1  # its mean is rounded differently in each block
    features[100:105, 1] = 1.0  # five rows, all with one worker
    target = np.resize([1.0, -1.0], 4000)
    assert visible_order(Logistic(matrix=features, target=target), 20) is None
    few = planted(20 * 49, 2)
    assert visible_order(sorted_by(few, few.target), 20) is None
    f = planted(2000, 3)
    assert visible_order(mean_of(by_hand, f.matrix, f.target), 20) is None


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "columns"), [(2, 100), (20, 2000)])
def test_few_unordered_rows_of_many_columns_look_like_no_order(workers: int, columns: int) -> None:
    rows = 50 * workers  # of the least number that is looked at
    for seed in range(10):
        draws = np.random.default_rng(seed)
        features, target = draws.standard_normal((rows, columns)), np.resize([1.0, -1.0], rows)
        assert visible_order(Logistic(matrix=features, target=target), workers) is None
        order = np.argsort(features[:, 7])
        assert visible_order(Logistic(matrix=features[order], target=target), workers) == "column 7 changes"


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_sharding_in_order_is_as_good_on_unordered_rows_and_warns_on_ordered_ones() -> None:
    f = planted(8000, 4)

    def gap(on: Logistic, sharding: str) -> tuple[float, str]:
        ended = Budget(iterations=8, tolerance=0.0)
        run = optiframe.solve(Minimize(on), "newton.comrade", sharding=sharding, filter="mean", budget=ended)
        least = optiframe.solve(Minimize(on), "newton.exact").objective
        return on.value(run.detail.points[-1]) - least, " ".join(one.text for one in run.findings)

    mixed, said = gap(f, "in-order")
    assert mixed < 1e-4
    assert "in order" not in said
    ordered = sorted_by(f, np.asarray(f.matrix)[:, 0])
    apart, said = gap(ordered, "in-order")
    assert apart > 10 * mixed
    assert "honest workers look hostile" in said
    random, said = gap(ordered, "random")
    assert random < 1e-4
    assert "in order" not in said
