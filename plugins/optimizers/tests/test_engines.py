"""Engines of other libraries by name: the contract, their limits, and what they cannot take."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import autograd.numpy as anp
import numpy as np
import pytest
from optiframe_optimizers.collections import cutest
from optiframe_optimizers.solvers import (
    celer,
    cma,
    cobyqa,
    cvxpy,
    engines,
    ipopt,
    nevergrad,
    nlopt,
    optax,
    optimistix,
    skglm,
    sklearn,
)

import optiframe as of
from optiframe import Budget, Composite, Minimize, Status, Unsuited
from optiframe.problems.objectives.losses import LeastSquares
from optiframe.problems.sets.vector_sets import Box, L2Ball
from optiframe.testing import SolverContract

LOCAL = (
    nlopt.Bobyqa,
    nlopt.Newuoa,
    nlopt.Cobyla,
    nlopt.NelderMead,
    nlopt.Sbplx,
    nlopt.Praxis,
    nlopt.Lbfgs,
    nlopt.TruncatedNewton,
    nlopt.Slsqp,
    nlopt.Mma,
    nlopt.Ccsaq,
    nlopt.Direct,
    nlopt.Crs,
    cma.CmaEs,
    cobyqa.Cobyqa,
)
GLOBAL = (nlopt.Direct, nlopt.Crs, nlopt.Isres, nlopt.Esch, cma.CmaEs)


def bowl() -> LeastSquares:
    return LeastSquares(matrix=[[2.0, 0.5], [0.0, 1.0], [1.0, 1.0]], target=[2.0, 3.0, 1.0])


class OfAnEngine(SolverContract):
    """The contract on a smooth problem and one within bounds, as far as the engine takes them."""

    budget = Budget(iterations=2000)

    def instances(self) -> list[Any]:
        problems = [Minimize(bowl()), Minimize(bowl(), over=Box(lower=-4.0, upper=[0.5, 4.0]))]
        solver: Any = self.solver
        return [each for each in problems if of.why_unsuited(each, solver) is None]


for _cls in LOCAL:
    _name = f"Test{_cls.__module__.rpartition('.')[2].title()}{_cls.__name__}"
    _contract = type(_name, (OfAnEngine,), {"solver": _cls(), "__doc__": _cls.__doc__})
    globals()[_name] = pytest.mark.slow(_contract) if _cls in (cma.CmaEs, cobyqa.Cobyqa) else _contract


@pytest.mark.slow
class TestNevergrad(OfAnEngine):
    """It takes a second to be imported."""

    solver = nevergrad.Nevergrad()
    seconds = 5.0
    budget = Budget(iterations=500)


@pytest.mark.slow
class TestOptax(OfAnEngine):
    """JAX compiles its steps."""

    solver = optax.Optax(rate=0.05)
    seconds = 5.0


OPTIMISTIX = (
    optimistix.Bfgs(),
    optimistix.Lbfgs(),
    optimistix.NonlinearCg(),
    optimistix.GradientDescent(rate=0.1),
    optimistix.LevenbergMarquardt(),
    optimistix.GaussNewton(),
    optimistix.Dogleg(),
)

for _one in OPTIMISTIX:  # JAX compiles the steps, for each shape
    _name = f"TestOptimistix{type(_one).__name__}"
    _contract = type(_name, (OfAnEngine,), {"solver": _one, "seconds": 10.0, "__doc__": type(_one).__doc__})
    globals()[_name] = pytest.mark.slow(_contract)


needs_ipopt = pytest.mark.skipif(
    find_spec("cyipopt") is None, reason="Ipopt is a library of the system, or comes by cyipopt-wheels"
)


@needs_ipopt
class TestIpopt(OfAnEngine):
    """An interior point: bounds are active in the limit only."""

    solver = ipopt.Ipopt()


@needs_ipopt
@pytest.mark.parametrize("over", [L2Ball(radius=1.0), "simplex"], ids=["ball", "simplex"])
def test_ipopt_finds_what_projected_gradients_find(over: Any) -> None:
    problem = Minimize(bowl(), over=over)
    result = of.solve(problem, "ipopt", progress=False)
    exact = of.solve(problem, "gradient.projected", budget={"tolerance": 1e-10}, progress=False)
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(exact.objective, abs=1e-6)


@needs_ipopt
def test_ipopt_uses_second_derivatives_where_it_can() -> None:
    problem = of.problem(dataset={"name": "cutest.problem", "instance": "ROSENBR"})
    counts = {"hessian": 0}

    class Counted(cutest.CutestObjective):
        def hessian(self, x: Any) -> Any:
            counts["hessian"] += 1
            return super().hessian(x)

    counted = Minimize(Counted(instance="ROSENBR"), start=problem.start)
    assert of.solve(counted, "ipopt", progress=False).objective == pytest.approx(0.0, abs=1e-12)
    assert counts["hessian"] > 5


@needs_ipopt
@pytest.mark.parametrize("where", ["value", "gradient", "constraint"])
def test_what_a_function_raises_comes_out_of_ipopt(where: str) -> None:
    class Mine(Exception):
        pass

    def broken(x: Any) -> Any:
        raise Mine

    value = broken if where == "value" else (lambda x: float(x @ x))
    gradient = broken if where == "gradient" else (lambda x: 2 * x)
    over = {"name": "nonlinear", "function": broken, "lower": 0.0, "jacobian": broken}
    problem = Minimize(
        of.from_function(value, 2, gradient=gradient), over=over if where == "constraint" else Box(lower=-1.0)
    )
    with pytest.raises(Mine):
        of.solve(problem, "ipopt", progress=False)


@needs_ipopt
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
def test_ipopt_without_values_is_never_converged() -> None:
    function = of.from_function(lambda x: float("nan"), 2, gradient=lambda x: 0 * x)
    assert of.solve(Minimize(function), "ipopt", progress=False).status is Status.DIVERGED


def plain(x: Any) -> float:
    """A function that autograd cannot follow."""
    return float((x[0] - 1) ** 2 + abs(float(x[1]) + 0.5) ** 1.5)


def lasso(loss: str = "least-squares", penalty: str = "l1", **more: Any) -> Composite:
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((30, 12))
    target = matrix[:, :3] @ [1.0, 2.0, -1.0] + 0.1 * rng.standard_normal(30)
    if loss == "logistic":
        target = np.sign(target)
    if penalty == "group-l1":
        more["groups"] = [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]
    plus = {"name": f"regularizer.{penalty}", "weight": 0.05, **more}
    return Composite({"name": loss, "matrix": matrix, "target": target}, plus=plus)


@pytest.mark.slow  # skglm compiles
class TestSkglm(SolverContract):
    """Working sets on a small Lasso."""

    solver = skglm.SkglmComposite()
    problem = staticmethod(lasso)
    seconds = 5.0


class TestScs(OfAnEngine):
    """Operator splitting on quadratic programs."""

    solver = cvxpy.Scs()


class TestOsqp(OfAnEngine):
    """Operator splitting on quadratic programs."""

    solver = cvxpy.Osqp()


@pytest.mark.parametrize("name", ["cvxpy.clarabel", "cvxpy.scs", "cvxpy.osqp", "cvxpy.highs"])
def test_engines_of_cvxpy_agree_to_the_tolerance_they_are_given(name: str) -> None:
    problem = Minimize(bowl(), over="simplex")
    exact = of.solve(problem, "gradient.projected", budget={"tolerance": 1e-12}, progress=False)
    result = of.solve(problem, name, budget={"tolerance": 1e-9}, progress=False)
    assert result.detail.engine == name.removeprefix("cvxpy.").upper()
    assert result.objective == pytest.approx(exact.objective, abs=1e-7)


@pytest.mark.parametrize("name", ["cvxpy.osqp", "cvxpy.highs"])
def test_engines_for_quadratic_programs_refuse_cones(name: str) -> None:
    with pytest.raises(Unsuited, match="neither linear nor quadratic"):
        of.solve(Minimize(bowl(), over=L2Ball(radius=1.0)), name)


class TestCeler(SolverContract):
    """Working sets on a small Lasso."""

    solver = celer.CelerComposite()
    problem = staticmethod(lasso)


class TestSklearn(SolverContract):
    """Cyclic descent on a small Lasso."""

    solver = sklearn.SklearnComposite()
    problem = staticmethod(lasso)


@pytest.mark.parametrize("name", ["celer.composite", "sklearn.composite"])
@pytest.mark.parametrize(
    "given", [("least-squares", "l1"), ("least-squares", "elastic-net"), ("logistic", "l1")]
)
def test_black_boxes_find_what_proximal_gradients_find(name: str, given: tuple[str, str]) -> None:
    problem = lasso(*given)
    theirs = of.solve(problem, name, budget={"tolerance": 1e-10}, progress=False)
    ours = of.solve(problem, "gradient.proximal", budget={"tolerance": 1e-10}, progress=False)
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-8)


@pytest.mark.thorough  # skglm compiles each pair
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
@pytest.mark.parametrize("penalty", ["l1", "elastic-net", "group-l1"])
def test_skglm_finds_what_proximal_gradients_find(loss: str, penalty: str) -> None:
    problem = lasso(loss, penalty)
    theirs = of.solve(problem, "skglm.composite", budget={"tolerance": 1e-9}, progress=False)
    ours = of.solve(problem, "gradient.proximal", budget={"tolerance": 1e-9}, progress=False)
    assert theirs.status is Status.CONVERGED
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-12)


def camel() -> of.Objective:
    """The six-hump camel function: six local minima, two of them global, of value -1.0316."""

    def value(x: Any) -> Any:
        a, b = x
        return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2

    return of.from_function(value, 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")  # a search may end at its limit
@pytest.mark.parametrize("method", GLOBAL, ids=lambda cls: cls.name)
def test_global_engines_find_the_lowest_of_six_minima(method: type) -> None:
    problem = Minimize(camel(), over=Box(lower=[-3.0, -2.0], upper=[3.0, 2.0]))
    budget = Budget(iterations=5000)
    result, again = (of.solve(problem, method(), budget=budget, seed=3, progress=False) for _ in range(2))
    assert result.objective == pytest.approx(-1.0316285, abs=1e-2 if method is nlopt.Esch else 1e-4)
    np.testing.assert_array_equal(result.solution, again.solution)


@pytest.mark.slow
@pytest.mark.parametrize("method", [nlopt.Cobyla, nlopt.Slsqp, nlopt.Mma, nlopt.Ccsaq, cobyqa.Cobyqa])
@pytest.mark.parametrize(
    "over",
    [L2Ball(radius=1.0), {"name": "half-space", "normal": [-1.0, -2.0], "offset": -8.0}],
    ids=["ball", "rows"],
)
def test_constraints_are_kept(method: type, over: Any) -> None:
    problem = Minimize(bowl(), over=over)
    result = of.solve(problem, method(), budget=Budget(tolerance=1e-7), progress=False)
    exact = of.solve(problem, "gradient.projected", budget={"tolerance": 1e-10}, progress=False)
    assert result.objective == pytest.approx(exact.objective, abs=1e-5)
    assert result.violation <= 1e-6
    if method is nlopt.Slsqp:
        assert result.status is Status.CONVERGED


def test_an_equation_reaches_the_engines_that_take_one() -> None:
    line = Minimize(bowl(), over={"name": "affine", "matrix": [[1.0, 1.0]], "target": [1.0]})
    exact = of.solve(line, "scipy.slsqp", progress=False)
    for name in ("nlopt.slsqp", "nlopt.cobyla", "cobyqa"):
        assert of.solve(line, name, progress=False).objective == pytest.approx(exact.objective, abs=1e-6)
    with pytest.raises(Unsuited, match="has equations, and the method takes inequalities only"):
        of.solve(line, "nlopt.mma")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cobyqa", "scipy.cobyqa", "nlopt.cobyla", "nlopt.slsqp"])
def test_sparse_rows_beside_a_fixed_entry_reach_an_engine(name: str) -> None:
    problem = of.problem(dataset={"name": "cutest.problem", "instance": "HS35MOD"})
    result = of.solve(problem, name, progress=False)
    assert result.objective == pytest.approx(0.25, abs=1e-6)
    assert result.violation <= 1e-9


@pytest.mark.parametrize(
    ("method", "problem", "reason"),
    [
        ("nlopt.newuoa", Minimize(bowl(), over=Box(lower=0.0)), "takes no bounds, and the set is 'box'"),
        (
            "nlopt.bobyqa",
            Minimize(bowl(), over="simplex"),
            "more than bounds, and the method takes bounds only",
        ),
        ("nlopt.crs", Minimize(bowl()), "not every entry of a point has a lower and an upper bound"),
        ("nlopt.lbfgs", Minimize(of.from_function(plain, 2)), "give its gradient"),
        ("cma", Minimize({"name": "squared-distance", "to": [1.0]}), "two or more entries"),
        ("cma", Minimize(bowl(), over=Box(lower=[0.0, 1.0], upper=[1.0, 1.0])), "two or more entries"),
        ("cobyqa", Minimize(bowl(), over={"name": "l1-ball", "radius": 1.0}), "cannot be written as SciPy"),
        ("skglm.composite", Composite(bowl(), plus="regularizer.l0"), "one regularizer: l1, elastic-net"),
        (
            "skglm.composite",
            Composite({"name": "huber", "matrix": [[1.0]], "target": [1.0]}, plus="regularizer.l1"),
            "the objective is 'huber'",
        ),
        (
            "skglm.composite",
            Composite(bowl(), over=Box(lower=0.0), plus="regularizer.l1"),
            "only 'non-negative'",
        ),
    ],
)
def test_what_an_engine_cannot_take_is_refused_in_words(method: str, problem: Any, reason: str) -> None:
    with pytest.raises(Unsuited, match=reason):
        of.solve(problem, method)


@pytest.mark.parametrize(
    "name",
    [
        "nlopt.bobyqa",
        "cma",
        "cobyqa",
        "skglm.composite",
        "nevergrad",
        "optax",
        "optimistix.bfgs",
        "ipopt",
    ],
)
def test_without_its_library_an_engine_names_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = of.solver(name)
    monkeypatch.setattr(type(solver), "requires", ("a-library-that-is-not-there",))
    assert "not installed; run: pip install" in str(engines.absent(solver))


@pytest.mark.parametrize("name", ["nlopt.bobyqa", "nlopt.cobyla", "nlopt.lbfgs", "cma", "cobyqa"])
def test_evaluations_end_an_engine_with_the_best_point_seen(name: str) -> None:
    problem = Minimize({"name": "cutest", "instance": "ROSENBR"}, start=[-1.2, 1.0])
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, name, budget=Budget(evaluations=20), progress=False)
    assert result.status is Status.EVALUATION_LIMIT
    assert result.history["evaluations"][-1] <= 20
    assert result.objective == result.history["objective"][-1] < problem.objective(problem.start)


@pytest.mark.parametrize("name", ["nlopt.bobyqa", "nlopt.lbfgs", "nlopt.crs", "cma", "cobyqa"])
def test_what_a_function_raises_comes_out_of_the_engine(name: str) -> None:
    class Mine(Exception):
        pass

    def value(x: Any) -> float:
        raise Mine

    function = of.from_function(value, 2, gradient=lambda x: x)
    with pytest.raises(Mine):
        of.solve(Minimize(function, over=Box(lower=-1.0, upper=1.0)), name, progress=False)


@pytest.mark.filterwarnings("ignore::optiframe.NotConverged")
@pytest.mark.parametrize(
    "name", ["nlopt.bobyqa", "nlopt.lbfgs", "nlopt.crs", "nlopt.direct", "cma", "cobyqa"]
)
def test_an_objective_without_values_is_never_converged(name: str) -> None:
    function = of.from_function(lambda x: float("nan"), 2, gradient=lambda x: 0 * x)
    problem = Minimize(function, over=Box(lower=-1.0, upper=1.0))
    result = of.solve(problem, name, budget=Budget(iterations=200), progress=False)
    assert result.status is not Status.CONVERGED
    assert not np.isfinite(result.objective)


def test_optimistix_takes_the_steps_that_it_takes_by_itself() -> None:
    library, jax = engines.library("optimistix"), engines.library("jax")

    def value(x: Any, args: Any) -> Any:
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    start = np.array([-1.2, 1.0])
    function = of.from_function(lambda x: value(x, None), 2)
    for name in ("optimistix.bfgs", "optimistix.lbfgs", "optimistix.nonlinear-cg"):
        solver: Any = of.solver(name)
        with pytest.warns(of.NotConverged):
            ours = of.solve(Minimize(function, start=start), solver, budget={"iterations": 9}, progress=False)
        with optax.in_64_bits():
            theirs = library.minimise(
                value, solver._method(), jax.numpy.array(start), max_steps=9, throw=False
            )
            assert ours.solution == pytest.approx(np.array(theirs.value), rel=1e-10), name


@pytest.mark.parametrize("name", ["optimistix.levenberg-marquardt", "optimistix.dogleg"])
def test_optimistix_fits_a_curve_by_residuals(name: str) -> None:
    t = np.linspace(0.0, 2.0, 15)
    fit = of.from_residuals(lambda p: p[0] * anp.exp(-p[1] * t) - 3.0 * np.exp(-0.7 * t), 2)
    result = of.solve(Minimize(fit, start=np.ones(2)), name, progress=False)
    assert result.status is Status.CONVERGED
    assert result.solution == pytest.approx([3.0, 0.7], rel=1e-5)
    assert result.iterations < 20


@pytest.mark.parametrize("name", ["optax", "optimistix.lbfgs", "optimistix.dogleg"])
def test_what_a_function_raises_comes_out_of_jax_as_it_is(name: str) -> None:
    class Mine(Exception):
        pass

    def fails(x: Any) -> Any:
        raise Mine

    values = of.from_function(fails, 2, gradient=fails)
    function = of.from_residuals(fails, 2, jacobian=fails) if name == "optimistix.dogleg" else values
    with pytest.raises(Mine):
        of.solve(Minimize(function), name, progress=False)


def test_evaluations_end_optimistix_and_each_step_counts_a_value_and_a_gradient() -> None:
    problem = Minimize({"name": "cutest", "instance": "ROSENBR"}, start=[-1.2, 1.0])
    with pytest.warns(of.NotConverged):
        result = of.solve(problem, "optimistix.bfgs", budget=Budget(evaluations=21), progress=False)
    assert result.status is Status.EVALUATION_LIMIT
    assert result.iterations == 10
