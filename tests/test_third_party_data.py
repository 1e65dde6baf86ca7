"""What a plugin's problem needs to read data: tables and files as fields, and one line where it raises."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas
import pytest

import optiframe as of
from optiframe import FilePath, InvalidInput, Minimize, Table, TableOf

from .command_line import run_in


class Centres(of.Problem):
    """Find the mean of a column."""

    name = "third.centres"

    points: Annotated[Table, TableOf("place", "height", optional=("weight",))]
    notes: FilePath | None = None

    def formulate(self):
        heights = self.points["height"].astype(float)
        least = of.objective("least-squares", matrix=np.ones((len(heights), 1)), target=heights)
        return of.Formulation(Minimize(least), interpret=lambda x: x)


ROWS = {"place": ["a", "b"], "height": [1.0, 3.0], "colour": ["red", "blue"]}


@pytest.mark.parametrize("kind", ["mapping", "pandas", "csv"])
def test_a_table_comes_in_any_kind(kind: str, tmp_path: Path) -> None:
    given = pandas.DataFrame(ROWS) if kind == "pandas" else ROWS
    if kind == "csv":
        given = tmp_path / "points.csv"
        pandas.DataFrame(ROWS).to_csv(given, index=False)
    problem = Centres(points=given)
    assert problem.points["place"].tolist() == ["a", "b"]
    assert "colour" in problem.points.unused
    assert of.solve(problem, "scipy.lbfgs", progress=False).solution == pytest.approx([2.0], abs=1e-5)
    again = pickle.loads(pickle.dumps(problem))
    assert again.fingerprint() == problem.fingerprint()
    assert Centres(points={**ROWS, "height": [1.0, 4.0]}).fingerprint() != problem.fingerprint()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"points": {"place": ["a"], "heigth": [1.0]}}, "points: .*'height'.*heigth"),
        ({"points": "gone.csv"}, "points: no file .*gone.csv"),
        ({"points": ROWS, "notes": "gone.txt"}, "notes: no file .*gone.txt"),
        ({"points": ROWS, "notes": "."}, "notes: . is a folder"),
        ({"points": ROWS, "notes": 3}, "notes: must be the path of a file, got 3"),
        ({}, "points: is missing"),
    ],
)
def test_what_is_wrong_with_a_table_or_a_file_is_named(fields: dict, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        Centres(**fields)


PLUGIN = '''
import optiframe


@optiframe.register
class Odd(optiframe.Problem):
    """Raises while it loads."""

    name = "third.odd"
    points: object = None

    @classmethod
    def load(cls, **inputs):
        return cls(points=inputs["pionts"])


@optiframe.register
class Data(optiframe.DataSet):
    """Raises while it reads."""

    name = "third.data"
    problem = "third.odd"

    def inputs(self):
        return 1 / 0


@optiframe.register
class Sum(optiframe.Problem):
    """Reads a table beside the file that names it."""

    name = "third.sum"
    path: str

    def formulate(self):
        table = optiframe.read_table(self.path, ["height"], title="heights")
        near = optiframe.objective("squared-distance", to=table["height"].astype(float))
        return optiframe.Formulation(optiframe.Minimize(near), interpret=lambda x: x)

    @classmethod
    def load(cls, **inputs):
        return cls(path=str(optiframe.resolve(inputs["path"])))
'''


def test_what_a_plugin_raises_while_it_loads_is_one_line_with_file_and_key(tmp_path: Path) -> None:
    (tmp_path / "third.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "odd.toml").write_text('seed = 1\n\n[problem]\nname = "third.odd"\npoints = 3\n')
    told = run_in(tmp_path, "--import", "third.py", "solve", "odd.toml", code=2).stderr
    assert told.startswith("error: odd.toml line 3: problem: third.odd raised KeyError: 'pionts' at third.py")
    assert "Traceback" not in told
    (tmp_path / "data.toml").write_text('[problem]\ndataset = "third.data"\n')
    told = run_in(tmp_path, "--import", "third.py", "solve", "data.toml", code=2).stderr
    assert "third.data raised ZeroDivisionError: division by zero at third.py" in told
    assert "Traceback" not in told


def test_a_path_begins_at_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "third.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "below" / "heights.csv").write_text("place,height\na,1\nb,3\n")
    (tmp_path / "below" / "sum.toml").write_text('[problem]\nname = "third.sum"\npath = "heights.csv"\n')
    shown = run_in(tmp_path, "--import", "third.py", "solve", "below/sum.toml", code=0).stdout
    assert "third.sum by scipy.lbfgs" in shown


def test_an_error_in_python_keeps_its_cause() -> None:
    class Raising(of.Problem):
        """Raises."""

        name = "third.raising"

        @classmethod
        def load(cls, **inputs):
            raise KeyError("gone")

    of.register(Raising)
    with pytest.raises(InvalidInput, match=r"third\.raising raised KeyError: 'gone'") as raised:
        of.problem("third.raising")
    assert isinstance(raised.value.__cause__, KeyError)
