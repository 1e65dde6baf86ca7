"""Check the types of the packages and, in the same run, of what users write: `make types`.

A user's type checker has no plugin for pydantic or for us.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent

SCRIPT = """
import optiframe as of
from optiframe.testing import SolverContract, check_derivatives
from optiframe_hodgerank.solvers.lbi import LinearizedBregman

budget = of.Budget(iterations=5)
problem = of.problem("projection", point=[1.0, 2.0], onto="simplex")
result = of.solve(problem, "scipy.lbfgs", budget=budget, seed=1)
within = of.Minimize("squared-distance", over=[{"name": "simplex"}, "non-negative"])
nearest = of.Projection([1.0, 2.0], onto=["simplex", {"name": "box", "upper": 0.5}])
status: of.Status = result.status
solver = LinearizedBregman(kappa=2.0)
"""


def main() -> int:
    """Mypy's exit code."""
    page = (ROOT / "docs" / "add-a-solver.md").read_text(encoding="utf-8")
    tutorial = re.search(r'^```python title="(shrink.py)"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    assert tutorial is not None
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["files"]
    with TemporaryDirectory() as folder:
        theirs = {Path(folder, "use.py"): SCRIPT, Path(folder, tutorial[1]): tutorial[2]}
        for path, text in theirs.items():
            path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-m", "mypy", *packages, *theirs], cwd=ROOT, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
