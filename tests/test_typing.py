"""What a user's type checker sees, without any plugin for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

_USE = """
import optiframe as of
from optiframe.testing import SolverContract, check_derivatives

budget = of.Budget(iterations=5)
problem = of.problem("projection", point=[1.0, 2.0], onto="simplex")
result = of.solve(problem, "scipy.lbfgs", budget=budget, seed=1)
status: of.Status = result.status
"""


@pytest.mark.slow
def test_strict_type_checking_accepts_the_documented_code(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "add-a-solver.md").read_text(encoding="utf-8")
    tutorial = re.search(r'^```python title="shrink.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    assert tutorial is not None
    (tmp_path / "shrink.py").write_text(tutorial.group(1), encoding="utf-8")
    (tmp_path / "use.py").write_text(_USE, encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            "--cache-dir",
            "cache",
            "shrink.py",
            "use.py",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
