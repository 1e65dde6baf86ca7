"""What no support can hold, in a group with a bound of 0, changes nothing about the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optiframe_tvcs import Groups, ThreeView, shadow_prices
from optiframe_tvcs.projection.certificate import compare
from optiframe_tvcs.projection.plan import ProjectionPlan
from tvcs_common import KINDS, Instance, random_instance, set_of

import optiframe
from optiframe import InvalidInput, Projection

from .support_twins import PATHS, best_worth, solve
from .test_exact import best_by_highs

HUGE = [1.0, 1e8, 1e30, 1e150]  # times the largest of the others


def with_closed_groups(seed: int, kind: str, largest: int = 300) -> tuple[Instance, np.ndarray]:
    """An instance some of whose groups have a bound of 0, and which elements are in them."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, kind, largest)
    bounds = instance.bounds
    rows, columns = (
        np.where(rng.random(len(caps)) < 0.2, 0, caps) for caps in (bounds.row_caps, bounds.column_caps)
    )
    instance = instance._replace(bounds=bounds._replace(row_caps=rows, column_caps=columns))
    closed = ProjectionPlan(*instance.bounds).closed
    return instance, np.zeros(len(instance.v), dtype=bool) if closed is None else closed


made = st.builds(with_closed_groups, st.integers(0, 10**6), st.sampled_from(KINDS))


def raised(v: np.ndarray, closed: np.ndarray, times: float) -> np.ndarray:
    """The point with huge entries where no support can hold them."""
    return np.where(closed, times * max(float(np.abs(v).max(initial=0.0)), 1e-3), v)


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
@given(drawn=made, times=st.sampled_from(HUGE))
def test_a_huge_worth_that_cannot_be_chosen_makes_no_other_coarser(
    path: str, drawn: tuple[Instance, np.ndarray], times: float
) -> None:
    instance, closed = drawn
    plan = ProjectionPlan(*instance.bounds)
    weights = raised(instance.v, closed, times) ** 2
    found, without = (solve(path, plan, w) for w in (weights, np.where(closed, 0.0, weights)))
    assert found.certificate == without.certificate
    assert found.certificate.holds
    assert np.array_equal(found.support, without.support)
    lone = instance._replace(v=np.where(closed, 0.0, instance.v))
    # Of the two the certified answer is the better: HiGHS ends within its own tolerance.
    assert found.certificate.primal == pytest.approx(best_by_highs(lone), rel=1e-8, abs=1e-30)
    # Given prices, those of the closed groups among them, change the way and not the answer.
    warm = solve(path, plan, weights, plan.solve(1.1 * weights).prices)
    assert warm.certificate.primal == found.certificate.primal
    rows, columns = np.append(found.prices.rows, 0.0), np.append(found.prices.columns, 0.0)
    prices = found.prices.total + rows[plan.bounds.row_labels] + columns[plan.bounds.column_labels]
    assert (weights - prices)[closed].max(initial=0.0) <= 1e-12 * weights.max(initial=0.0)


@pytest.mark.parametrize("largest", [3000, 12_000])  # one list, and lists of candidates
@pytest.mark.parametrize("times", [1e30, 1e200])
def test_points_are_projected_as_if_such_entries_were_zero(largest: int, times: float) -> None:
    for seed in range(3):
        instance, closed = with_closed_groups(seed, "gaussian", largest)
        over, v = set_of(instance), raised(instance.v, closed, times)
        wanted = over.project(np.where(closed, 0.0, v))
        assert np.array_equal(over.project(v), wanted)
        projector = over.projector()
        for size in (1.001, 1.0):
            found = projector.project(size * v)
        assert np.array_equal(found, wanted)
        assert np.array_equal(v * over.select_for(v).support, wanted)


@pytest.mark.parametrize("solver", ["tvcs.exact", "tvcs.greedy", "tvcs.pdhg"])
def test_solvers_leave_such_entries_out_of_their_unit(solver: str) -> None:
    over = ThreeView.of_matrix((3, 3), total=3, per_row=[0, 2, 2], per_column=[1, 1, 2])
    v = np.array([[1e40, 1.0, 1e41], [0.3, 0.2, 0.1], [0.25, 0.31, 0.35]])
    result = optiframe.solve(Projection(v, over), solver)
    assert result.solution.tolist() == [[0, 0, 0], [0.3, 0, 0], [0, 0.31, 0.35]]
    assert result.detail.certificate.holds
    assert result.detail.prices.rows[0] == pytest.approx(1e82)


@pytest.mark.parametrize("huge", [1e40, 1e120])
def test_the_reference_program_leaves_them_out_too(huge: float) -> None:
    over = ThreeView.of_matrix((3, 3), total=3, per_row=[0, 2, 2], per_column=[1, 1, 2])
    v = np.array([[huge, 1.0, -huge], [0.3, 0.2, 0.1], [0.25, 0.31, 0.35]])
    stated = over.projection_as_cvxpy(v)
    held = stated.program.solve(solver=stated.engine)
    assert np.array_equal(stated.read(), over.project(v))
    left = over.project(v) - v
    assert stated.objective(held) == pytest.approx(float(left.ravel() @ left.ravel()) / 2)


def test_gains_of_open_groups_are_exact_beside_a_huge_closed_one() -> None:
    over = ThreeView.of_matrix((3, 2), total=3, per_row=[0, 1, 2], per_column=[1, 2])
    worths = np.array([2.0**80, 8.0, 4.0, 3.0, 2.0, 1.0])
    found, best = shadow_prices(over, worths), best_worth(over, worths)
    for row in (1, 2):
        caps = [0, 1, 2]
        caps[row] += 1
        more = ThreeView.of_matrix((3, 2), total=3, per_row=caps, per_column=[1, 2])
        assert found.rows[row] == best_worth(more, worths) - best
    assert found.rows[0] == pytest.approx(2.0**80)
    assert (found.rows <= over.select(worths).prices.rows).all()


@pytest.mark.parametrize("path", PATHS)
def test_what_is_not_finite_is_refused_in_closed_groups_too(path: str) -> None:
    plan = ThreeView.of_matrix((2, 2), per_row=[0, 1]).plan
    for wrong in (np.nan, np.inf):
        with pytest.raises(InvalidInput, match=r"entry \[1\] of the values is"):
            solve(path, plan, np.array([1.0, wrong, 1.0, 1.0]))


def test_a_support_in_a_closed_group_is_not_proved() -> None:
    over = ThreeView(rows=Groups.of_labels(np.array([0, 1]), [0, 1]), size=2)
    found = over.select(np.array([5.0, 3.0]))
    assert found.support.tolist() == [False, True]
    assert found.prices.rows.tolist() == [5.0, 0.0]
    both = compare(np.array([5.0, 3.0]), over.plan.bounds, np.ones(2, bool), found.support, squared=False)
    assert not both.holds
    assert both.reason == "row group 0 holds more elements than its bound allows"
