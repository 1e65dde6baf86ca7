"""crowd-kit's answers are passed on as they are, and agree with our own twins."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from crowdkit import aggregation as kit
from numpy.typing import NDArray
from optiframe_peers.crowd.dawid_skene import DawidSkene, OneCoin
from optiframe_peers.crowd.glad import Glad
from optiframe_peers.crowd.kos import Kos
from optiframe_peers.crowd.majority import Majority
from optiframe_peers.crowd.mmsr import Mmsr
from optiframe_peers.crowd.wawa import Wawa
from optiframe_peers.libraries import visiting
from optiframe_rankone.problem import LabelAggregation

import optiframe as of
from optiframe.testing import SolverContract

pytestmark = pytest.mark.slow  # seconds together; `make quick` has others of their kind

SKILLS = np.array([0.9, 0.7, 0.8, 0.6, 0.5, 0.3])
METHODS = {
    "crowdkit.majority": kit.MajorityVote(),
    "crowdkit.dawid-skene": kit.DawidSkene(),
    "crowdkit.one-coin": kit.OneCoinDawidSkene(),
    "crowdkit.glad": kit.GLAD(n_iter=1),
    "crowdkit.mmsr": kit.MMSR(),
}


def single_coin(
    seed: int, skills: NDArray[np.float64], tasks: int, per_task: int, classes: int = 2
) -> dict[str, Any]:
    """Labels and truth, as inputs of `label-aggregation`; a skill of 1 is always right, 0 guesses."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    worker = np.array([rng.choice(len(skills), per_task, replace=False) for _ in range(tasks)]).ravel()
    task = np.repeat(np.arange(tasks), per_task)
    right = rng.random(len(task)) < (1 + (classes - 1) * skills[worker]) / classes
    label = np.where(right, truth[task], (truth[task] + rng.integers(1, classes, len(task))) % classes)
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(tasks), "label": truth},
    }


