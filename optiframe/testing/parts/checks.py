"""The contract of everything that is no solver: which checks there are for what."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataSet
from optiframe.problems.objectives.objective import Objective
from optiframe.problems.problem import Problem
from optiframe.problems.regularizers.regularizer import Regularizer
from optiframe.problems.sets.constraint_set import ConstraintSet
from optiframe.registry.by_name import Part
from optiframe.registry.contracts import imported
from optiframe.testing.cases import NotApplicable
from optiframe.testing.failures import described_error
from optiframe.testing.parts.functions import OBJECTIVE_CHECKS, REGULARIZER_CHECKS
from optiframe.testing.parts.problems import DATASET_CHECKS, PROBLEM_CHECKS
from optiframe.testing.parts.sets import SET_CHECKS
from optiframe.testing.parts.subject import RECORD_CHECKS, Subject
from optiframe.testing.solvers.checks import Outcome, words

PartCheck = Callable[[Subject], None]

# The first kind that fits. A kind of sets may add to them; the base class of another family gives its own.
_OF: tuple[tuple[type[Any], tuple[PartCheck, ...]], ...] = (
    (ConstraintSet, SET_CHECKS),
    (Objective, OBJECTIVE_CHECKS),
    (Regularizer, REGULARIZER_CHECKS),
    (Problem, PROBLEM_CHECKS),
    (DataSet, DATASET_CHECKS),
    (Part, ()),
)


def checks_of(part: Any) -> tuple[PartCheck, ...]:
    """The checks for an objective, a set, a regularizer, a problem, a data set or another part.

    Raises
    ------
    InvalidInput
        For anything else.
    """
    brought = part.contract if isinstance(part, ConstraintSet | Part) else ()
    own = imported(brought) if isinstance(brought, str) else brought
    for kind, checks in _OF:
        if isinstance(part, kind):
            return (*RECORD_CHECKS, *checks, *own)
    raise InvalidInput(
        f"a {type(part).__name__} is no objective, set, regularizer, problem, data set or part; a solver is "
        "checked by SolverContract"
    )


def outcomes(part: Any, *, shape: tuple[int, ...] | None = None, seed: int = 0) -> Iterator[Outcome]:
    """Check a part, each check for itself; an error that it raises is a failure like any other."""
    subject = Subject(part, shape=shape, seed=seed)
    for check in checks_of(part):
        yield outcome_on(check, subject)


def outcome_on(check: PartCheck, subject: Subject) -> Outcome:
    """One check of a part."""
    name = words(check.__name__)
    try:
        check(subject)
    except NotApplicable as reason:
        return Outcome(name, None, str(reason))
    except AssertionError as error:
        return Outcome(name, str(error))
    except Exception as error:  # someone else's part
        return Outcome(name, f"{subject.title}: raised {described_error(error, subject.part)}")
    return Outcome(name, None)


def check_part(part: Any, *, shape: tuple[int, ...] | None = None, seed: int = 0) -> None:
    """Hold an objective, a set, a regularizer, a problem, a data set or another part to its contract.

    Parameters
    ----------
    part
        The object, with its parameters; a small one.
    shape
        Shape of the points it is tried on; by default the objective's own, or one that the part takes.
    seed
        Fixes the random points.

    Raises
    ------
    AssertionError
        With one line for each check that fails.
    InvalidInput
        When it is none of these.
    """
    failed = [
        f"{each.name}: {each.failure}" for each in outcomes(part, shape=shape, seed=seed) if each.failure
    ]
    if failed:
        raise AssertionError("\n".join(failed))
