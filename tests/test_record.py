"""Records chosen by name: validation, equality, pickling, content hashes."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from pydantic import Field, PositiveFloat

import optiframe as of
from optiframe.records.fields import AnyArray, Bound, Matrix, Vector
from optiframe.records.fingerprint import fingerprint
from optiframe.records.record import Record


class Sample(Record):
    """A record with one field of each sort."""

    name = "record"

    step: PositiveFloat = 0.5
    rule: Literal["cyclic", "random"] = "cyclic"
    inner: AnyArray | None = None
    weights: Vector | None = Field(default=None, description="weights")
    matrix: Matrix = None
    bound: Bound | None = None
    pace: PositiveFloat | Literal["fast", "slow"] = "slow"

    @cached_property
    def expensive(self) -> object:
        return lambda: None  # cannot be pickled


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"stpe": 1.0}, "record: stpe: unknown key; did you mean 'step'"),
        ({"step": 0}, "step: must be greater than 0, got 0"),
        ({"step": float("inf")}, "step: must be a finite number"),
        ({"step": "1"}, "step: must be a number, got '1'"),
        ({"step": True}, "step: must be a number, got True"),
        ({"rule": "cyclc"}, "rule: must be one of 'cyclic' or 'random', got 'cyclc'; did you mean 'cyclic'"),
        ({"pace": -1.0}, "record: pace: must be greater than 0, got -1.0$"),
        ({"pace": "fats"}, "record: pace: must be one of 'fast' or 'slow', got 'fats'; did you mean 'fast'"),
        ({"pace": []}, "record: pace: must be a number, got "),
        ({"weights": [[1.0]]}, r"weights: must be a vector, got shape \(1, 1\)"),
        ({"weights": [1.0, float("nan")]}, r"weights: entry \[1\] is nan; every entry must be finite"),
        ({"weights": ["a"]}, "weights: must hold real numbers"),
        ({"weights": [True]}, "weights: must hold real numbers, got bool"),
        ({"weights": [1j]}, "weights: must hold real numbers"),
        ({"inner": [[1.0], [1.0, 2.0]]}, "inner: rows differ in length"),
        ({"inner": "none.npy"}, "inner: no file none.npy"),
        ({"matrix": [1.0]}, r"matrix: must be a matrix, got shape \(1,\)"),
        ({"matrix": sp.csr_array(np.array([[np.inf]]))}, "matrix: every stored entry must be finite"),
        ({"bound": float("nan")}, "bound: must not be nan"),
        ({"bound": "wide"}, "bound: must be a number"),
    ],
)
def test_every_wrong_value_is_named_with_what_is_allowed(values: dict[str, Any], expected: str) -> None:
    with pytest.raises(of.InvalidInput, match=expected):
        Sample(**values)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_iter": 5}, "budget={'iterations': 5}, or iterations = 5 under [budget]"),
        ({"maxiter": 5}, "budget={'iterations': 5}"),
        ({"iterations": 5}, "budget={'iterations': 5}"),
        ({"tol": 1e-3}, "budget={'tolerance': 0.001}"),
        ({"tolerance": "low"}, "budget={'tolerance': ...}"),
        ({"time": 2.5}, "budget={'time': 2.5}"),
        ({"timeout": 60}, "budget={'time': 60}"),
    ],
)
def test_a_limit_given_as_a_parameter_is_sent_to_the_budget(given: dict[str, Any], said: str) -> None:
    with pytest.raises(of.InvalidInput) as caught:
        of.solver("scipy.lbfgs", **given)
    assert f"; that is a budget: {said}" in str(caught.value)
    with pytest.raises(of.InvalidInput) as caught:
        Sample(**given)  # no solver: it has no budget
    assert "budget" not in str(caught.value)


def test_all_wrong_values_are_named_at_once() -> None:
    with pytest.raises(of.InvalidInput) as caught:
        Sample(step=-1, rule="x", unknown=1)
    assert {path for path, _ in caught.value.problems} == {("step",), ("rule",), ("unknown",)}


def test_a_record_does_not_change() -> None:
    record = Sample(weights=[1.0, 2.0])
    with pytest.raises(AttributeError, match="record does not change: its fields are its parameters"):
        record.step = 1.0  # type: ignore[misc]  # that it is refused is the test
    with pytest.raises(ValueError, match="read-only"):
        record.weights[0] = 5.0


@pytest.mark.parametrize("make", [np.array, pandas.Series, lambda x: np.array(x)[::1]])
def test_arrays_that_could_change_are_copied(make: Any) -> None:
    mine = make([1.0, 1.0])
    record = Sample(weights=mine)
    mine[0] = 99.0
    assert record.weights.tolist() == [1.0, 1.0]


def test_sparse_matrices_that_could_change_are_copied() -> None:
    mine = sp.csr_array(np.eye(2))
    record = Sample(matrix=mine)
    mine.data[0] = 99.0
    assert record.matrix.data.tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        record.matrix.data[0] = 5.0


def test_read_only_arrays_are_taken_without_a_copy() -> None:
    mine = np.ones(3)
    mine.flags.writeable = False
    assert np.shares_memory(Sample(weights=mine).weights, mine)


def test_equal_content_is_equal_and_hashes_alike() -> None:
    first, second = Sample(weights=[1.0, 2.0]), Sample(weights=np.array([1.0, 2.0]))
    assert first == second
    assert hash(first) == hash(second)
    assert first != Sample(weights=[1.0, 2.5])
    assert first != 3


def test_pickling_keeps_content_and_drops_caches() -> None:
    record = Sample(weights=[1.0], matrix=sp.csr_array(np.eye(2)))
    assert record.expensive
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert not again.weights.flags.writeable
    assert "expensive" not in again.__dict__


def test_a_changed_copy_is_validated_and_forgets_what_was_cached() -> None:
    record = Sample(weights=[1.0])
    assert record.fingerprint()
    changed = record.model_copy(update={"step": 2.0})
    assert changed.fingerprint() == Sample(weights=[1.0], step=2.0).fingerprint() != record.fingerprint()
    with pytest.raises(of.InvalidInput, match="step: must be greater than 0"):
        record.model_copy(update={"step": -2.0})
    bowl = of.Minimize(of.objective("squared-distance", to=[1.0]))
    assert bowl.model_copy(update={"start": [2.0]}).start.tolist() == [2.0]
    other = of.objective("squared-distance", to=[5.0])
    assert bowl.model_copy(update={"function": other}).function is other


def test_arrays_inside_a_pickled_record_stay_read_only() -> None:
    class Holder(Record):
        """Holds a dataclass of an array."""

        pair: Any

    held = Pair(np.zeros(2), sp.csr_array(np.eye(2)))
    again = Holder.model_construct(pair=None)
    again.__setstate__(Holder(pair=pickle.loads(pickle.dumps(held))).__getstate__())
    assert not again.pair.left.flags.writeable
    assert not again.pair.right.data.flags.writeable


def test_a_copy_of_what_does_not_change_is_itself() -> None:
    record = Sample(weights=[1.0])
    assert copy.copy(record) is record
    assert copy.deepcopy(record) is record


def test_masked_entries_are_refused() -> None:
    with pytest.raises(of.InvalidInput, match="has masked entries"):
        Sample(weights=np.ma.array([1.0, 2.0], mask=[False, True]))


def test_a_function_defined_again_in_a_notebook_is_another_one() -> None:
    cells: list[dict[str, Any]] = [{"__name__": "__main__"}, {"__name__": "__main__"}]
    exec("def f(x): return x + 1", cells[0])
    exec("def f(x): return x + 2", cells[1])
    assert fingerprint(cells[0]["f"]) != fingerprint(cells[1]["f"])


def test_a_repr_shows_shapes_and_not_numbers() -> None:
    text = repr(Sample(weights=np.zeros(1000), matrix=sp.eye_array(4, format="csr")))
    assert "<array 1000>" in text
    assert "<sparse 4 x 4>" in text


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


def named(x: float) -> float:
    return x


DISTINCT = [
    None,
    True,
    1,
    1.0,
    "1",
    b"1",
    [1],
    [[1]],
    frozenset({1}),
    frozenset({1, 2}),
    {"a": 1},
    {"a": 2},
    np.array([1]),
    np.array([1.0]),
    np.array([[1.0]]),
    np.array(["1"], dtype=object),
    np.array([1, "1"], dtype=object),
    sp.csr_array(np.array([[1.0]])),
    sp.csr_array(np.array([[1.0, 0.0]])),
    Pair(1, 2),
    Pair(2, 1),
    Sample(),
    Sample(step=1.0),
    named,
    lambda x: x,
    lambda x: x + 1,
]


def test_different_content_has_different_fingerprints() -> None:
    assert len({fingerprint(value) for value in DISTINCT}) == len(DISTINCT)


def test_equal_content_has_equal_fingerprints() -> None:
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    one, other = sp.csr_array(np.eye(3)), sp.csc_array(np.eye(3))
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(np.int64(1)) == fingerprint(1)
    assert fingerprint(-0.0) == fingerprint(0.0)
    assert fingerprint(frozenset({"a", "b"})) == fingerprint(frozenset({"b", "a"}))
    assert fingerprint(np.asfortranarray(np.ones((2, 3)))) == fingerprint(np.ones((2, 3)))


def test_where_in_its_package_a_record_is_defined_is_no_content() -> None:
    def made(module: str, name: str, title: str) -> str:
        return type(title, (Record,), {"__module__": module, "name": name})().fingerprint()

    first = made("pack.here", "moved", "Moved")
    assert first == made("pack.rooms.there", "moved", "Moved")
    others = [
        made("other.here", "moved", "Moved"),
        made("pack.here", "x", "Moved"),
        made("pack.here", "moved", "X"),
    ]
    assert len({first, *others}) == 4


def test_what_a_closure_holds_counts() -> None:
    def make(factor: float) -> Any:
        return lambda x: factor * x

    assert fingerprint(make(2.0)) != fingerprint(make(3.0))


def test_defaults_of_keywords_count() -> None:
    def make(factor: int) -> Any:
        return lambda x, *, c=factor: x * c

    assert fingerprint(make(1)) != fingerprint(make(2))


@pytest.mark.slow
def test_the_hash_of_a_function_does_not_depend_on_the_process() -> None:
    code = (
        "from optiframe.records.fingerprint import fingerprint; "
        "print(fingerprint(lambda x: x in {'a', 'b', 'c'}))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
        ).stdout
        for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}, {"PYTHONHASHSEED": "3"})
    ]
    assert len(set(runs)) == 1


def test_an_object_without_content_is_refused() -> None:
    with pytest.raises(of.InvalidInput, match="has no content to hash"):
        fingerprint(object())


@pytest.mark.slow
def test_a_fingerprint_is_the_same_in_another_process() -> None:
    code = (
        "import numpy as np, optiframe as of\n"
        "print(of.Projection(np.arange(3.0), onto='whole-space').fingerprint())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    here = of.Projection(np.arange(3.0), onto="whole-space").fingerprint()
    assert {text.strip() for text in runs} == {here}


def test_number_files_are_read_with_the_line_of_an_error(tmp_path: Any) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text("1,2\n\n3,4\n")
    assert Sample(inner=file).inner.tolist() == [[1, 2], [3, 4]]  # type: ignore[union-attr]  # it was given
    for text, expected in [
        ("1,2\n3\n", "line 2: 1 numbers where the lines before have 2"),
        ("a,b\n1,2\n", "line 1: not numbers"),
        ("1\nyes\n", r"line 2: not numbers separated by commas: 'yes' \(row 2, column 1\)$"),
        ("1,2\n\n3,\n", "line 3: the value in row 2, column 2 is empty"),
        ("", "is empty"),
    ]:
        file.write_text(text)
        with pytest.raises(of.InvalidInput, match=expected):
            Sample(inner=file)
    file.write_bytes(b"\xff\xff")
    with pytest.raises(of.InvalidInput, match="not UTF-8"):
        Sample(inner=file)


def test_npy_files_are_read_without_pickle(tmp_path: Any) -> None:
    file = tmp_path / "numbers.npy"
    np.save(file, np.arange(3.0))
    assert Sample(weights=file).weights.tolist() == [0, 1, 2]
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(of.InvalidInput, match="not a NumPy array file of numbers"):
        Sample(weights=file)
    file.write_bytes(b"garbage")
    with pytest.raises(of.InvalidInput, match="not a NumPy array file of numbers"):
        Sample(weights=file)


def test_a_printed_problem_shows_what_was_given_and_no_defaults() -> None:
    problem = of.Projection([1.0, 2.0], onto="simplex")
    assert str(problem) == "Projection(point=<array 2>, onto=Simplex(total=1.0))"
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)
