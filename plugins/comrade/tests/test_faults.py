"""Faults: what each sends, that the coordinator names it, and that it costs nothing but the worker."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest
from optiframe_comrade.backends.in_process import InProcess
from optiframe_comrade.messages import NEWTON_STEP, Broadcast, Fault, Reply
from optiframe_comrade.parts import faults
from optiframe_comrade.parts.compressors import L1QSGD, QSGD, RandK, ScaledSign, TopK
from optiframe_comrade.parts.kinds import Attack, Compressor, Nothing
from optiframe_comrade.protocol.reply_checks import open_reply
from optiframe_comrade.protocol.worker import WorkerConfig
from optiframe_comrade.solvers.comrade import Comrade

import optiframe
from optiframe import Minimize
from optiframe.problems.objectives.losses import Logistic

COMPRESSORS: list[Compressor] = [
    Nothing(),
    QSGD(),
    L1QSGD(levels=50),
    TopK(k=3),
    RandK(k=2),
    ScaledSign(),
]
# The fault, and what the coordinator calls it: of an array, of compressed bytes.
KINDS = [
    (faults.Crash(), "crashed", "crashed"),
    (faults.Hang(), "late", "late"),
    (faults.LateReply(), "late", "late"),
    (faults.Replay(start=1), "old-round", "old-round"),
    (faults.NotANumber(), "not-finite", "malformed"),
    (faults.Infinity(), "not-finite", "malformed"),
    (faults.WrongShape(), "wrong-shape", "malformed"),
    (faults.WrongType(), "wrong-type", "wrong-type"),
    (faults.HugeMessage(), "too-large", "too-large"),
    (faults.Malformed(), "wrong-type", "malformed"),
]


def problem() -> Minimize:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((1000, 9))
    target = np.where(rng.random(1000) < 1 / (1 + np.exp(-matrix @ np.ones(9))), 1.0, -1.0)
    return Minimize(Logistic(matrix=matrix, target=target, l2=1e-2))


def opened_replies(attack: Attack, compressor: Compressor, rounds: int = 1) -> Any:
    """What the coordinator makes of hostile worker 1's replies."""
    f = problem().function
    shards = [f.take(slice(at, None, 4)) for at in range(4)]  # type: ignore[attr-defined]
    workers = InProcess(shards, WorkerConfig(attack=attack, byzantine=(1,), trim=1, compressor=compressor))
    for number in range(1, rounds + 1):
        asked = Broadcast(number, NEWTON_STEP, np.zeros(9))
        replies = workers.ask(asked)
    return [r if isinstance(r, Fault) else open_reply(r, asked, compressor) for r in replies]


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=lambda c: c.name)
@pytest.mark.parametrize(("attack", "array", "coded"), KINDS, ids=lambda a: getattr(a, "name", ""))
def test_the_coordinator_names_the_fault_and_hears_the_others(
    attack: Attack, array: str, coded: str, compressor: Compressor
) -> None:
    opened = opened_replies(attack, compressor)
    assert isinstance(opened[1], Fault)
    assert opened[1].kind == (coded if compressor.encodes else array)
    assert opened[1].worker == 1
    for other in (0, 2, 3):
        assert isinstance(opened[other], np.ndarray)


@pytest.mark.parametrize("attack", [faults.LateReply(), faults.Replay()], ids=lambda a: a.name)
def test_old_answers_are_told_by_their_round(attack: Attack) -> None:
    opened = opened_replies(attack, Nothing(), rounds=3)
    assert opened[1].kind == "old-round"
    asked = "2" if isinstance(attack, faults.LateReply) else "1"
    assert opened[1].text == f"answers round {asked}, asked was round 3"


def test_a_fault_begins_in_its_round() -> None:
    assert isinstance(opened_replies(faults.Crash(start=3), Nothing(), rounds=2)[1], np.ndarray)
    assert opened_replies(faults.Crash(start=3), Nothing(), rounds=3)[1].kind == "crashed"


@pytest.mark.parametrize("compressor", [Nothing(), QSGD()], ids=lambda c: c.name)
def test_a_gigabyte_is_refused_without_being_there(compressor: Compressor) -> None:
    opened_replies(faults.HugeMessage(), compressor)  # what is imported on first use is not counted
    tracemalloc.start()
    fault = opened_replies(faults.HugeMessage(), compressor)[1]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"sent {2**30} bytes" in fault.text
    assert peak < 10e6


def test_a_claim_survives_the_way_to_another_process() -> None:
    claim = pickle.loads(pickle.dumps(faults.HugeMessage(size=10**9).tamper(Reply(0, 1, b"x"), situation())))
    assert len(claim.payload) == 10**9


def situation() -> Any:
    from optiframe_comrade.parts.kinds import Situation

    return Situation(0, 1, NEWTON_STEP, (0,), 1, None, np.zeros(9), np.random.default_rng(0))


@pytest.mark.parametrize("attack", [each for each, *_ in KINDS], ids=lambda a: a.name)
@pytest.mark.parametrize("compressor", [pytest.param("none", marks=pytest.mark.slow), "qsgd"])
@pytest.mark.filterwarnings("ignore::optiframe.solving.solve.NotConverged")  # so many rounds, no more
def test_a_run_with_faults_within_the_budget_ends_near_the_clean_one(attack: Attack, compressor: str) -> None:
    def run(**chosen: Any) -> Any:
        solver = Comrade(workers=10, compressor=compressor, **chosen)
        return optiframe.solve(problem(), solver, budget=optiframe.Budget(iterations=6))

    faulty = run(byzantine=0.2, attack=attack)
    assert faulty.objective < run().objective + 5e-3
    assert {fault.worker for fault in faulty.detail.faults} == {0, 1}
    left = faulty.detail.suspicion()
    assert left[:2].min() >= 5 / 6
    # An honest worker with unusual data may be left out as often; none is more often.
    assert left[:2].min() >= left[2:].max()
