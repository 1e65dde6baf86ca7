"""Checks for your own objectives, sets and solvers; names are imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optiframe.testing.cases import Case as Case
    from optiframe.testing.cases import known_optimum as known_optimum
    from optiframe.testing.cases import small_problems as small_problems
    from optiframe.testing.certificate import Certificate as Certificate
    from optiframe.testing.certificate import certify as certify
    from optiframe.testing.certificate import check_against_cvxpy as check_against_cvxpy
    from optiframe.testing.checks import CHECKS as CHECKS
    from optiframe.testing.checks import Outcome as Outcome
    from optiframe.testing.checks import run_checks as run_checks
    from optiframe.testing.contract import SolverContract as SolverContract
    from optiframe.testing.derivatives import check_derivatives as check_derivatives

_MODULE = {
    "CHECKS": "checks",
    "Case": "cases",
    "Certificate": "certificate",
    "Outcome": "checks",
    "SolverContract": "contract",
    "certify": "certificate",
    "check_against_cvxpy": "certificate",
    "check_derivatives": "derivatives",
    "known_optimum": "cases",
    "run_checks": "checks",
    "small_problems": "cases",
}

__all__ = sorted(_MODULE)  # noqa: PLE0605  # the names are in _MODULE, each once


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'optiframe.testing' has no attribute {name!r}")
    value = getattr(import_module(f"optiframe.testing.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
