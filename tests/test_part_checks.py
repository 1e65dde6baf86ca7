"""The contracts of sets, objectives, regularizers, problems and data sets, and twins that break one rule."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from pydantic import Field

import optiframe as of
from optiframe import ConstraintSet, DataSet, Formulation, Minimize, Objective, Part, Regularizer
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.objectives.objective import SquaredDistance
from optiframe.problems.regularizers.norms import L1
from optiframe.problems.sets.vector_sets import Box, L1Ball, L2Ball
from optiframe.testing import Subject, check_part
from optiframe.testing.parts.checks import checks_of, outcomes

from .command_line import run_in
from .test_general_objectives import CONVEX
from .test_sets_of_blocks_and_functions import SHAPES

TARGET = np.array([0.5, -1.0, 2.0, 0.0, 3.0, -0.2])
SETS = {
    "box": {"lower": -1.0, "upper": 2.0},
    "linf-ball": {"radius": 1.0},
    "integers": {"lower": -2.0, "entries": [1]},
    "non-negative": {},
    "l1-ball": {"radius": 1.0},
    "l2-ball": {"radius": 1.0},
    "simplex": {},
    "cardinality": {"size": 2},
    "zero-sum": {},
    "affine": {"matrix": np.ones((1, 6)), "target": [1.0]},
    "half-space": {"normal": np.arange(6.0), "offset": 1.0},
    "polyhedron": {"matrix": np.sin(np.arange(24.0)).reshape(4, 6), "upper": 1.0},
    "second-order-cone": {},
    "positive-semidefinite": {},
    "spectral-ball": {"radius": 1.0},
    "intersection": {"sets": ["simplex", {"name": "box", "upper": 0.5}]},
}
REGULARIZERS = {
    "l1": {"weight": 0.7},
    "squared-l2": {},
    "elastic-net": {"ratio": 0.3},
    "group-l1": {"groups": [0, 1, 0, 2, 1, 0]},
    "nuclear-norm": {},
    "total-variation": {},
    "l0": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_set_keeps_its_contract(name: str) -> None:
    check_part(of.constraint_set(name, **SETS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", REGULARIZERS)
def test_a_regularizer_keeps_its_contract(name: str) -> None:
    check_part(of.part(Regularizer, {"name": name, **REGULARIZERS[name]}))


@pytest.mark.parametrize("objective", CONVEX, ids=lambda each: each.name)
def test_an_objective_keeps_its_contract(objective: Objective) -> None:
    check_part(objective)


def test_problems_and_data_sets_keep_their_contracts() -> None:
    crowd = of.dataset("synthetic.single-coin", workers=10, tasks=50)
    check_part(crowd)
    check_part(of.problem(dataset=crowd))
    fit = LeastSquares(matrix=np.sin(np.arange(60.0)).reshape(10, 6), target=np.arange(10.0))
    check_part(Minimize(fit, over=Box(lower=-1.0)))
    check_part(of.Composite(fit, plus="l1"))
    check_part(of.Projection(TARGET, onto=L1Ball(radius=1.0)))


def test_every_core_set_and_regularizer_is_tried_here() -> None:
    from optiframe.registry.registry import registry

    core = [e for e in registry().entries("constraint set") if e.path.startswith("optiframe.problems")]
    # SciPy's constrained methods take "nonlinear", which has no projection to look at.
    assert {e.name for e in core} - set(SETS) - set(SHAPES) == {"whole-space", "nonlinear"}
    parts = {e.name for e in registry().entries("part") if e.name.startswith("regularizer.")}
    assert {f"regularizer.{name}" for name in REGULARIZERS} >= {
        name for name in parts if registry().get("part", name).__module__.startswith("optiframe.problems")
    }


def broken(part: object) -> dict[str, str]:
    return {each.name: each.failure for each in outcomes(part) if each.failure}


# Sets that break one rule


class Scaled(ConstraintSet):
    """A ball of the sum of absolute values, whose projection scales the point."""

    name = "twin.scaled"

    def project(self, v):
        return v / max(1.0, float(np.abs(v).sum()))


class Leaky(Box):
    """A box whose projection stays a little outside."""

    name = "twin.leaky"

    def project(self, v):
        return np.clip(v, self.lower - 1e-3, self.upper + 1e-3)

    def violation(self, x):
        return float(np.linalg.norm(x - np.clip(x, self.lower, self.upper)))


class Drifting(Box):
    """A box whose projection moves its own points towards the middle."""

    name = "twin.drifting"

    def project(self, v):
        return 0.9 * np.clip(v, self.lower, self.upper)

    def violation(self, x):
        return float(np.linalg.norm(x - np.clip(x, self.lower, self.upper)))


class Writing(Box):
    """A box that projects in place."""

    name = "twin.writing"

    def project(self, v):
        return np.clip(v, self.lower, self.upper, out=v)


class Blind(L2Ball):
    """A ball that sees no violation."""

    name = "twin.blind"

    def violation(self, x):
        return 0.0 if np.isfinite(x).all() else math.inf


class Hollow(ConstraintSet):
    """A sphere, said to be convex."""

    name = "twin.hollow"

    def project(self, v):
        return v / np.linalg.norm(v)


class Halved(ConstraintSet):
    """A sphere, whose projection leads to its points without negative entries, the nearest of these."""

    name = "twin.halved"
    convex = False

    def project(self, v):
        kept = np.maximum(v, 0.0) if v.max() > 0 else np.where(v == v.max(), 1.0, 0.0)
        return kept / np.linalg.norm(kept)

    def violation(self, x):
        return abs(float(np.linalg.norm(x)) - 1.0) if np.isfinite(x).all() else math.inf


class Orthogonalized(ConstraintSet):
    """Orthonormal columns by Gram and Schmidt: a way into the set, and not the nearest."""

    name = "twin.orthogonalized"
    convex = False

    def check_shape(self, shape):
        if len(shape) != 2:
            raise of.InvalidInput("give a matrix")

    def project(self, v):
        q, r = np.linalg.qr(v)
        return q * np.where(np.diag(r) < 0, -1.0, 1.0)


class Joined(L2Ball):
    """A ball, said to be separable."""

    name = "twin.joined"
    separable = True


class Short(L2Ball):
    """A ball whose farthest point is half way."""

    name = "twin.short"

    def farthest(self, d):
        return super().farthest(d) / 2


class Wider(L2Ball):
    """A ball that is told to CVXPY with twice its radius."""

    name = "twin.wider"

    def as_cvxpy(self, x):
        return L2Ball(radius=2 * self.radius).as_cvxpy(x)


class Outside(L2Ball):
    """A ball whose starting point lies outside."""

    name = "twin.outside"

    def inside(self, shape):
        return np.full(shape, 10.0)


BOUNDS = {"lower": -1.0, "upper": 1.0}


@pytest.mark.parametrize(
    ("twin", "check", "text"),
    [
        (Scaled(), "no point of the set is nearer than the projection", "project is not the nearest point"),
        (Leaky(**BOUNDS), "a projection lies in the set", "has the violation"),
        (Drifting(**BOUNDS), "projecting twice changes nothing", "moves it by"),
        (Writing(**BOUNDS), "a projection lies in the set", "project changes its argument"),
        (Blind(radius=1.0), "violation tells inside from outside", "its projection is"),
        (Halved(), "violation tells inside from outside", "its projection is"),
        (Orthogonalized(), "no point of the set is nearer than the projection", "is not the nearest point"),
        (Hollow(), "a convex set holds the middle of its points", "set convex = False"),
        (Joined(radius=1.0), "a separable set projects each entry for itself", "the projection of others"),
        (Short(radius=1.0), "the farthest point is a member and farthest", "and a point of the set"),
        (Wider(radius=1.0), "other forms describe the same set", "is inside as_cvxpy"),
        (Outside(radius=1.0), "a start lies inside", "whose violation is"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_set_that_breaks_a_rule_fails_for_it(twin: ConstraintSet, check: str, text: str) -> None:
    assert text in broken(twin)[check]


def test_a_projection_into_a_part_of_a_set_fails_for_nothing_else() -> None:
    assert set(broken(Halved())) == {"violation tells inside from outside"}
    assert set(broken(Orthogonalized())) == {"no point of the set is nearer than the projection"}


def test_scaling_into_a_ball_fails_for_nothing_else_and_so_needs_the_search() -> None:
    assert set(broken(Scaled())) == {"no point of the set is nearer than the projection"}


# Objectives


class Tilted(SquaredDistance):
    """One entry of the gradient has the wrong sign."""

    name = "twin.tilted"

    def gradient(self, x):
        slope = x - self.to
        slope[0] = -slope[0]
        return slope


class Forgetful(SquaredDistance):
    """Another value each time."""

    name = "twin.forgetful"
    calls: ClassVar = itertools.count()

    def value(self, x):
        return super().value(x) + next(self.calls)


class Wavy(Objective):
    """Not convex, and says that it is."""

    name = "twin.wavy"
    convex = True

    @property
    def shape(self):
        return (6,)

    def value(self, x):
        return float(np.cos(x).sum())


class Doubled(SquaredDistance):
    """Told to CVXPY twice."""

    name = "twin.doubled"

    def as_cvxpy(self, x):
        return 2 * super().as_cvxpy(x)


class Unrooted(SquaredDistance):
    """Residuals without their root."""

    name = "twin.unrooted"

    def residuals(self, x):
        return 2 * super().residuals(x)


class Loose(SquaredDistance):
    """A conjugate that is too large."""

    name = "twin.loose"

    def conjugate(self, y):
        return super().conjugate(y) + 1.0


class Hasty(LeastSquares):
    """Forgets the mean where it computes both."""

    name = "twin.hasty"

    def value_and_gradient(self, x):
        value, gradient = super().value_and_gradient(x)
        return value, len(self) * gradient


class Half(LeastSquares):
    """Rows taken count twice."""

    name = "twin.half"

    def take(self, indices):
        part = super().take(indices)
        return LeastSquares(matrix=2 * part.matrix, target=part.target)


@pytest.mark.parametrize(
    ("twin", "check", "text"),
    [
        (Tilted(to=TARGET), "derivatives fit the values", "the gradient is off"),
        (Forgetful(to=TARGET), "a value is one number", "at the same point"),
        (Wavy(), "a convex function lies below its chords", "set convex = False"),
        (Doubled(to=TARGET), "cvxpy has the same value", "the form for CVXPY has"),
        (Unrooted(to=TARGET), "residuals and quadratic form fit the value", "half the squared norm"),
        (Loose(to=TARGET), "the conjugate bounds from above", "and not 0"),
        (
            Hasty(matrix=np.eye(6), target=TARGET),
            "value and gradient in one are those of two calls",
            "another gradient than gradient does",
        ),
        (Half(matrix=np.eye(6), target=TARGET), "parts of a sum add up", "over all of its terms"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_an_objective_that_breaks_a_rule_fails_for_it(twin: Objective, check: str, text: str) -> None:
    assert text in broken(twin)[check]


# Regularizers


class Hasty(L1):
    """Shrinks by half of what it should."""

    name = "regularizer.hasty"

    def prox(self, v, step):
        return super().prox(v, step / 2)


class Weightless(L1):
    """Forgets its weight."""

    name = "regularizer.weightless"

    def value(self, x):
        return float(np.abs(x).sum())


class Polar(L1):
    """A dual norm that is too small."""

    name = "regularizer.polar"

    def polar(self, y):
        return super().polar(y) / 10


class Steep(Regularizer):
    """A smooth penalty with the wrong slope."""

    name = "regularizer.steep"

    def value(self, x):
        return self.weight * float(np.sum(x**2))

    def gradient(self, x):
        return self.weight * x


class Coupled(Regularizer):
    """The norm, said to be separable."""

    name = "regularizer.coupled"
    separable = True

    def value(self, x):
        return self.weight * float(np.linalg.norm(x))


@pytest.mark.parametrize(
    ("twin", "check"),
    [
        (Hasty(), "a proximal step minimizes"),
        (Weightless(weight=2.0), "the weight scales the penalty"),
        (Polar(), "the dual norm bounds products"),
        (Polar(), "the conjugate bounds from above"),
        (Steep(), "a slope is the gradient of the penalty"),
        (Coupled(), "a separable penalty is a sum over entries"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_regularizer_that_breaks_a_rule_fails_for_it(twin: Regularizer, check: str) -> None:
    assert check in broken(twin)


# Problems and data sets


class Judged(Minimize):
    """Judges by what it saw before."""

    name = "twin.judged"
    calls: ClassVar = itertools.count()

    def objective(self, solution):
        return super().objective(solution) + next(self.calls)


class Below(Minimize):
    """A violation below zero."""

    name = "twin.below"

    def violation(self, solution):
        return -1.0


class Ragged(Minimize):
    """A table whose columns differ in length."""

    name = "twin.ragged"

    def to_tables(self, solution):
        return {"point": {"index": [1], "value": list(solution)}}


class Unscored(Minimize):
    """A baseline for a metric that there is not."""

    name = "twin.unscored"

    def metrics(self, solution):
        return {"error": 1.0}

    def baseline_metrics(self):
        return {"accuracy": 0.5}


class Misled(Minimize):
    """Recommends what nobody has."""

    name = "twin.misled"

    def recommended(self):
        return (("scipy.lbfgs", "it is smooth"), ("scipy.no-such", "it is smooth"))


class Bent(of.Problem):
    """Encodes another answer than it interprets."""

    name = "twin.bent"

    def formulate(self):
        inner = Minimize(SquaredDistance(to=TARGET))
        return Formulation(inner, interpret=lambda x: x, encode=lambda x: x + 1.0)


@pytest.mark.parametrize(
    ("twin", "check"),
    [
        (Judged, "an answer has one objective and one violation"),
        (Below, "an answer has one objective and one violation"),
        (Ragged, "findings and tables can be shown"),
        (Unscored, "metrics are numbers with names"),
        (Misled, "recommended solvers are there"),
        (Bent, "formulating keeps the answer"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_a_problem_that_breaks_a_rule_fails_for_it(twin: type, check: str) -> None:
    problem = twin() if twin is Bent else twin(SquaredDistance(to=TARGET))
    assert check in broken(problem)


class Changing(DataSet):
    """Other data each time."""

    name = "twin.changing"
    problem = "projection"
    calls: ClassVar = itertools.count()

    def inputs(self):
        return {"point": [float(next(self.calls))], "onto": "non-negative"}


class Refused(DataSet):
    """Inputs that its problem does not have."""

    name = "twin.refused"
    problem = "projection"
    size: int = Field(default=3, description="entries")

    def inputs(self):
        return {"points": [0.0] * self.size, "onto": "non-negative"}


def test_a_data_set_that_breaks_a_rule_fails_for_it() -> None:
    assert "a seed that is a field" in broken(Changing())["inputs are the same each time"]
    assert "unknown key" in broken(Refused())["inputs make the problem it is for"]


class Lost(L2Ball):
    """A set that cannot be sent to another process."""

    name = "twin.lost"

    def __reduce__(self):
        raise TypeError("no")


class Lenient(L2Ball):
    """A set that takes any field."""

    name = "twin.lenient"

    @classmethod
    def load(cls, **inputs):
        return cls(radius=inputs["radius"])


class Shifting(L2Ball):
    """A set that reads another radius than it was given."""

    name = "twin.shifting"

    @classmethod
    def load(cls, **inputs):
        return cls(**{**inputs, "radius": 2.0 * inputs["radius"]})


@pytest.mark.parametrize(
    ("twin", "check"),
    [
        (Lost, "a pickled copy is equal"),
        (Lenient, "unknown fields are refused"),
        (Shifting, "fields survive a toml file"),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_what_every_part_must_keep(twin: type, check: str) -> None:
    assert check in broken(twin(radius=1.0))


def test_an_error_of_a_part_is_a_failure_with_its_place() -> None:
    class Raising(L2Ball):
        """Raises."""

        name = "twin.raising"

        def project(self, v):
            raise KeyError("gone")

    assert (
        "KeyError: 'gone' at tests/test_part_checks.py" in broken(Raising(radius=1.0))["a start lies inside"]
    )


def test_what_is_no_part_is_refused_and_no_two_checks_have_one_name() -> None:
    with pytest.raises(of.InvalidInput, match="a solver is checked by SolverContract"):
        checks_of(of.solver("scipy.lbfgs"))
    box, distance = Box(lower=0.0), SquaredDistance(to=TARGET)
    for part in (box, distance, L1(), Minimize(distance), Refused()):
        names = [check.__name__ for check in checks_of(part)]
        assert len(names) == len(set(names)) > 3


def check_steps_become_shorter(subject: Subject) -> None:
    """Step 10 is shorter than step 1."""
    if subject.part.length(10) >= subject.part.length(1):
        subject.fail("step 10 is as long as step 1")


class Schedule(Part):
    """How long the k-th step is; each piece must shorten them."""

    family = "schedule"
    contract = (check_steps_become_shorter,)

    @abstractmethod
    def length(self, k):
        """Length of step k."""


class Harmonic(Schedule):
    """1/k."""

    name = "schedule.harmonic"

    def length(self, k):
        return 1 / k


class Constant(Schedule):
    """Always 1."""

    name = "schedule.constant"

    def length(self, k):
        return 1.0


def test_a_family_of_ones_own_brings_its_checks() -> None:
    check_part(Harmonic())
    assert [check.__name__ for check in checks_of(Harmonic())][-1] == "check_steps_become_shorter"
    assert Subject(Harmonic()).tried_on == "examples that the schedule checks make"
    assert broken(Constant()) == {
        "steps become shorter": "schedule.constant: step 10 is as long as step 1",
    }


def test_a_failing_part_says_which_rule() -> None:
    with pytest.raises(AssertionError, match=r"no point .*: twin\.scaled: project is not"):
        check_part(Scaled(), shape=(4,))
    assert math.isclose(float(np.abs(Scaled().project(TARGET)).sum()), 1.0)


@pytest.mark.slow  # processes
def test_the_command_checks_parts_by_name(tmp_path: Path) -> None:
    shown = run_in(tmp_path, "check", "l1-ball", "--set", "radius=1", "--shape", "3,2", code=0).stdout
    assert shown.startswith("l1-ball on points of shape (3, 2)")
    assert "11 of 11 checks passed, 1 not applicable" in shown
    (tmp_path / "mine.py").write_text(
        "import optiframe\n\n\n@optiframe.register\nclass Scaled(optiframe.ConstraintSet):\n"
        '    """Scaled."""\n\n    name = "twin.scaled"\n\n'
        "    def project(self, v):\n        return v / max(1.0, float(abs(v).sum()))\n",
        encoding="utf-8",
    )
    mine = ("--import", "mine.py", "check", "twin.scaled", "--only", "nearer")
    failed = run_in(tmp_path, *mine, code=1).stdout
    assert "project is not the nearest point" in failed
    none = run_in(tmp_path, "check", "box", "--only", "bytes decode", code=2).stderr
    assert "no check has these words; the checks are: fields survive a toml file" in none
    (tmp_path / "lie.py").write_text(
        "import optiframe\nfrom optiframe_comrade import Attack\n\n\n"
        "@optiframe.register\nclass Reversed(Attack):\n"
        '    """Turns the vector in place."""\n\n    name = "attack.reversed"\n\n'
        "    def falsify(self, vector, situation):\n        vector *= -1\n        return vector\n",
        encoding="utf-8",
    )
    lie = ("--import", "lie.py", "check", "attack.reversed", "--only", "writes")
    shown = run_in(tmp_path, *lie, code=1).stdout
    assert shown.startswith("attack.reversed on examples that the attack checks make")
    assert "falsify changes its argument; work on a copy" in shown
    wrong = run_in(tmp_path, "check", "l1-ball", code=2).stderr
    assert "radius: is missing (parameters are given by --set key=value)" in wrong
    assert "--shape must be whole numbers" in run_in(tmp_path, "check", "box", "--shape", "a", code=2).stderr
