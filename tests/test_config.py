"""Files: what they build, and where an error is said to be."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optiframe as of
from optiframe.files.solve_file import SolveFile
from optiframe.files.toml_lines import Lines
from optiframe.problems.sets.constraint_set import ConstraintSet

GOOD = """\
seed = 3

[problem]
name = "minimize"

[problem.objective]
name = "squared-distance"
to = [
    1.0,
    2.0,  # a comment inside
]

[problem.over]
name = "non-negative"

[solver]
name = "scipy.lbfgs"
memory = 5

[budget]
iterations = 50
tolerance = 1e-8

[output]
folder = "out"
answer = "x.parquet"
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "run.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def message(path: Path | None, part: str, overrides: tuple[str, ...] = ()) -> str:
    with pytest.raises(of.InvalidInput) as caught:
        getattr(SolveFile.read(path, overrides), part)
    return str(caught.value)


def test_a_file_builds_every_object(write: Any) -> None:
    document = SolveFile.read(write(GOOD))
    assert document.seed == 3
    assert isinstance(document.problem, of.Minimize)
    assert isinstance(document.problem.over, ConstraintSet)
    assert document.solver.model_dump() == {"memory": 5}
    assert document.budget == of.Budget(iterations=50, tolerance=1e-8)
    assert (document.output.folder, document.output.answer) == ("out", "x.parquet")


def test_a_projection_onto_a_named_set_is_a_file(write: Any) -> None:
    text = '[problem]\nname = "projection"\npoint = [3, 1, 2]\nonto = {name = "cardinality", size = 1}\n'
    problem = SolveFile.read(write(text)).problem
    assert problem.onto.project(problem.point).tolist() == [3, 0, 0]


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "to.csv").write_text("1,2,3\n")
    text = '[problem]\nname = "minimize"\nobjective = {name = "squared-distance", to = "to.csv"}\n'
    (folder / "run.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    problem = SolveFile.read(Path("deep/run.toml")).problem
    assert problem.function.to.tolist() == [[1, 2, 3]]


_NO_TO = ("to = [\n    1.0,\n    2.0,  # a comment inside\n]\n", "")


@pytest.mark.parametrize(
    ("change", "part", "line", "expected"),
    [
        (("memory = 5", "memory = 0"), "solver", 18, "solver.memory: must be "),
        (("memory = 5", 'memory = "5"'), "solver", 18, "solver.memory: must be a whole number, got '5'"),
        (('name = "scipy.lbfgs"\n', ""), "solver", 16, "solver.name: is missing: which solver?"),
        (("non-negative", "non-negativ"), "problem", 14, "problem.over.name: no constraint set named"),
        (("    1.0,", '    "a",'), "problem", 8, "problem.objective.to: must hold real numbers"),
        (_NO_TO, "problem", 6, "problem.objective.to: is missing"),
        (("1e-8", "nan"), "budget", 22, "budget.tolerance: must be a finite number"),
        (("1e-8", "true"), "budget", 22, "budget.tolerance: must be a number, got True"),
        (("seed = 3", "seed = -3"), "seed", 1, "seed: must be at least 0, got -3"),
        (("[solver]\nname", "[solver]\n[nonsense]\nname"), "solver", 17, "nonsense: unknown key (valid: "),
    ],
)
def test_an_error_names_file_line_key_and_what_is_allowed(
    write: Any, change: tuple[str, str], part: str, line: int, expected: str
) -> None:
    assert change[0] in GOOD
    assert f"run.toml line {line}: {expected}" in message(write(GOOD.replace(*change, 1)), part)


def test_every_error_of_a_table_is_reported_at_once(write: Any) -> None:
    text = GOOD.replace("iterations = 50", "iterations = -1").replace("tolerance = 1e-8", "tolerance = -1")
    found = message(write(text), "budget").splitlines()
    assert [line.split(":")[1].strip() for line in found] == ["budget.iterations", "budget.tolerance"]


def test_errors_of_all_tables_are_reported_at_once(write: Any) -> None:
    text = GOOD.replace("memory = 5", "memory = 0").replace("iterations = 50", "iterations = -1")
    with pytest.raises(of.InvalidInput) as caught:
        SolveFile.read(write(text.replace('"non-negative"', '"non-negativ"'))).check()
    named = [keys[0] for keys, _ in caught.value.problems]
    assert named == ["solver", "budget", "problem"]
    assert len(str(caught.value).splitlines()) == 3


def test_a_missing_table_says_what_to_add(write: Any) -> None:
    assert "problem: is missing; add a table [problem]" in message(write("seed = 1\n"), "problem")
    assert "problem.name: is missing; or give a `dataset`" in message(write("[problem]\n"), "problem")


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        (
            '[problem]\nnmae = "x"\n',
            "problem",
            "line 2: problem.nmae: did you mean 'name'? This table has no `name`",
        ),
        (
            '[solver]\nnmae = "x"\n',
            "solver",
            "line 2: solver.nmae: did you mean 'name'? This table has no `name`",
        ),
        (
            'seed = 1\n[problem.objective]\nname = "squared-distance"\n',
            "problem",
            "line 2: problem.name: is missing; or give a `dataset`; for an `objective`, write name = ",
        ),
    ],
)
def test_a_table_without_a_name_says_which_key_was_meant(
    write: Any, text: str, part: str, expected: str
) -> None:
    assert f"run.toml {expected}" in message(write(text), part)


