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
    from optiframe.testing.changes import check_changes_meanwhile as check_changes_meanwhile
    from optiframe.testing.checks import CHECKS as CHECKS
    from optiframe.testing.checks import Outcome as Outcome
    from optiframe.testing.checks import run_checks as run_checks
    from optiframe.testing.contract import SolverContract as SolverContract
    from optiframe.testing.derivatives import check_derivatives as check_derivatives
    from optiframe.testing.isolated import check_isolated as check_isolated
    from optiframe.testing.kernels import check_interruptible as check_interruptible
    from optiframe.testing.kernels import check_kernel as check_kernel
    from optiframe.testing.kernels import check_refusals as check_refusals
    from optiframe.testing.part_checks import check_part as check_part

__getattr__, __dir__, __all__ = exports(  # a list, made there
    __name__,
    {
        "cases": ("Case", "NotApplicable", "known_optimum", "small_problems"),
        "certificate": ("Certificate", "certify", "check_against_cvxpy"),
        "changes": ("check_changes_meanwhile",),
        "checks": ("CHECKS", "Outcome", "run_checks"),
        "contract": ("SolverContract",),
        "derivatives": ("check_derivatives",),
        "isolated": ("check_isolated",),
        "part_checks": ("check_part",),
        "kernels": ("check_interruptible", "check_kernel", "check_refusals"),
    },
)
