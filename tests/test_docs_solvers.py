"""Every solver that a page prints keeps the contract, and means "converged" when it says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import optiframe
from optiframe.registry.user_modules import import_user_module
from optiframe.testing import check_isolated

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted((ROOT / "plugins").glob("*/README.md")),
]
_PYTHON = re.compile(r"^```python(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed() -> Iterator[tuple[str, str]]:
    """The name of every solver class on a page, and a module of the page's definitions up to it."""
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)  # not what a block goes on to do
    for page in PAGES:
        so_far: list[str] = []
        for block in _PYTHON.findall(page.read_text(encoding="utf-8")):
            for node in ast.parse(block).body:
                if isinstance(node, kept):
                    so_far.append(ast.unparse(node))
                if isinstance(node, ast.ClassDef) and any("Solver[" in ast.unparse(b) for b in node.bases):
                    yield _name_of(node), "\n\n".join(so_far)


def _name_of(node: ast.ClassDef) -> str:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "name":
            return str(ast.literal_eval(statement.value))
    raise AssertionError(f"the solver {node.name} has no name")


SOLVERS = dict(printed())


def test_the_pages_print_these_solvers() -> None:
    general = {"mine.heavy-ball", "mine.subgradient", "shrink.projected-gradient"}
    of_domains = {"mine.borda", "mine.agreeing-majority", "mine.net-wins", "mine.integer-projection"}
    assert general | of_domains <= set(SOLVERS)


def checked() -> set[str]:
    """The solvers that a page's own commands hold to the contract, which test_docs.py runs."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return set(re.findall(r"^\$ optiframe (?:--import \S+ )?check ([\w.-]+)", text, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SOLVERS.keys() - checked()))
def test_every_solver_printed_on_a_page_and_not_checked_there_keeps_the_contract(
    name: str, tmp_path: Path
) -> None:
    module = tmp_path / f"{name.replace('.', '_').replace('-', '_')}.py"
    module.write_text(SOLVERS[name], encoding="utf-8")
    outcomes = list(check_isolated(name, modules=[str(module)]))
    assert len(outcomes) > 1
    assert {outcome.name: outcome.failure for outcome in outcomes if outcome.failure} == {}


def test_the_solver_of_the_readme_says_converged_at_the_answer(tmp_path: Path) -> None:
    module = tmp_path / "readme_solver.py"
    # Under a name of its own: what this process has registered stays for the tests that follow.
    text = SOLVERS["mine.heavy-ball"].replace("mine.heavy-ball", "test.readme")
    module.write_text(text, encoding="utf-8")
    import_user_module(str(module))
    plain = optiframe.objective("least-squares", matrix=[[1.0, 0.0], [0.0, 1.0]], target=[2.0, 3.0])
    result = optiframe.solve(optiframe.Minimize(plain), "test.readme", momentum=0.5)
    assert result.status == "converged"
    assert np.abs(result.solution - [2.0, 3.0]).max() < 1e-5
    boxed = optiframe.Minimize(plain, over=optiframe.constraint_set("box", lower=0.0))
    with pytest.raises(optiframe.Unsuited, match="it knows no constraints"):
        optiframe.solve(boxed, "test.readme")
