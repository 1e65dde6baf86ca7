"""Checks for your own objectives, sets and solvers; names are imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe.testing.cases import Case as Case
    from optiframe.testing.cases import NotApplicable as NotApplicable
    from optiframe.testing.cases import known_optimum as known_optimum
    from optiframe.testing.cases import small_problems as small_problems
    from optiframe.testing.certificate import Certificate as Certificate
    from optiframe.testing.certificate import certify as certify
    from optiframe.testing.certificate import check_against_cvxpy as check_against_cvxpy
    from optiframe.testing.derivatives import check_derivatives as check_derivatives
    from optiframe.testing.isolation.parent import check_isolated as check_isolated
    from optiframe.testing.kernels.changes import check_changes_meanwhile as check_changes_meanwhile
    from optiframe.testing.kernels.references import check_interruptible as check_interruptible
    from optiframe.testing.kernels.references import check_kernel as check_kernel
    from optiframe.testing.kernels.references import check_refusals as check_refusals
    from optiframe.testing.parts.checks import check_part as check_part
    from optiframe.testing.parts.subject import Subject as Subject
    from optiframe.testing.solvers.checks import CHECKS as CHECKS
    from optiframe.testing.solvers.checks import Outcome as Outcome
    from optiframe.testing.solvers.checks import run_checks as run_checks
    from optiframe.testing.solvers.contract import SolverContract as SolverContract

__getattr__, __dir__, __all__ = exports(  # a list, made there
    __name__,
)
