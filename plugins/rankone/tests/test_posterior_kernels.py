"""The compiled steps of EM with priors against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from optiframe_rankone.kernels import posteriors, reference

from optiframe.testing import check_changes_meanwhile, check_kernel, check_refusals


def step_arguments(tasks: int, workers: int, classes: int, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    said = rng.random((tasks, workers)) < 0.4
    task, worker = np.nonzero(said)
    posterior = rng.dirichlet(np.ones(classes), tasks)
    given = {
        "first": np.concatenate([[0], np.cumsum(np.bincount(task, minlength=tasks))]),
        "worker": worker.astype(np.int32),
        "label": rng.integers(classes, size=len(task)).astype(np.int32),
        "weight": rng.uniform(0.1, 4, len(task)) if seed % 5 == 0 else np.empty(0),
    }
    return {
        **given,
        "known": (rng.random(tasks) < 0.2).astype(np.uint8),
        "posterior": posterior,
        "counts": reference.count_classes(**given, posterior=posterior, workers=workers),
        "abilities": (3.0, 1.5),
        "strength": 8.0,
        "odds": rng.uniform(0.5, 2, classes),
        "errors": rng.dirichlet(np.ones(classes), classes).T.copy(),
        "shares": posterior.sum(axis=0) if seed % 2 else np.empty(0),
        "without_own": seed % 3 > 0,
    }


sizes = given(
    tasks=st.integers(0, 60), workers=st.integers(1, 40), classes=st.integers(2, 7), seed=st.integers(0, 99)
)


@sizes
@example(tasks=3, workers=300, classes=3, seed=1)
def test_a_step_of_em_gives_what_its_reference_gives(
    tasks: int, workers: int, classes: int, seed: int
) -> None:
    given = step_arguments(tasks, workers, classes, seed)
    check_kernel(reference.pooled_posteriors, given, rtol=1e-12)
    labels = {key: given[key] for key in ("first", "worker", "label", "weight", "posterior")}
    check_kernel(reference.count_classes, {**labels, "workers": workers}, rtol=1e-14)


def test_wrong_arguments_are_refused_and_crash_nothing() -> None:
    given = step_arguments(9, 6, 3, 5)
    check_refusals(
        reference.pooled_posteriors,
        given,
        any_length={"counts"},
        any_number={"known"},
        optional={"shares", "weight"},
    )
    labels = {key: given[key] for key in ("first", "worker", "label", "weight", "posterior")}
    check_refusals(reference.count_classes, {**labels, "workers": 6}, optional={"weight"})


@pytest.mark.slow
def test_arrays_that_another_thread_changes_crash_nothing() -> None:
    given = step_arguments(1000, 60, 3, 1)
    check_changes_meanwhile(reference.pooled_posteriors, given)
    labels = {key: given[key] for key in ("first", "worker", "label", "weight", "posterior")}
    check_changes_meanwhile(reference.count_classes, {**labels, "workers": 60})


@pytest.mark.parametrize("weight", [[], [1000.0]])
def test_hundreds_of_labels_of_a_task_do_not_underflow(weight: list[float]) -> None:
    given = step_arguments(1, 1000, 2, 1)
    given["label"][:] = 0
    given["weight"] = np.repeat(weight, len(given["label"]))
    assert posteriors.pooled_posteriors(**given) >= 0
    assert np.isfinite(given["posterior"]).all()
