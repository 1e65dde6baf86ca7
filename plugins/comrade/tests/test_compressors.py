"""Compressors: sizes to the byte, what they lose, and what they refuse to read."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optiframe_comrade.baselines.exact import Exact
from optiframe_comrade.messages import NEWTON_STEP, Broadcast
from optiframe_comrade.parts import packing as wire
from optiframe_comrade.parts.compressors import L1QSGD, QSGD, RandK, ScaledSign, TopK
from optiframe_comrade.parts.kinds import Compressor, Nothing
from optiframe_comrade.protocol.worker import Worker, WorkerConfig
from optiframe_comrade.solvers.comrade import Comrade
from optiframe_comrade.trust.contraction import definition_2

import optiframe
from optiframe import Budget, Minimize
from optiframe.errors import InvalidInput
from optiframe.problems.objectives.losses import Logistic
from optiframe.records.fields import Array

from .classification_twins import planted

ALL: list[Compressor] = [
    Nothing(),
    QSGD(),
    QSGD(levels=1),
    QSGD(levels=100),
    QSGD(norm="l2"),
    L1QSGD(levels=500),
    TopK(k=3),
    RandK(k=5),
    TopK(k=1000),
    ScaledSign(),
]
TIGHT: list[Compressor] = [
    QSGD(levels=4, norm="l2"),
    QSGD(levels=4),
    QSGD(levels=100, norm="l2"),
    L1QSGD(levels=8),
    RandK(k=7),
    TopK(k=7),
    ScaledSign(),
]


def title(each: Compressor) -> str:
    return f"{each.name}-{getattr(each, 'levels', '')}{getattr(each, 'k', '')}"


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def measured_rho(each: Compressor, vectors: list[Array], draws: int) -> float:
    """The least 1 - mean |Q(x) - x|^2/|x|^2 over some vectors: Definition 2's rho is at most about this."""
    generator = rng()
    least = np.inf
    for x in vectors:
        off = [each.decode(each.encode(x, generator), len(x)) - x for _ in range(draws)]
        least = min(least, 1 - np.mean([d @ d for d in off]) / (x @ x))
    return float(least)


def hard_vectors(size: int) -> list[Array]:
    """Vectors that are hard for one compressor or another: even, one spike, steeply falling, Gaussian."""
    even = rng().choice([-1.0, 1.0], size)
    return [even, np.eye(size)[size // 2], even / np.arange(1, size + 1), *rng().standard_normal((3, size))]


vectors = st.builds(
    lambda size, seed, scale: np.random.default_rng(seed).standard_normal(size) * scale,
    st.integers(1, 300),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 1e-310, 1e-150, 1.0, 1e150, 1e305]),
)


@pytest.mark.slow
@pytest.mark.parametrize("each", ALL, ids=title)
@given(x=vectors)
@settings(max_examples=25)
def test_a_payload_has_the_promised_size_and_decodes(each: Compressor, x: Array) -> None:
    payload = each.encode(x, rng())
    assert len(payload) == each.most_bytes(len(x))
    back = each.decode(payload, len(x))
    assert back.shape == x.shape
    assert back.dtype == np.float64
    assert np.isfinite(back).all()
    assert (np.sign(back) * np.sign(x) >= 0).all()
    if not x.any():
        assert not back.any()


@pytest.mark.parametrize(
    ("each", "size", "bytes_"),
    [
        (Nothing(), 123, 984),
        (QSGD(levels=127), 123, 8 + 123),
        (QSGD(levels=1), 123, 8 + 31),
        (QSGD(levels=7), 123, 8 + 62),
        (L1QSGD(levels=1023), 123, 8 + 170),
        (ScaledSign(), 123, 8 + 16),
        (TopK(k=10), 123, 9 + 80),
        (TopK(k=10), 100_000, 22 + 80),
        (RandK(k=60), 123, 16 + 480),
        (TopK(k=500), 123, 984),
    ],
    ids=str,
)
def test_sizes_on_the_wire(each: Compressor, size: int, bytes_: int) -> None:
    assert each.most_bytes(size) == bytes_
    assert len(each.encode(np.ones(size), rng())) == bytes_


