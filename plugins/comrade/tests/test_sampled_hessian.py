"""Hessians of a sample of a worker's terms: gradients stay those of all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from optiframe_comrade.backends.flower import node, protocol
from optiframe_comrade.messages import NEWTON_STEP, STEP_WITH_GRADIENT, Broadcast
from optiframe_comrade.protocol.worker import Worker, WorkerConfig

import optiframe
from optiframe import Budget
from optiframe.problems.objectives.losses import Logistic
from optiframe.records.fields import Array

from .classification_twins import gradient_row_by_row, hessian_row_by_row, planted, problem

AT = np.array([0.2, -0.1, 0.3])


def asked(round: int = 1) -> Broadcast:
    return Broadcast(round, NEWTON_STEP, AT)


def sample_of(f: Logistic, number: int, seed: int, terms: int) -> Array:
    """Which terms the worker draws, in the order of the rows: its third stream of random numbers."""
    stream = np.random.SeedSequence(seed, spawn_key=(number,)).spawn(3)[2]
    return np.sort(np.random.default_rng(stream).choice(len(f), terms, replace=False))


def test_the_hessian_is_that_of_the_sample_and_the_gradient_that_of_all() -> None:
    f = planted(90, 3)
    chosen = f.take(sample_of(f, 4, 7, 30))
    expected = np.linalg.solve(hessian_row_by_row(chosen, AT), gradient_row_by_row(f, AT))
    worker = Worker(4, f, WorkerConfig(hessian_terms=30, seed=7))
    np.testing.assert_allclose(worker.compute(asked()), expected, rtol=1e-10)
    right = np.arange(3.0)
    given = worker.compute(Broadcast(1, STEP_WITH_GRADIENT, AT, {"gradient": right}))
    np.testing.assert_allclose(given, np.linalg.solve(hessian_row_by_row(chosen, AT), right), rtol=1e-10)


def test_as_many_terms_as_there_are_change_nothing() -> None:
    f = planted(90, 3)
    plain = Worker(0, f, WorkerConfig()).compute(asked())
    for terms in (90, 1000):
        np.testing.assert_array_equal(Worker(0, f, WorkerConfig(hessian_terms=terms)).compute(asked()), plain)


def test_the_sample_is_the_same_in_every_round_and_another_for_every_worker_and_seed() -> None:
    f = planted(90, 3)

    def step(number: int, seed: int, resumed: bool = False) -> tuple[float, ...]:
        worker = Worker(number, f, WorkerConfig(hessian_terms=30, seed=seed))
        if resumed:
            worker.resume(5, {})
        return tuple(worker.compute(asked()))

    assert step(0, 1) == step(0, 1, resumed=True)
    assert len({step(number, seed) for number in (0, 1) for seed in (1, 2)}) == 4


def test_a_flower_node_draws_the_same_sample(tmp_path: Path) -> None:
    f = planted(90, 3)
    node.save_rows(tmp_path / "rows.npz", f)
    work = protocol.Work(loss="logistic", l2=f.l2, seed=7, hessian_terms=30)
    values = protocol.write_broadcast(asked()) | protocol.write_work(work)
    settings = {"shard": str(tmp_path / "rows.npz"), "partition-id": 4}
    got = protocol.read_reply(4, asked(), node.answer(values, settings, {}))
    mine = Worker(4, f, WorkerConfig(hessian_terms=30, seed=7)).reply(asked())
    np.testing.assert_array_equal(got.payload, mine.payload)  # type: ignore[union-attr]  # no fault: it would say so


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize("method", ["newton.giant", "newton.polished"])
def test_averaged_gradients_still_end_at_the_minimum(method: str) -> None:
    on = problem(4000, 4)
    run = optiframe.solve(on, method, workers=10, hessian_terms=60, budget=Budget(iterations=60))
    least = optiframe.solve(on, "newton.exact").objective
    assert run.objective - least < 1e-8


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_fewer_than_five_terms_a_column_warn_as_little_data_do() -> None:
    on, short = problem(4000, 4), Budget(iterations=2)
    said = [
        each.text for each in optiframe.solve(on, "newton.comrade", hessian_terms=12, budget=short).findings
    ]
    assert any("takes its Hessian of 3 terms for each of the 4 columns" in text for text in said)
    enough = optiframe.solve(on, "newton.comrade", hessian_terms=40, budget=short)
    assert not any("columns" in each.text for each in enough.findings)
