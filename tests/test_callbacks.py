"""A library with a callback becomes a generator: nothing lost, nothing left behind."""

from __future__ import annotations

import contextvars
import threading
import time
import traceback
from collections.abc import Iterator

import numpy as np
import pytest

from optiframe.solving import callbacks
from optiframe.solving.callbacks import Emit, iterates_from_callback
from optiframe.solving.result import Status
from optiframe.solving.solver import Iterate


@pytest.fixture(autouse=True)
def _no_thread_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def counting(emit: Emit) -> tuple[Status, str]:
    for i in range(100):
        emit(Iterate(i))
    return Status.STALLED, "counted"


def drain(generator):
    seen = []
    while True:
        try:
            seen.append(next(generator).x)
        except StopIteration as end:
            return seen, end.value


def test_no_iterate_is_lost_and_the_order_is_kept():
    seen, _ = drain(iterates_from_callback(counting))
    assert seen == list(range(100))


def test_what_the_work_returns_is_what_the_generator_returns():
    _, value = drain(iterates_from_callback(counting))
    assert value == (Status.STALLED, "counted")


def test_work_without_a_return_value_ends_the_generator_plainly():
    assert drain(iterates_from_callback(lambda emit: emit(Iterate(1)))) == ([1], None)


def test_a_library_that_never_calls_back_yields_nothing():
    assert drain(iterates_from_callback(lambda emit: (Status.INFEASIBLE, "empty"))) == (
        [],
        (Status.INFEASIBLE, "empty"),
    )


def test_a_reused_array_stays_valid_until_the_generator_resumes():
    def work(emit):
        x = np.zeros(3)
        for _ in range(50):
            x += 1
            emit(Iterate(x))
        x[:] = -1

    sums = []
    for iterate in iterates_from_callback(work):
        time.sleep(0.0002)  # time in which a library running ahead would overwrite x
        sums.append(iterate.x.sum())
    assert sums == [3.0 * k for k in range(1, 51)]


def failing_library(callback):
    callback(1.0)
    raise ZeroDivisionError("no curvature along the step")


def test_an_exception_in_the_library_surfaces_with_its_own_traceback():
    generator = iterates_from_callback(lambda emit: failing_library(lambda x: emit(Iterate(x))))
    assert next(generator).x == 1.0
    with pytest.raises(ZeroDivisionError, match="no curvature along the step") as caught:
        next(generator)
    assert "failing_library" in "".join(traceback.format_tb(caught.value.__traceback__))


def test_a_system_exit_in_the_library_surfaces_too():
    def work(emit):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        next(iterates_from_callback(work))


def test_closing_early_unwinds_the_library_through_its_own_error_handling():
    cleaned = []

    def work(emit):
        try:
            i = 0
            while True:
                try:
                    emit(Iterate(i))
                except Exception:  # what a careless library does: must not stop the unwinding
                    cleaned.append("swallowed")
                i += 1
        finally:
            cleaned.append("finally")

    generator = iterates_from_callback(work)
    assert [next(generator).x for _ in range(3)] == [0, 1, 2]
    generator.close()
    assert cleaned == ["finally"]


def test_an_error_raised_by_the_library_while_it_is_being_closed_is_not_shown():
    def work(emit):
        try:
            emit(Iterate(0))
        except BaseException as error:
            raise RuntimeError("callback failed") from error

    generator = iterates_from_callback(work)
    next(generator)
    generator.close()


def test_a_forgotten_generator_ends_its_thread():
    generator = iterates_from_callback(counting)
    next(generator)
    del generator  # the autouse fixture sees whether the thread has gone


def test_an_exception_thrown_by_the_consumer_ends_the_thread():
    generator = iterates_from_callback(counting)
    next(generator)
    with pytest.raises(KeyboardInterrupt):
        generator.throw(KeyboardInterrupt)


@pytest.mark.parametrize("name", [None, "library.solve"])
def test_a_library_that_swallows_everything_is_named_in_a_warning(monkeypatch, name):
    monkeypatch.setattr(callbacks, "JOIN_SECONDS", 0.05)
    release = threading.Event()

    def stubborn_minimize(emit):
        while not release.is_set():
            try:
                emit(Iterate(0))
            except BaseException:
                time.sleep(0.001)

    generator = iterates_from_callback(stubborn_minimize, name=name)
    shown = name or "stubborn_minimize"
    next(generator)
    try:
        with pytest.warns(RuntimeWarning, match=rf"{shown} was told to stop and has not ended"):
            generator.close()
        (left,) = [t for t in threading.enumerate() if shown in t.name]
        assert left.daemon
    finally:
        release.set()
    left.join(5)


flavour: contextvars.ContextVar[str] = contextvars.ContextVar("flavour", default="plain")


def test_context_variables_and_numpys_error_state_reach_the_library():
    def work(emit):
        emit(Iterate((flavour.get(), np.geterr()["divide"])))

    token = flavour.set("salted")
    try:
        with np.errstate(divide="raise"):
            seen, _ = drain(iterates_from_callback(work))
    finally:
        flavour.reset(token)
    assert seen == [("salted", "raise")]


def test_nothing_starts_before_the_first_next():
    before = threading.active_count()
    generator = iterates_from_callback(counting)
    assert threading.active_count() == before
    generator.close()
