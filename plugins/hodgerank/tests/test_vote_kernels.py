"""Kernels for votes in C++ against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optiframe_hodgerank.kernels import reference_votes as reference
from optiframe_hodgerank.kernels import votes as compiled
from scipy.stats import binom

from optiframe.testing import check_changes_meanwhile, check_interruptible, check_kernel, check_refusals

compiled_only = pytest.mark.skipif(
    compiled.sides_p is reference.sides_p, reason="NumPy checks its own arguments"
)


def cast(count: int, items: int, workers: int, seed: int, *, once: bool = True) -> dict[str, Any]:
    """Votes in order of their workers; some workers may have none."""
    rng = np.random.default_rng(seed)
    each = rng.multinomial(count, [1 / workers] * workers)
    winner = rng.integers(items, size=count)
    return {
        "winner": winner,
        "loser": (winner + rng.integers(1, items, size=count)) % items,
        "weight": np.ones(count) if once else rng.choice([1.0, 2.0, 0.5], count),
        "first": np.append(0, np.cumsum(each)),
    }


def judged(votes: dict[str, Any], items: int, seed: int, scale: float = 1.0) -> dict[str, Any]:
    """With scores, and places for what is found."""
    rng = np.random.default_rng(seed)
    return votes | {
        "scores": scale * rng.standard_normal(items),
        "chance": np.zeros(len(votes["winner"])),
        "log_likelihood": np.zeros((len(votes["first"]) - 1, 11)),
    }


def believed(votes: dict[str, Any], seed: int) -> dict[str, Any]:
    """With chances of votes, and beliefs of which some are settled."""
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.full(11, 0.1), len(votes["first"]) - 1)
    return votes | {"chance": rng.uniform(1e-13, 1 - 1e-13, len(votes["winner"])), "belief": belief}


def sloped(votes: dict[str, Any], items: int, seed: int, pairs: int = 20) -> dict[str, Any]:
    """Arguments of `crowd_slopes`, with four groups of workers."""
    rng, known = np.random.default_rng(seed), believed(votes, seed)
    return votes | {
        "pair": rng.integers(pairs, size=len(votes["winner"])),
        "group": rng.integers(4, size=len(votes["first"]) - 1),
        "chance": known["chance"],
        "belief": known["belief"],
        "least": 1e-9,
        "slope": rng.random((4, items)),
        "curve": rng.random(pairs),
    }


def doubted(votes: dict[str, Any], items: int, seed: int) -> dict[str, Any]:
    """Arguments of `crowd_doubt`."""
    matrix = np.random.default_rng(seed).random((items, items))
    return believed(votes, seed) | {"least": 1e-3, "matrix": matrix}


drawn = st.tuples(st.integers(0, 300), st.integers(2, 30), st.integers(1, 40), st.integers(0, 10**6))


@given(size=drawn, once=st.booleans(), scale=st.sampled_from([0.0, 1.0, 40.0]))
@example(size=(5000, 12, 3, 0), once=True, scale=40.0)  # more than a block, and products that would underflow
@example(size=(5000, 12, 3, 0), once=False, scale=1.0)
def test_likelihoods_of_workers_are_those_of_numpy(size: Any, once: bool, scale: float) -> None:
    count, items, workers, seed = size
    votes = cast(count, items, workers, seed, once=once)
    check_kernel(reference.crowd_likelihoods, judged(votes, items, seed, scale), rtol=1e-12)


@given(size=drawn)
@example(size=(5000, 12, 3, 0))
def test_slopes_and_doubts_are_those_of_numpy(size: Any) -> None:
    count, items, workers, seed = size
    votes = cast(count, items, workers, seed, once=False)
    check_kernel(reference.crowd_slopes, sloped(votes, items, seed), rtol=1e-11)
    check_kernel(reference.crowd_doubt, doubted(votes, items, seed), rtol=1e-11)


@given(
    count=st.integers(1, 200), workers=st.integers(1, 9), seed=st.integers(0, 10**6), weighted=st.booleans()
)
def test_votes_are_sorted_by_worker_as_by_numpy(count: int, workers: int, seed: int, weighted: bool) -> None:
    check_kernel(reference.votes_by_worker, table(count, min(count, workers), seed, weighted=weighted))


def table(count: int, workers: int, seed: int, *, weighted: bool = True) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "workers": workers,
        "worker": rng.integers(-1, workers, size=count),
        "left": rng.integers(9, size=count),
        "right": rng.integers(9, size=count),
        "margin": rng.choice([-1.0, 0.0, 1.0], count),
        "weight": rng.random(count) if weighted else None,
        "merged": rng.integers(20, size=count),
        "pair": rng.integers(12, size=20),
    }


def tallied(pairs: int, items: int, seed: int, scale: float = 3.0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(items, size=(2, pairs))
    won, lost = rng.choice([0.0, 1.0, 2.5], (2, pairs))
    scores, places = scale * rng.standard_normal(items), (np.zeros(items), np.zeros(pairs))
    known = {"left": left, "right": right, "won": won, "lost": lost, "extra": 0.3, "scores": scores}
    return known | dict(zip(("slope", "curve"), places, strict=True))


@given(pairs=st.integers(0, 300), scale=st.sampled_from([0.0, 1.0, 400.0]), seed=st.integers(0, 10**6))
@example(pairs=2000, scale=1.0, seed=0)
def test_terms_of_bradley_terry_are_those_of_numpy(pairs: int, scale: float, seed: int) -> None:
    check_kernel(reference.bradley_terry_terms, tallied(pairs, 9, seed, scale), rtol=1e-12)


def product_of(pairs: int, items: int, seed: int) -> dict[str, Any]:
    rng, of_pairs = np.random.default_rng(seed), tallied(pairs, items, seed)
    known = {"left": of_pairs["left"], "right": of_pairs["right"], "weight": rng.random(pairs)}
    return known | {"v": rng.standard_normal(items), "product": np.zeros(items)}


@given(pairs=st.integers(0, 300), seed=st.integers(0, 10**6))
def test_products_with_the_laplacian_are_those_of_numpy(pairs: int, seed: int) -> None:
    check_kernel(reference.laplacian_product, product_of(pairs, 9, seed), rtol=1e-13)


def sides(workers: int, most: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    trials = rng.integers(0, most + 1, (workers, 3))
    share = rng.uniform(0.01, 0.99, (workers, 3))
    return {"trials": trials, "share": share, "seen": rng.integers(0, trials + 1), "p": np.zeros(workers)}


@given(workers=st.integers(0, 20), most=st.sampled_from([0, 3, 60]), seed=st.integers(0, 10**6))
@example(workers=4, most=9000, seed=0)
def test_p_of_sides_are_those_of_numpy(workers: int, most: int, seed: int) -> None:
    check_kernel(reference.sides_p, sides(workers, most, seed), rtol=1e-9)


def test_p_of_one_kind_is_that_of_a_binomial_number_down_to_tiny_tails() -> None:
    seen = np.array([60, 95, 100])
    found = np.empty(3)
    nothing = np.zeros(3, np.int64)
    trials = np.stack([np.full(3, 100), nothing, nothing], axis=1)
    compiled.sides_p(trials, np.full((3, 3), 0.5), np.stack([seen, nothing, nothing], axis=1), found)
    np.testing.assert_allclose(found, 2 * binom.sf(seen - 1, 100, 0.5), rtol=1e-9)


@pytest.mark.slow
def test_wrong_arguments_are_refused_and_crash_nothing() -> None:
    votes = cast(30, 8, 5, 0)
    check_refusals(reference.crowd_likelihoods, judged(votes, 8, 0), any_length={"scores"})
    check_refusals(reference.crowd_slopes, sloped(votes, 8, 0), any_length={"curve", "slope"})
    check_refusals(reference.crowd_doubt, doubted(votes, 8, 0))
    check_refusals(
        reference.votes_by_worker,
        table(30, 9, 0),
        any_length={"pair"},
        any_number={"worker", "workers", "left", "right", "pair"},
        optional={"weight"},
    )
    check_refusals(reference.bradley_terry_terms, tallied(30, 9, 0))
    check_refusals(reference.laplacian_product, product_of(30, 9, 0))
    check_refusals(reference.sides_p, sides(5, 60, 0), any_number={"trials"})


@compiled_only
def test_numbers_out_of_range_are_refused() -> None:
    of_workers = table(30, 9, 0)
    of_workers["worker"][7] = 9
    with pytest.raises(ValueError, match="codes"):
        compiled.votes_by_worker(*of_workers.values())
    with pytest.raises(ValueError, match="workers"):
        compiled.votes_by_worker(*(table(30, 9, 0) | {"workers": 31}).values())
    for name, wrong in (("trials", -1), ("trials", 2**33), ("share", 0.0), ("share", np.nan), ("seen", 61)):
        of_sides = sides(5, 60, 0)
        of_sides[name][3, 1] = wrong
        with pytest.raises(ValueError, match=r"trials|share|seen"):
            compiled.sides_p(*of_sides.values())


@compiled_only
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e308, -1.0])
def test_wrong_numbers_reach_no_memory_but_theirs(number: float) -> None:
    votes = cast(600, 8, 5, 0)
    for name in ("weight", "scores"):
        given_votes = judged(votes, 8, 0)
        given_votes[name] = np.full_like(given_votes[name], number)
        compiled.crowd_likelihoods(*given_votes.values())
    for name in ("weight", "chance", "belief"):
        of_slopes, of_doubts = sloped(votes, 8, 0), doubted(votes, 8, 0)
        of_slopes[name][:] = of_doubts[name][:] = number
        compiled.crowd_slopes(*of_slopes.values())
        compiled.crowd_doubt(*of_doubts.values())
    for name in ("won", "lost", "scores"):
        of_pairs = tallied(600, 9, 0)
        of_pairs[name][:] = number
        compiled.bradley_terry_terms(*of_pairs.values())


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    votes = cast(20_000, 50, 300, 0)
    check_changes_meanwhile(reference.crowd_likelihoods, judged(votes, 50, 0))
    check_changes_meanwhile(reference.crowd_slopes, sloped(votes, 50, 0))
    check_changes_meanwhile(reference.crowd_doubt, doubted(votes, 50, 0))
    check_changes_meanwhile(reference.votes_by_worker, table(20_000, 300, 0))
    check_changes_meanwhile(reference.bradley_terry_terms, tallied(20_000, 50, 0))
    check_changes_meanwhile(reference.laplacian_product, product_of(20_000, 50, 0))
    check_changes_meanwhile(reference.sides_p, sides(200, 60, 0))


# A pass of NumPy ends before Ctrl-C does anything: without the extension passes are short ones.
FEWER = 100 if compiled.crowd_doubt is reference.crowd_doubt else 1
LONG = f"""
import numpy as np
from optiframe_hodgerank.kernels import votes
n, count, workers = 2000, {4_000_000 // FEWER}, {40_000 // FEWER}
rng = np.random.default_rng(0)
winner = rng.integers(0, n, count)
loser = (winner + 1) % n
one, first = np.ones(count), np.arange(workers + 1) * (count // workers)
chance, belief = rng.random(count), np.full((workers, 11), 1 / 11)
zero, many = np.zeros(workers, np.int64), np.full((workers, 3), 600)
rows = np.zeros((n, n))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        "votes.crowd_likelihoods(winner, loser, one, first, np.zeros(n), chance, belief)",
        "votes.crowd_slopes(winner, loser, one, first, winner, zero, chance, belief, 0.0, rows[:1], rows[0])",
        "votes.crowd_doubt(winner, loser, one, first, chance, belief, 0.0, rows)",
        "votes.votes_by_worker(n, winner, winner, loser, one, one, winner, loser)",
        "votes.bradley_terry_terms(winner, loser, one, one, 0.1, np.zeros(n), np.zeros(n), chance)",
        "votes.laplacian_product(winner, loser, one, np.zeros(n), rows[0])",
        "votes.sides_p(many, np.full((workers, 3), 0.4), many // 3, np.zeros(workers))",
    ],
)
def test_an_interruption_is_noticed(kernel: str) -> None:
    check_interruptible(f'{LONG}print("ready", flush=True)\nwhile True:\n    {kernel}\n')
