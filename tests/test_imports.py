"""What an import and a listing may cost."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

import optiframe

HEAVY = ("numpy", "scipy", "pydantic", "pandas", "polars", "pyarrow", "cvxpy", "sklearn", "pooch", "autograd")


def loaded(code: str) -> list[str]:
    """Heavy modules a fresh interpreter has loaded after running `code`."""
    check = f"{code}\nimport sys\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return list(eval(done.stdout.splitlines()[-1]))  # a list literal our own line printed


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert loaded("import optiframe") == []


@pytest.mark.slow
def test_every_plugin_entry_module_imports_nothing_heavy() -> None:
    modules = [point.value for point in metadata.entry_points(group="optiframe")]
    assert {"optiframe.registry.builtin", "optiframe.reference", "optiframe_rankone"} <= set(modules)
    assert loaded("\n".join(f"import {module}" for module in modules)) == []


def test_listing_names_imports_nothing_heavy() -> None:
    code = "import sys; from optiframe.cli import main; sys.argv = ['optiframe', 'list']\n"
    assert loaded(code + "try:\n    main()\nexcept SystemExit:\n    pass") == []


@pytest.mark.slow
def test_solving_imports_no_optional_package() -> None:
    code = (
        "import optiframe as of\n"
        "p = of.problem('minimize', objective=of.objective('least-squares', matrix=[[1.0]], target=[2.0]))\n"
        "of.solve(p, 'scipy.lbfgs')"
    )
    assert set(loaded(code)) == {"numpy", "scipy", "pydantic"}


@pytest.mark.parametrize("name", optiframe.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(optiframe, name) is not None


def test_an_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        optiframe.nonsense  # noqa: B018  # the access is the test
