"""Answers travel as data: what a cell writes is read whole, and what is no data is refused."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import subprocess
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import optiframe as of
from optiframe.comparison.cells import Pickled
from optiframe.comparison.plan.plan import make_plan
from optiframe.comparison.plan.requests import request_of
from optiframe.comparison.run.answers import Place, read_answer, read_place, write_answer
from optiframe.comparison.run.isolation import run_isolated
from optiframe.comparison.run.repeats import agree, is_another_wanted
from optiframe.findings import Finding
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.solving.result import Status

HERE = Path(__file__).parent
PROBLEM = of.Minimize(SquaredDistance(to=[1.0, 2.0]))
PLACE = Place(0, 0, "before", "after")


@dataclass(frozen=True)
class Pair:
    """An answer of this module's own problem."""

    left: Any
    right: Any


class Pairing(of.Problem[Pair]):
    """A problem whose answers are pairs."""

    name = "test.pairing"

    def objective(self, solution: Pair) -> float:
        return float(solution.left + solution.right)


def travelled(answer: Any, folder: Path, *problems: Any) -> Any:
    write_answer(answer, PLACE, folder)
    place, pickled = read_place(folder)
    assert place == PLACE
    return read_answer(pickled, problems or (PROBLEM,))


ANSWERS = [
    3.5,
    "a word",
    [1, (2.0, None), {"a": {b"b"}}, frozenset([True])],
    np.float64(2.5),
    np.arange(6).reshape(2, 3)[:, ::2],
    np.array(["x", None, 3, (1, 2), Decimal("1.5")], dtype=object),
    np.array(["2026-01-02"], dtype="datetime64[D]"),
    datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    sp.csr_array(np.eye(3)),
    Finding("note", "a dataclass of the core", (np.int64(3),)),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_data_arrive_as_they_were(answer: Any, tmp_path: Path) -> None:
    found = travelled(answer, tmp_path)
    assert type(found) is type(answer)
    if sp.issparse(answer):
        found, answer = found.toarray(), answer.toarray()
    np.testing.assert_equal(found, answer)


def test_dataclasses_of_the_problems_package_arrive(tmp_path: Path) -> None:
    assert travelled(Pair(1.0, Pair(2, "x")), tmp_path, Pairing()) == Pair(1.0, Pair(2, "x"))
    with pytest.raises(of.InvalidInput, match=r"a .*test_compare_answers\.Pair; besides arrays"):
        travelled(Pair(1.0, 2.0), tmp_path)  # of another package than this problem


def test_a_class_that_only_a_notebook_has_is_known_by_its_problem(tmp_path: Path) -> None:
    found = travelled(Pair(1.0, 2.0), tmp_path, Pairing())
    assert found == Pair(1.0, 2.0)
    made = dataclass(frozen=True)(type("Made", (), {"__annotations__": {"x": float}}))
    made.__module__ = "a_module_that_nobody_has"
    problem = type("MadeProblem", (of.Problem[made],), {"name": "test.made", "__module__": "another"})
    assert travelled(made(2.0), tmp_path, problem()) == made(2.0)


class _Calls:
    """Calls a function where it is unpickled."""

    def __init__(self, function: Any, *given: Any) -> None:
        self.call = function, given

    def __reduce__(self) -> Any:
        return self.call


FUNCTIONS = [
    _Calls(os.system, "true"),
    _Calls(eval, "1"),
    _Calls(getattr, "text", "upper"),
    _Calls(subprocess.Popen, ["true"]),
    _Calls(np.load, "file.npy", None, True),
    _Calls(np.testing.assert_equal, 1, 1),
    _Calls(write_answer, 1, PLACE, "."),
    [1, {"inside": _Calls(print, "hello")}],
    len,
    int,
]


@pytest.mark.parametrize("answer", FUNCTIONS, ids=map(str, range(len(FUNCTIONS))))
def test_what_is_no_data_is_refused(answer: Any, tmp_path: Path) -> None:
    with pytest.raises(of.InvalidInput, match=r"not data|besides arrays"):
        travelled(answer, tmp_path)


def test_what_cannot_be_pickled_is_said_by_who_has_it(tmp_path: Path) -> None:
    with pytest.raises(of.InvalidInput, match="a function, cannot be sent to the process that judges it"):
        write_answer(lambda: None, PLACE, tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}\n",
        b"[1]\n\x80\x05.",
        b"\xff\n",
        *(
            json.dumps(asdict(PLACE) | wrong).encode() + b"\n" + pickle.dumps(1)
            for wrong in (
                {"depth": -1},
                {"level": 1},
                {"depth": True},
                {"depth": "0"},
                {"before": 3},
                {"x": 1},
            )
        ),
    ],
)
def test_a_file_that_begins_otherwise_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "answer.pickle").write_bytes(content)
    with pytest.raises(of.InvalidInput, match="its file does not begin as it should"):
        read_place(tmp_path)