def passing_through(classes: int, accuracy: float) -> dict[str, Any]:
    """Six good workers (accuracy .85) on each of 300 tasks, and 20 with this accuracy on 15 tasks each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(classes, size=300)
    mine = [np.arange(300) if who < 6 else rng.choice(300, 15, replace=False) for who in range(26)]
    worker, task = np.repeat(np.arange(26), [len(own) for own in mine]), np.concatenate(mine)
    right = rng.random(len(task)) < np.where(worker < 6, 0.85, accuracy)
    label = np.where(right, truth[task], (truth[task] + rng.integers(1, classes, len(task))) % classes)
    return {
        "labels": {"task": task, "worker": worker, "label": label},
        "truth": {"task": np.arange(300), "label": truth},
    }


class OnLabels(SolverContract):
    classes: ClassVar[int] = 3
    tasks: ClassVar[int] = 25
    seconds = 5.0  # a black box does not look at the clock

    def instances(self) -> Iterable[LabelAggregation]:
        skills = np.array([0.8, 0.6, 0.7, 0.2, -0.1])
        return [
            LabelAggregation(**single_coin(seed, skills, tasks=size, per_task=4, classes=self.classes))
            for seed, size in enumerate([self.tasks, 8])
        ]


class TestMajority(OnLabels):
    solver: of.Solver = Majority()


class TestDawidSkene(OnLabels):
    solver: of.Solver = DawidSkene(rounds=5)


class TestOneCoin(OnLabels):
    solver: of.Solver = OneCoin(rounds=5)


@pytest.mark.thorough  # conjugate gradients through pandas; its answers are compared with crowd-kit's below
class TestGlad(OnLabels):
    solver: of.Solver = Glad(rounds=1)
    tasks = 8


class TestKos(OnLabels):
    solver: of.Solver = Kos(rounds=5)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"
    classes = 2


class TestMmsr(OnLabels):
    solver: of.Solver = Mmsr(rounds=50)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"


class TestMmsrWithASignedVote(OnLabels):
    solver: of.Solver = Mmsr(vote="signed", rounds=50)
    no_better_than_chance = "so few labels of so many poor workers are too hard for it"


def labels(seed: int = 0, classes: int = 2, tasks: int = 60, **more: object) -> LabelAggregation:
    given = single_coin(seed, SKILLS, tasks=tasks, per_task=5, classes=classes)
    return LabelAggregation(**{**given, **more})


def table(problem: LabelAggregation) -> pd.DataFrame:
    given = problem.labels
    return pd.DataFrame({"task": given.task, "worker": given.worker, "label": problem.label_codes})


def run(problem: LabelAggregation, name: str) -> of.Result:
    """The answer; of GLAD, which is slow, after one iteration."""
    if not name.endswith("glad"):
        return of.solve(problem, name)
    with pytest.warns(of.NotConverged):
        return of.solve(problem, name, rounds=1)


def with_ids(task: list[str], worker: list[str], label: list[str]) -> LabelAggregation:
    return LabelAggregation(labels={"task": task, "worker": worker, "label": label})


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("classes", [2, 4])
def test_labels_are_those_crowd_kit_gives(name: str, classes: int) -> None:
    problem = labels(classes=classes, tasks=12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = METHODS[name].fit_predict(table(problem)).sort_index().to_numpy()
    answer = run(problem, name).solution
    untied = ~answer.tied
    assert np.array_equal(answer.predicted_codes()[untied], expected[untied])


def test_labels_of_message_passing_are_those_crowd_kit_gives() -> None:
    problem = labels()
    expected = kit.KOS().fit_predict(table(problem)).sort_index().to_numpy()
    # The first messages are drawn; on data this clear every draw ends at the same labels.
    assert np.array_equal(of.solve(problem, "crowdkit.kos").solution.predicted_codes(), expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_dawid_skene_agrees_with_ours(classes: int) -> None:
    problem = labels(classes=classes)
    limit = of.Budget(iterations=20, tolerance=0.0)  # its own rule would end it elsewhere
    with pytest.warns(of.NotConverged):
        theirs = of.solve(problem, "crowdkit.dawid-skene", change=-1.0, budget=limit).solution
    with pytest.warns(of.NotConverged):  # its smallest probability is 1e-10, and so must ours be
        ours = of.solve(problem, "labels.dawid-skene", floor=1e-10, budget=limit).solution
    assert theirs.probabilities == pytest.approx(ours.probabilities, abs=1e-6)
    assert theirs.skills == pytest.approx(ours.skills, abs=1e-3)  # those of one more M step


def test_majority_has_the_votes_and_the_ties_of_ours() -> None:
    problem = labels(classes=3)
    theirs = of.solve(problem, "crowdkit.majority").solution
    ours = of.solve(problem, "labels.majority").solution
    assert theirs.probabilities == pytest.approx(ours.probabilities)
    assert np.array_equal(theirs.winners, ours.winners)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "crowdkit.mmsr"])
def test_skills_are_near_those_the_labels_were_drawn_with(name: str) -> None:
    found = run(LabelAggregation(**single_coin(1, SKILLS, tasks=200, per_task=5)), name)
    assert np.corrcoef(found.solution.skills, SKILLS)[0, 1] > 0.9
    if not name.endswith("glad"):  # whose chances of being right differ by task
        assert found.solution.skills == pytest.approx(SKILLS, abs=0.15)


def test_a_signed_vote_undoes_what_adversaries_turn_round() -> None:
    skills = [-0.6] * 6 + [0.6] * 10
    drawn = {
        "name": "synthetic.single-coin",
        "workers": 16,
        "tasks": 200,
        "skills": skills,
        "labels_per_task": 7,
    }
    problem = of.problem(dataset=drawn)
    as_it_is = of.solve(problem, "crowdkit.mmsr")
    signed = of.solve(problem, "crowdkit.mmsr", vote="signed")
    assert np.array_equal(as_it_is.solution.skills, signed.solution.skills)
    assert as_it_is.metrics["error"] > 0.2
    assert signed.metrics["error"] < 0.1
    below = signed.solution.scores.sum(axis=1) < 0
    assert np.array_equal(as_it_is.solution.predicted() != signed.solution.predicted(), below)


@pytest.mark.parametrize(("classes", "accuracy"), [(2, 0.3), (3, 0.05), (4, 0.05)])
def test_m_msr_with_a_signed_vote_is_oriented_and_warns_where_the_sign_is_a_convention(
    classes: int, accuracy: float
) -> None:
    result = of.solve(LabelAggregation(**passing_through(classes, accuracy)), "crowdkit.mmsr", vote="signed")
    assert result.metrics["error"] < 0.1
    assert (result.solution.skills[:6] > 0.2).all()
    found = {finding.identifier: finding for finding in result.findings}
    assert found["labels.sign-by-convention"].level == "note"
    assert set(range(6)) <= set(found["labels.contested-sign"].about)
    assert not {who for one in result.findings if "likely" in one.text for who in one.about} & {*range(6)}


@pytest.mark.parametrize(("classes", "accuracy"), [(2, 0.3), (3, 0.05), (4, 0.05)])
def test_m_msr_with_the_librarys_vote_calls_nobody_wrong(classes: int, accuracy: float) -> None:
    result = of.solve(LabelAggregation(**passing_through(classes, accuracy)), "crowdkit.mmsr")
    found = {finding.identifier for finding in result.findings}
    assert "labels.unsettled-sign" in found
    assert not found & {"labels.reliably-wrong-worker", "labels.seemingly-wrong-worker"}


def test_gold_orients_the_signed_vote_of_m_msr() -> None:
    inputs = passing_through(3, 0.05)
    gold = {"task": [0, 1, 2], "label": inputs["truth"]["label"][:3]}
    problem = LabelAggregation(**inputs, gold=gold, orientation="workers")
    result = of.solve(problem, "crowdkit.mmsr", vote="signed")
    assert result.metrics["error"] < 0.1
    assert "labels.contested-sign" not in {finding.identifier for finding in result.findings}


def test_message_passing_takes_two_classes_only() -> None:
    problem = labels(classes=3)
    assert of.why_unsuited(problem, of.solver("crowdkit.kos")) is not None
    with pytest.raises(of.Unsuited, match="two classes; these have 3"):
        of.solve(problem, "crowdkit.kos")


def test_message_passing_with_a_tied_task_ends_without_an_answer() -> None:
    tied = with_ids(["a", "a", "b"], ["x", "y", "z"], ["yes", "no", "yes"])
    with pytest.warns(of.NotConverged, match="no label for a task whose messages cancel"):
        result = of.solve(tied, "crowdkit.kos")
    assert result.status == "stalled"
    assert result.solution is None


def test_a_library_that_breaks_makes_its_solver_unsuited_with_the_librarys_error() -> None:
    problem = labels()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Wawa.try_requires()
    except AttributeError:
        with pytest.raises(of.Unsuited, match=r"Wawa does not run .*: AttributeError: "):
            of.solve(problem, "crowdkit.wawa")
    else:
        assert of.solve(problem, "crowdkit.wawa").metrics["error"] < 0.2


def test_gold_is_settled_and_learnt_from() -> None:
    given = single_coin(2, SKILLS, tasks=60, per_task=5)
    truth = given["truth"]["label"]
    problem = LabelAggregation(**given, gold={"task": np.arange(10), "label": truth[:10]})
    answer = of.solve(problem, "crowdkit.dawid-skene").solution
    assert np.array_equal(answer.predicted()[:10], truth[:10])
    assert (answer.confidence[:10] == 1).all()


def test_a_class_that_only_gold_has_gets_no_votes_elsewhere() -> None:
    problem = labels(truth=None, gold={"task": [0, 1], "label": [0, 7]})
    assert problem.classes.tolist() == [0, 1, 7]
    assert (of.solve(problem, "crowdkit.majority").solution.scores[2:, 2] == 0).all()


@pytest.mark.parametrize(
    ("name", "given"),  # crowd-kit does not count the rounds of message passing
    [("crowdkit.dawid-skene", {"rounds": 2}), ("crowdkit.kos", {"budget": {"iterations": 2}})],
)
def test_running_out_of_rounds_is_said(name: str, given: dict[str, Any]) -> None:
    with pytest.warns(of.NotConverged, match="made all 2 iterations"):
        result = of.solve(labels(), name, **given)
    assert (result.status, result.iterations) == ("iteration_limit", 2)


def test_workers_with_too_few_partners_are_named_before_m_msr_trims_them_away() -> None:
    pair = with_ids(["a", "a", "b", "b", "b"], ["x", "y", "y", "z", "w"], ["yes", "no", "yes", "yes", "no"])
    with pytest.raises(of.Unsuited, match="two others at least, and x do not"):
        of.solve(pair, "crowdkit.mmsr")
    alike = LabelAggregation(
        labels={"task": [0, 0, 0, 1, 1, 1], "worker": [0, 1, 2] * 2, "label": [1] * 6},
        gold={"task": [0, 1], "label": [1, 2]},
    )
    with pytest.raises(of.Unsuited, match="one label only"):
        of.solve(alike, "crowdkit.mmsr")


def test_m_msr_that_divides_by_nothing_ends_without_an_answer() -> None:
    said = np.array([[0, 1, 0, 0], [1, 1, 0, 1]] * 3)  # workers 0 and 1 agree half the time: correlation 0
    table = {"task": np.repeat(np.arange(6), 4), "worker": np.tile(np.arange(4), 6), "label": said.ravel()}
    with pytest.warns(of.NotConverged, match="M-MSR: ValueError"):
        result = of.solve(LabelAggregation(labels=table), "crowdkit.mmsr")
    assert result.status == "diverged"
    assert result.solution is None


def test_crowd_kits_own_bound_ends_dawid_skene_before_it_is_done() -> None:
    problem = labels(classes=3, tasks=30)
    early = of.solve(problem, "crowdkit.dawid-skene")
    with pytest.warns(of.NotConverged):
        done = of.solve(problem, "crowdkit.dawid-skene", change=-1.0, rounds=50)
    assert early.iterations < 25
    assert np.abs(early.solution.probabilities - done.solution.probabilities).max() > 1e-3


def test_the_global_random_generator_is_left_as_it_was() -> None:
    np.random.seed(5)
    expected = np.random.random(3)
    np.random.seed(5)
    of.solve(labels(), "crowdkit.kos")
    assert np.array_equal(np.random.random(3), expected)


def test_warnings_of_a_library_become_findings_and_deprecations_do_not() -> None:
    class Run:
        rng = np.random.default_rng(0)

        def warn(self, text: str, *, identifier: str) -> None:
            said.append((text, identifier))

    said: list[tuple[str, str]] = []
    with visiting(Run(), "library", identifier="labels.library-warning"):  # type: ignore[arg-type]  # all of a run that is used
        warnings.warn("is old", DeprecationWarning, stacklevel=1)
        for _ in range(2):
            warnings.warn("divided by zero", RuntimeWarning, stacklevel=1)
    assert said == [("library: divided by zero", "labels.library-warning")]