@pytest.mark.slow
@pytest.mark.parametrize("each", [QSGD(), QSGD(norm="l2"), QSGD(levels=2), L1QSGD(levels=20)], ids=title)
def test_rounding_is_unbiased(each: Compressor) -> None:
    x, draws = np.linspace(-1, 2, 9), 1000
    generator = rng()
    got = np.array([each.decode(each.encode(x, generator), 9) for _ in range(draws)])
    error = got.std(axis=0) / np.sqrt(draws)
    assert (np.abs(got.mean(axis=0) - x) <= 5 * error + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("each", TIGHT, ids=title)
@pytest.mark.parametrize("size", [9, 400])
def test_definition_2_holds_with_the_stated_rho(each: Compressor, size: int) -> None:
    known = each.rho(size)
    assert known is not None
    measured = measured_rho(each, hard_vectors(size), draws=60)
    slack = 0.15 * (1 - known)  # of a mean over 60 draws
    assert measured >= known - slack


@pytest.mark.parametrize(
    ("each", "size"), [(QSGD(levels=4, norm="l2"), 400), (L1QSGD(levels=8), 100), (ScaledSign(), 50)]
)
def test_the_stated_rho_is_the_worst_case_itself(each: Compressor, size: int) -> None:
    worst = np.ones(size) if each.name != "compressor.sign" else np.eye(size)[0]
    measured = measured_rho(each, [worst], draws=200)
    known = each.rho(size)
    assert known is not None
    assert measured == pytest.approx(known, abs=0.1 * (1 - known))


def test_the_worst_case_of_the_largest_entry_is_one_among_equal_small_ones() -> None:
    each, size = QSGD(levels=3), 100
    part = 1 / (3 + np.sqrt(9 + size - 1))  # of the largest; levels times it is 3/(3 + sqrt(...))
    worst = np.full(size, part)
    worst[0] = 1.0
    measured = measured_rho(each, [worst], draws=400)
    assert measured == pytest.approx(each.rho(size), abs=0.03)


def test_one_level_breaks_definition_2_and_is_warned_about() -> None:
    assert QSGD(levels=1, norm="l2").rho(123) == pytest.approx(2 - np.sqrt(123))
    assert QSGD(levels=1).rho(9) == 0.0  # where d - 1 = 8 levels^2
    found = definition_2(QSGD(levels=1, norm="l2"), 123)
    assert found is not None
    assert found.level == "warning"
    assert "rho = -9.09 for 123 numbers, so Definition 2 fails" in found.text
    assert definition_2(QSGD(levels=127), 123) is None


@given(levels=st.integers(1, 2**20), size=st.integers(1, 10**9))
def test_levels_of_the_largest_entry_lose_no_more_at_worst_than_levels_of_the_norm(
    levels: int, size: int
) -> None:
    assert QSGD(levels=levels).rho(size) >= QSGD(levels=levels, norm="l2").rho(size) - 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("each", ALL, ids=title)
@given(data=st.data())
@settings(max_examples=40)
def test_whatever_arrives_decodes_to_finite_numbers_or_is_refused(
    each: Compressor, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, 40))
    good = each.encode(np.linspace(-1, 1, size), rng())
    payload = bytearray(good)
    for _ in range(data.draw(st.integers(0, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        payload = payload[: data.draw(st.integers(0, len(payload)))]
    try:
        back = each.decode(bytes(payload), size)
    except ValueError:
        return
    assert len(payload) == len(good)
    if each.encodes:  # what is not encoded is looked at by the coordinator
        assert np.isfinite(back).all()


@pytest.mark.parametrize(
    ("each", "payload", "said"),
    [
        (QSGD(), b"", "4 entries at 127 levels must have 12 bytes, got 0"),
        (QSGD(), wire.pack_scale(float("nan")) + bytes(4), "scale is nan"),
        (QSGD(), wire.pack_scale(-1.0) + bytes(4), "scale is -1"),
        (QSGD(), wire.pack_scale(1.0) + b"\xff" * 4, "level 128 is above the highest"),
        (QSGD(levels=1), wire.pack_scale(1.0) + b"\xff", "level 2 is above the highest"),
        (TopK(k=1), bytes([0b111]) + wire.pack_numbers(np.ones(1)), "3 places are marked; 1 were"),
        (TopK(k=1), bytes([0b11]) + wire.pack_numbers(np.array([np.inf])), "not finite"),
        (TopK(k=3), bytes([0b11]) + wire.pack_numbers(np.ones(3)), "2 places are marked; 3"),
        (ScaledSign(), wire.pack_scale(1.0) + b"\xf0", "fill the last byte"),
    ],
)
def test_malformed_payloads_are_refused_in_words(each: Compressor, payload: bytes, said: str) -> None:
    with pytest.raises(wire.MalformedPayload, match=said):
        each.decode(payload, 4)


def test_places_must_rise() -> None:
    with pytest.raises(wire.MalformedPayload, match="must be in increasing order"):
        wire.unpack_places(wire.pack(np.array([5, 5]), 7), 2, 100)
    with pytest.raises(wire.MalformedPayload, match="below 100"):
        wire.unpack_places(wire.pack(np.array([5, 101]), 7), 2, 100)


@given(st.integers(1, 31), st.integers(0, 300), st.integers(0, 2**32))
@settings(max_examples=40)
def test_packed_integers_come_back(bits: int, count: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 2**bits, count)
    payload = wire.pack(values, bits)
    assert len(payload) == wire.packed_size(count, bits)
    slow = sum(int(v) << (bits * i) for i, v in enumerate(values)).to_bytes(len(payload), "little")
    assert payload == slow
    np.testing.assert_array_equal(wire.unpack(payload, count, bits), values)


def test_what_is_not_finite_cannot_be_compressed() -> None:
    for each in ALL:
        if each.encodes:
            with pytest.raises(InvalidInput, match="not finite"):
                each.encode(np.array([1.0, np.nan]), rng())
    with pytest.raises(InvalidInput, match="overflows"):
        QSGD(norm="l2").encode(np.full(2, 1.7e308), rng())


def test_the_same_generator_gives_the_same_bytes() -> None:
    x = rng().standard_normal(50)
    for each in ALL:
        assert each.encode(x, rng()) == pickle.loads(pickle.dumps(each)).encode(x, rng())


@pytest.mark.parametrize("each", [TopK(k=2), ScaledSign(), QSGD(levels=16)], ids=title)
def test_error_feedback_sends_everything_in_the_end(each: Compressor) -> None:
    x, rounds = np.linspace(1, 2, 12), 200
    worker = Worker(0, planted(20, 12), WorkerConfig(compressor=each, error_feedback=True))
    asked = Broadcast(1, NEWTON_STEP, np.zeros(12))
    sent = sum(each.decode(worker.send(asked, x).payload, 12) for _ in range(rounds))
    # What was not sent is exactly what is owed, which stays bounded.
    np.testing.assert_allclose(sent + worker.owed[NEWTON_STEP], rounds * x)
    assert np.linalg.norm(worker.owed[NEWTON_STEP]) < 40 * np.linalg.norm(x)


@pytest.mark.filterwarnings("ignore::optiframe.solving.solve.NotConverged")  # so many rounds, no more
def test_a_run_warns_where_definition_2_fails_and_only_there() -> None:
    generator = rng()
    matrix = generator.standard_normal((1200, 20))
    target = np.where(matrix @ np.ones(20) + generator.standard_normal(1200) > 0, 1.0, -1.0)
    problem = Minimize(Logistic(matrix=matrix, target=target, l2=1e-2))
    for levels, said in ((1, True), (127, False)):
        solver = Comrade(workers=6, compressor=QSGD(levels=levels))
        result = optiframe.solve(problem, solver, budget=Budget(iterations=3))
        assert any("Definition 2 fails" in finding.text for finding in result.findings) == said


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.solving.solve.NotConverged")  # so many rounds, no more
def test_127_levels_send_a_seventh_of_the_bytes_for_nearly_the_same_gap() -> None:
    generator = rng()
    matrix = generator.standard_normal((3000, 123))
    target = np.where(matrix @ np.ones(123) / 8 + generator.standard_normal(3000) > 0, 1.0, -1.0)
    problem = Minimize(Logistic(matrix=matrix, target=target, l2=1e-2))
    budget = Budget(iterations=8, tolerance=0.0)
    least = optiframe.solve(problem, Exact()).objective
    plain = optiframe.solve(problem, Comrade(workers=4, filter="mean"), budget=budget)
    coded = optiframe.solve(problem, Comrade(workers=4, filter="mean", compressor=QSGD()), budget=budget)
    assert plain.trace["bytes_up"][-1] >= 7 * coded.trace["bytes_up"][-1]
    assert coded.trace["objective"][-1] - least <= 1.1 * (plain.trace["objective"][-1] - least)