@pytest.mark.parametrize(
    "pickled", [b"", b"nonsense", pickle.dumps([1.0] * 9)[:-3], pickle.dumps(b"x" * 99)[:40]]
)
def test_a_pickle_that_breaks_off_is_refused(pickled: bytes) -> None:
    with pytest.raises(of.InvalidInput, match="it is not readable data"):
        read_answer(pickled, (PROBLEM,))


def test_a_pipe_in_place_of_an_answer_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "answer.pickle")
    with pytest.raises(of.InvalidInput, match="it is not a regular file"):
        read_place(tmp_path)


@pytest.mark.slow  # two processes
def test_the_judge_is_never_sent_the_solver(tmp_path: Path) -> None:
    class Marks(of.Solver[of.Minimize, Any, None]):
        """Notes each process that unpickles it."""

        name = "test.marks"
        solves = of.Minimize
        log: str

        def __setstate__(self, state: Any) -> None:
            super().__setstate__(state)
            with Path(self.log).open("a", encoding="utf-8") as log:
                log.write(f"{os.getpid()}\n")

        def iterates(self, problem: of.Minimize, run: of.Run) -> of.Iterates:
            yield of.Iterate(problem.initial())

    log = tmp_path / "log"
    plan = make_plan(PROBLEM, Marks(log=str(log)))
    outcome = run_isolated(request_of(plan, plan.cells[0]))
    assert (outcome.status, outcome.objective) == (Status.FINISHED, 2.5)
    assert len(set(log.read_text().split())) == 1


@pytest.mark.slow  # two processes
def test_a_problem_that_is_another_each_time_is_an_error() -> None:
    plan = make_plan(PROBLEM, "scipy.lbfgs")
    request = request_of(plan, plan.cells[0])
    module = HERE / "misbehaving.py"
    problem = {"name": "minimize", "objective": {"name": "mis.another-each-time"}}
    outcome = run_isolated(replace(request, problem=problem, objects={}, modules=(str(module),)))
    assert outcome.status is Status.ERROR
    assert "the problem is not the same when it is built again; give its data set a seed" in outcome.message


def test_an_object_is_pickled_apart_from_the_other() -> None:
    plan = make_plan(PROBLEM, of.solver("scipy.lbfgs"))
    objects = request_of(plan, plan.cells[0]).objects
    assert objects.keys() == {"problem", "solver"}
    assert isinstance(objects["solver"], Pickled)
    assert b"Minimize" not in objects["solver"].content


# ---- how often a short solve is timed


def test_a_short_solve_is_timed_until_its_time_is_known() -> None:
    times = [1e-3, 1.01e-3, 0.99e-3, 1e-3, 1.02e-3]
    assert is_another_wanted(times, 1, costs=[2e-3] * 6, left=60.0)
    assert not is_another_wanted([*times, 1e-3], 1, costs=[2e-3] * 7, left=60.0)
    assert is_another_wanted([*times, 9e-3], 1, costs=[2e-3] * 7, left=60.0)


def test_a_short_solve_is_timed_for_a_tenth_of_a_second_at_most() -> None:
    assert is_another_wanted([0.03], 1, costs=[0.03, 0.03], left=60.0)
    assert not is_another_wanted([0.03, 0.02], 1, costs=[0.03, 0.03, 0.03], left=60.0)
    assert not is_another_wanted([1e-3], 1, costs=[2e-3, 2e-3], left=2e-3)


def test_a_longer_solve_is_timed_once_and_a_number_is_kept_to() -> None:
    assert not is_another_wanted([0.06], 1, costs=[0.06], left=60.0)
    assert is_another_wanted([1e-3], 2, costs=[2e-3, 2e-3], left=60.0)
    assert not is_another_wanted([1e-3, 9e-3], 2, costs=[2e-3] * 3, left=60.0)


@pytest.mark.parametrize(
    ("times", "stable"),
    [([1.0], False), ([1.0, 1.05], True), ([1.0, 2.0], False), ([1.0] * 9 + [5.0], True)],
)
def test_times_agree_where_their_median_is_known_to_a_tenth(times: list[float], stable: bool) -> None:
    assert agree(times) is stable