def test_a_missing_file_and_a_binary_file_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(of.InvalidInput, match="no file"):
        SolveFile.read(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(of.InvalidInput, match="not UTF-8"):
        SolveFile.read(binary)
    with pytest.raises(of.InvalidInput, match="cannot be read"):
        SolveFile.read(tmp_path)


def test_overrides_win_and_errors_name_them(write: Any) -> None:
    path = write(GOOD)
    document = SolveFile.read(path, ["solver.memory=7", "seed=9", "problem.over.name=simplex"])
    assert document.solver.model_dump() == {"memory": 7}
    assert document.seed == 9
    assert document.problem.over.name == "simplex"
    assert "--set solver.memory: must be a whole number, got 'x'" in message(
        path, "solver", ("solver.memory=x",)
    )


def test_overrides_alone_are_enough() -> None:
    document = SolveFile.read(
        None, ["problem.name=projection", "problem.point=[1, 2]", "problem.onto=simplex"]
    )
    assert document.problem.point.tolist() == [1, 2]


@pytest.mark.parametrize("override", ["solver.step", "=3", "solver..x=1", ""])
def test_a_malformed_override_is_explained(override: str) -> None:
    with pytest.raises(of.InvalidInput, match=r"write key\.path=value"):
        SolveFile.read(None, [override])


def test_a_solver_can_be_named_without_parameters(write: Any) -> None:
    assert SolveFile.read(write('solver = "scipy.lbfgs"\n')).solver.name == "scipy.lbfgs"


@pytest.mark.parametrize(
    ("text", "keys", "line"),
    [
        ('a = "x\u2028y"\n[solver]\nstep = 1\n', ("solver", "step"), 3),
        ("a = 1\r\n[solver]\r\nstep = 1\r\n", ("solver", "step"), 3),
        ('a = "[ # no comment"\nb = 2\n', ("b",), 2),
        ("a = '''\n[solver]\nstep = 0\n'''\n[solver]\nstep = 1\n", ("solver", "step"), 6),
        (r'a = "\"[\\"' + "\nb = 2\n", ("b",), 2),
        ("[[solver]]\nstep = 1\n\n[[solver]]\nstep = 2\n", ("solver", "1", "step"), 5),
        ("[[solver]]\nstep = 1\n\n[[solver]]\nstep = 2\n", ("solver", "1", "none"), 4),
        ("solver.step.size = 1\n", ("solver", "step", "size"), 1),
        ("[a.b]\nc = [\n{d = 1},\n{d = 2}]\n", ("a", "b", "c", "1", "d"), 2),
        ("[a]\n[b]\n", ("c",), None),
    ],
)
def test_lines_are_right_in_every_corner_of_toml(text: str, keys: tuple[str, ...], line: int | None) -> None:
    tomllib.loads(text.replace("\r", ""))
    assert Lines(text).of(keys) == line


@pytest.mark.slow
def test_an_error_after_a_large_value_is_found_at_once(write: Any) -> None:
    rows = ",\n".join("[1.0, 2.0, 3.0]" for _ in range(20_000))
    text = GOOD.replace("to = [", f"matrix = [\n{rows}\n]\nto = [").replace("memory = 5", "memory = 0")
    assert "run.toml line 20020: solver.memory" in message(write(text), "solver")


def test_an_override_into_something_that_is_no_table_is_refused(write: Any) -> None:
    with pytest.raises(of.InvalidInput, match=r"--set problem.objective.to.0=2: to is not a table"):
        SolveFile.read(write(GOOD), ["problem.objective.to.0=2"])


@pytest.mark.slow
@given(st.integers(0, 5), st.integers(0, 5), st.booleans())
def test_a_line_is_found_whatever_stands_around_it(before: int, inside: int, inline: bool) -> None:
    head = "# comment\n" * before
    filler = "".join(f"other{i} = '''\nkey = 1\n'''\n" for i in range(inside))
    body = "table = {key = 1}\n" if inline else f"[table]\n{filler}key = [\n1,\n]\n"
    line = before + 1 + (0 if inline else 1 + 3 * inside - 1 + 1)
    assert Lines(head + body).of(("table", "key")) == line
