"""Repeats, warm-up, counting and what goes over the wire: measured things are what they say."""

from __future__ import annotations

import io
import json
import math
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optiframe import Minimize, Projection, from_function
from optiframe.comparison.cells import Limits, Measure, Pickled, Request
from optiframe.comparison.plan.plan import make_plan
from optiframe.comparison.plan.requests import request_of
from optiframe.comparison.processes.memory import memory_of
from optiframe.comparison.records import Outcome
from optiframe.comparison.run.copies import Copies
from optiframe.comparison.run.isolation import run_isolated
from optiframe.comparison.run.repeats import is_another_wanted, narrow_enough, order_statistic_interval
from optiframe.comparison.run.wire import (
    Malformed,
    plain,
    read_reply,
    read_request,
    request_parts,
    write_reply,
)
from optiframe.errors import Unsuited
from optiframe.problems.objectives.losses import LeastSquares, Logistic
from optiframe.problems.objectives.objective import Objective, SquaredDistance
from optiframe.problems.sets.vector_sets import Box
from optiframe.solving.counting import counted
from optiframe.solving.result import Status

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

HERE = Path(__file__).parent


def ask(solver: str, measure: Measure, **how: Any) -> Outcome:
    parameters = how.pop("parameters", {})
    request = Request(
        key="cell",
        problem={"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}},
        solver={"name": solver, **parameters},
        seed=3,
        budget={"iterations": 100},
        limits=Limits(time=60.0),
        measure=measure,
        modules=(str(HERE / "misbehaving.py"),),
    )
    return run_isolated(replace(request, **how))


# ------------------------------------------------------------------ the interval of the median


@given(st.lists(st.floats(0.001, 10.0), min_size=1, max_size=40), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_is_the_narrowest_symmetric_one_that_a_binomial_count_allows(
    times: list[float], level: float
) -> None:
    ranked, n = sorted(times), len(times)
    misses = [2 * sum(math.comb(n, i) for i in range(k)) / 2**n for k in range(n // 2 + 1)]
    allowed = [k for k in range(1, n // 2 + 1) if misses[k] <= 1 - level]
    expected = (ranked[allowed[-1] - 1], ranked[n - allowed[-1]]) if allowed else None
    assert order_statistic_interval(times, level) == expected


def test_six_values_are_the_fewest_with_an_interval_and_it_covers_as_often_as_it_says() -> None:
    assert order_statistic_interval([1.0] * 5) is None
    assert order_statistic_interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]) == (1.0, 6.0)
    # Every way in which 10 values can lie below or above the median of their distribution.
    covered = 0
    for signs in product([-1.0, 1.0], repeat=10):
        interval = order_statistic_interval([sign * (1 + i) for i, sign in enumerate(signs)])
        assert interval is not None
        covered += interval[0] <= 0.0 <= interval[1]
    assert covered / 2**10 >= 0.95


@given(st.lists(st.floats(0.5, 2.0), min_size=6, max_size=30), st.floats(1e-3, 1e3))
def test_narrow_enough_does_not_depend_on_the_unit_of_time(times: list[float], unit: float) -> None:
    interval = order_statistic_interval(times)
    assert interval is not None
    width = (interval[1] - interval[0]) / median(times)
    if abs(width - 0.05) > 1e-9:  # on the edge rounding decides
        assert narrow_enough(times) == narrow_enough([unit * time for time in times]) == (width <= 0.05)


def test_repeats_end_at_the_number_asked_for_or_when_another_may_not_fit() -> None:
    assert is_another_wanted([], 1, costs=[], left=0.0)
    assert is_another_wanted([1.0], 3, costs=[1.0], left=9.0)
    assert not is_another_wanted([1.0] * 3, 3, costs=[1.0] * 3, left=9.0)
    assert not is_another_wanted([1.0], 3, costs=[1.0], left=1.1)


def test_auto_goes_on_until_the_interval_is_narrow_or_ten_seconds_or_a_hundred_are_over() -> None:
    def auto(times: list[float], left: float = 1e6) -> bool:
        return is_another_wanted(times, "auto", costs=times, left=left)

    assert auto([0.1] * 5)
    assert not auto([0.1] * 6)
    assert auto([0.05, 0.1] * 10)
    assert not auto([0.05, 0.1] * 50)
    assert not auto([1.0, 2.0] * 4)
    assert not auto([6.0])
    assert auto([0.1, 0.2], left=1.0)
    assert not auto([0.1, 0.2], left=0.3)


# ------------------------------------------------------------------ counting


def linear(rows: int = 20) -> LeastSquares:
    rng = np.random.default_rng(0)
    return LeastSquares(matrix=rng.standard_normal((rows, 3)), target=rng.standard_normal(rows), l2=0.1)


def test_the_stand_in_has_the_content_type_and_answers_of_the_original() -> None:
    problem = Minimize(linear(), over=Box(lower=0.0, upper=1.0))
    stand_in, counts = counted(problem)
    x, v = np.array([1.0, -2.0, 0.5]), np.ones(3)
    assert isinstance(stand_in, Minimize)
    assert isinstance(stand_in.function, LeastSquares)
    assert stand_in.fingerprint() == problem.fingerprint()
    assert stand_in.function.model_copy(update={"l2": 0.2}).fingerprint() != problem.function.fingerprint()
    assert stand_in.function.value(x) == problem.function.value(x)
    np.testing.assert_array_equal(stand_in.function.gradient(x), problem.function.gradient(x))
    np.testing.assert_array_equal(
        stand_in.function.hessian_product(x, v=v), problem.function.hessian_product(x, v)
    )
    assert stand_in.objective(x) == problem.objective(x)
    assert counts == {"value": 2, "gradient": 1, "hessian_product": 1}
    assert len(stand_in.function) == 20


def test_judging_by_the_original_is_not_counted() -> None:
    problem = Minimize(linear())
    _, counts = counted(problem)
    problem.objective(np.zeros(3))
    assert counts == {}


def test_a_part_of_the_terms_counts_as_that_part_of_a_pass() -> None:
    stand_in, counts = counted(Minimize(linear(20)))
    half = stand_in.function.take(slice(0, 10))
    half.gradient(np.zeros(3))
    half.take([0, 1, 2, 2]).value(np.zeros(3))
    assert counts["gradient"] == pytest.approx(10 / 20)
    assert counts["value"] == pytest.approx(4 / 20)


def test_a_model_over_some_columns_counts_in_full() -> None:
    stand_in, counts = counted(Minimize(linear(20)))
    reduced = stand_in.function.on_columns(np.array([2, 0]))
    assert reduced.offers(Objective.hessian_product)
    assert reduced.value(np.ones(2)) == linear(20).value(np.array([1.0, 0.0, 1.0]))
    reduced.take(slice(0, 10)).gradient(np.ones(2))
    assert counts == {"value": 1, "gradient": 0.5}


def test_what_a_method_calls_inside_is_not_counted_again() -> None:
    class Nested(SquaredDistance):
        def gradient(self, x: Any) -> Any:
            self.value(x)
            return super().gradient(x)

    stand_in, counts = counted(Minimize(Nested(to=[1.0])))
    stand_in.function.gradient(np.zeros(1))
    assert counts == {"gradient": 1}


@pytest.mark.parametrize(
    "make",
    [
        lambda: SquaredDistance(to=[1.0, 2.0]),
        lambda: Logistic(matrix=[[1.0, 2.0], [0.5, 1.0]], target=[1.0, -1.0]),
        lambda: from_function(np.sum, 2, gradient=np.ones_like),
        lambda: from_function(np.sum, 2),
    ],
)
def test_the_stand_in_offers_what_the_original_offers(make: Callable[[], Objective]) -> None:
    function = make()
    stand_in = counted(Minimize(function))[0].function  # type: ignore[attr-defined]  # a Minimize
    for operation in (Objective.gradient, Objective.hessian_product, Objective.hessian, Objective.curvature):
        assert stand_in.offers(operation) == function.offers(operation)
        if not function.offers(operation) and operation is Objective.hessian:
            with pytest.raises(Unsuited):
                stand_in.hessian(np.zeros(2))


def test_pickled_the_stand_in_is_the_original() -> None:
    problem = Minimize(linear())
    stand_in, counts = counted(problem)
    back = pickle.loads(pickle.dumps(stand_in))
    assert type(back.function) is LeastSquares
    assert back == problem
    back.function.value(np.zeros(3))
    assert counts == {}


def test_a_problem_without_an_objective_to_observe_comes_back_as_it_is() -> None:
    problem = Projection(point=[3.0], onto=Box(lower=0.0, upper=1.0))
    assert counted(problem) == (problem, {})


# ------------------------------------------------------------------ fresh copies


def test_a_fresh_copy_has_lost_its_caches_and_shares_its_data() -> None:
    problem = Minimize(linear())
    problem.function.curvature()
    copies = Copies(problem, dynamic=False)
    one, two = copies.fresh(), copies.fresh()
    assert one == two == problem
    assert "_largest_eigenvalue" in problem.function.__dict__
    assert "_largest_eigenvalue" not in one.function.__dict__
    assert np.shares_memory(one.function.matrix, problem.function.matrix)
    assert not one.function.matrix.flags.writeable


# ------------------------------------------------------------------ in the child


@pytest.fixture(scope="module")
def repeated() -> Outcome:
    return ask("mis.honest", Measure(repeat=4))


def test_evaluations_are_counted_in_the_first_solve_only(repeated: Outcome) -> None:
    assert repeated.evaluations == {"gradient": 3.0}


def test_as_many_times_as_asked_and_their_median(repeated: Outcome) -> None:
    assert len(repeated.times) == 4
    assert repeated.time == median(repeated.times)
    assert repeated.cpu > 0


def test_the_trace_is_that_of_the_first_solve(repeated: Outcome) -> None:
    assert repeated.trace["iteration"] == [1.0, 2.0, 3.0]
    assert repeated.trace["objective"][-1] == repeated.objective
    assert all(math.isnan(value) for value in repeated.trace["residual"])
    assert repeated.findings == ()


def test_neither_counted_nor_warmed_up_when_not_asked_to() -> None:
    outcome = ask("mis.fails-at-once", Measure(warmup=False, count=False))
    assert outcome.message == "OSError: the library is not there"  # and not "while warming up"
    assert math.isnan(outcome.warmup)
    assert outcome.evaluations == {}


def test_auto_repeats_a_short_solve_often_enough_for_an_interval() -> None:
    outcome = ask("mis.honest", Measure(repeat="auto"), parameters={"seconds": 0.01})
    assert len(outcome.times) >= 6
    assert order_statistic_interval(outcome.times) is not None


def test_a_seed_that_gives_different_answers_is_said_so() -> None:
    outcome = ask("mis.fickle", Measure(repeat=2))
    assert [finding["text"] for finding in outcome.findings] == [
        "the same seed gave different answers when the solve was repeated"
    ]


@pytest.mark.slow
def test_repeats_that_do_not_fit_are_left_out_and_said_so() -> None:
    # Nine of 2 s cannot fit into 12 s, however fast the process starts.
    outcome = ask(
        "mis.honest", Measure(repeat=9, warmup=False), parameters={"seconds": 2.0}, limits=Limits(time=12.0)
    )
    assert outcome.status is Status.FINISHED
    assert 1 <= len(outcome.times) < 6
    assert outcome.findings[-1]["text"].endswith("of 9 times: the hard limit was near")


def test_objects_made_in_python_travel_as_they_are() -> None:
    problem = Minimize(from_function(lambda x: ((x - 1) ** 2).sum(), 2, lambda x: 2 * (x - 1)))
    objects = {"problem": Pickled(cloudpickle.dumps(problem))}
    outcome = ask("mis.honest", Measure(repeat=2), problem=None, objects=objects)
    assert outcome.status is Status.FINISHED
    assert outcome.objective == 0.0
    assert len(outcome.times) == 2


def test_objects_larger_than_a_pipe_arrive_whole() -> None:
    centre = np.full(2_000_000, 2.0)
    objects = {"problem": Pickled(cloudpickle.dumps(Minimize(SquaredDistance(to=centre))))}
    outcome = ask("mis.honest", Measure(), problem=None, objects=objects)
    assert outcome.objective == pytest.approx(4_000_000 / 64)
    assert outcome.memory > centre.nbytes


# ------------------------------------------------------------------ the wire

numbers = st.floats() | st.just(math.nan) | st.just(math.inf)
seconds = st.floats(0, 1e9) | st.just(math.nan)


@settings(max_examples=20)
@given(
    st.builds(
        Outcome,
        status=st.sampled_from([status for status in Status if status is not Status.CANCELLED]),
        message=st.text(max_size=20),
        objective=numbers,
        violation=numbers,
        metrics=st.dictionaries(st.text(max_size=5), numbers, max_size=3),
        iterations=st.integers(0, 2**40),
        time=seconds,
        times=st.lists(st.floats(0, 1e9), max_size=3).map(tuple),
        memory=seconds,
        trace=st.integers(0, 3).flatmap(
            lambda n: st.dictionaries(
                st.text(max_size=5), st.lists(numbers, min_size=n, max_size=n), max_size=3
            )
        ),
        findings=st.just(({"level": "note", "text": "fine", "about": ["w1", 2]},)),
        better=st.just({"error": "lower"}),
    )
)
def test_an_outcome_comes_back_as_it_left(tmp_path_factory: pytest.TempPathFactory, outcome: Outcome) -> None:
    folder = tmp_path_factory.mktemp("reply")
    write_reply(outcome, folder)
    assert repr(read_reply(folder, math.inf)) == repr(outcome)  # as text, in which nan equals nan


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "splendid"}, "status"),
        ({"message": None}, "message"),
        ({"time": -1.0}, "time is -1.0"),
        ({"cpu": math.inf}, "cpu is inf"),
        ({"times": [math.nan]}, "a negative time"),
        ({"iterations": -1}, "a negative time or number of iterations"),
        ({"iterations": 2.5}, "iterations"),
        ({"iterations": 2**63}, "it counts 9.22e18 iterations"),
        ({"status": "cancelled"}, "only who started the cell can cancel it"),
        ({"trace": {"time": [1.0], "objective": []}}, "differ in length"),
        ({"trace": {"time": "long"}}, "trace.time"),
        ({"metrics": {"error": "low"}}, "metrics.error"),
        ({"better": {"error": "greener"}}, "better.error"),
        ({"findings": 3}, "findings"),
    ],
)
def test_a_malformed_reply_says_what_is_wrong(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    write_reply(Outcome(Status.FINISHED, "well"), tmp_path)
    reply = tmp_path / "outcome.json"
    reply.write_text(json.dumps(json.loads(reply.read_text()) | change))
    with pytest.raises(Malformed, match=words):
        read_reply(tmp_path, 60.0)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_what_is_not_json_is_malformed(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_bytes(content)
    with pytest.raises(Malformed, match=r"its reply is not an outcome: \w"):
        read_reply(tmp_path, 60.0)


def test_no_reply_is_none(tmp_path: Path) -> None:
    assert read_reply(tmp_path, 60.0) is None


def test_a_text_too_long_to_keep_loses_its_middle(tmp_path: Path) -> None:
    write_reply(Outcome(Status.ERROR, "begin" + "x" * 10**6 + "end"), tmp_path)
    outcome = read_reply(tmp_path, 60.0)
    assert outcome is not None
    assert outcome.message.startswith("begin")
    assert outcome.message.endswith("end")
    assert len(outcome.message) < 10**5


def test_half_characters_cost_no_reply(tmp_path: Path) -> None:
    found = {"level": "note", "text": "of \udcff", "about": ["w\udcff"]}
    sent = Outcome(Status.FINISHED, "well \ud800 ü \U0001f600", metrics={"\udcff": 1.0}, findings=(found,))
    outcome = read_reply_of(sent, tmp_path)
    assert outcome.message == "well ? ü \U0001f600"
    assert outcome.metrics == {"?": 1.0}
    assert outcome.findings == ({"level": "note", "text": "of ?", "about": ["w?"]},)


def test_findings_are_kept_short(tmp_path: Path) -> None:
    long = {"level": "warning", "text": "x" * 10**7, "about": list(range(10**5))}
    outcome = read_reply_of(
        Outcome(Status.FINISHED, "well", findings=(long,) * 2 + (short(),) * 2000), tmp_path
    )
    assert len(outcome.findings[0]["text"]) < 5000
    assert outcome.findings[0]["about"][-1] == "... 99000 more"
    assert outcome.findings[2] == short()
    assert outcome.findings[-1]["text"] == "1002 more findings are left out"
    assert (tmp_path / "outcome.json").stat().st_size < 200_000


def short() -> dict[str, Any]:
    return {"level": "note", "text": "fine", "about": []}


def read_reply_of(outcome: Outcome, folder: Path) -> Outcome:
    write_reply(outcome, folder)
    received = read_reply(folder, 60.0)
    assert received is not None
    return received


def test_values_of_a_finding_become_plain() -> None:
    about = (np.int64(3), np.str_("w"), ("a", 1.5), {1: None}, np.array([1, 2]), True)
    assert plain(about) == [3, "w", ["a", 1.5], {"1": None}, [1, 2], True]


def test_a_request_says_only_plain_data(tmp_path: Path) -> None:
    sent = {"problem": Pickled(b"\n\n", (b"123",))}
    request = Request("k", {"name": "p"}, {"name": "s"}, 0, {}, Limits(), Measure(), objects=sent)
    line, *objects = map(bytes, request_parts(request, tmp_path, 1.0))
    assert json.loads(line)["objects"] == {"problem": [2, 3]}
    assert objects == [b"\n\n", b"123"]


def test_large_arrays_of_a_problem_travel_without_a_copy_of_them_here(tmp_path: Path) -> None:
    centre = np.full(4_000_000, 2.0)
    plan = make_plan(Minimize(SquaredDistance(to=centre)), "scipy.lbfgs")
    tracemalloc.start()
    try:
        request = request_of(plan, plan.cells[0])
        parts = request_parts(request, tmp_path, 1.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < centre.nbytes / 8
    received, *_ = read_request(io.BytesIO(b"".join(parts)))
    sent = received.objects["problem"]
    problem = pickle.loads(sent.content, buffers=sent.buffers)
    assert problem == plan.cells[0].problem.thing


def test_a_child_holds_the_arrays_of_its_problem_once() -> None:
    peaks = []
    for size in (1000, 8_000_000):
        plan = make_plan(
            Minimize(SquaredDistance(to=np.ones(size))), "labels.majority"
        )  # unsuited: none is made
        request = replace(request_of(plan, plan.cells[0]), solver={"name": "mis.unsuited"})
        outcome = run_isolated(replace(request, modules=(str(HERE / "misbehaving.py"),)))
        peaks.append(outcome.memory)
    # Once, not twice; a little less than 64 MB where the small child peaked elsewhere.
    assert 0.9 * 64e6 < peaks[1] - peaks[0] < 1.5 * 64e6


def test_memory_of_this_process_is_known() -> None:
    memory = memory_of("self")
    assert memory["VmHWM"] >= memory["VmRSS"] * 0.9 > 1e6  # the kernel updates the peak now and then
    assert memory_of(2**22 + 1) == {}
