"""`optiframe check`: good solvers pass; bad ones fail, each for the right reason, whatever they do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from optiframe import InvalidInput, UnknownName
from optiframe.comparison.processes.supervisor import CELL
from optiframe.comparison.processes.watched import WatchedChild
from optiframe.registry import registry
from optiframe.testing.broken import dangerous
from optiframe.testing.broken import solvers as broken_solvers
from optiframe.testing.isolation.child import Wrong, prepare
from optiframe.testing.isolation.parent import LOADS, PACE, check_isolated
from optiframe.testing.solvers.checks import CHECKS, check_time_budget_is_honoured

from .command_line import Run, run_in

pytestmark = pytest.mark.slow  # many processes, or a browser: minutes of a small machine


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return partial(run_in, tmp_path)


def path_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__name__}"


def failures(kind: type, **options) -> dict[str, str]:
    outcomes = list(check_isolated(path_of(kind), **options))
    return {outcome.name: outcome.failure for outcome in outcomes if outcome.failure is not None}


def write_solver(folder: Path, body: str, before: str = "") -> str:
    """A file with a registered solver `mine.own` whose `iterates` is `body`; its name for --import."""
    (folder / "mine.py").write_text(
        "import os, subprocess, sys, threading, time\nimport optiframe\n"
        "from optiframe import Iterate, Minimize, Solver\n"
        f"{before}\n\n@optiframe.register\nclass Own(Solver[Minimize, object, None]):\n"
        '    """Mine."""\n\n    name = "mine.own"\n    solves = Minimize\n\n'
        f"    def iterates(self, problem, run):\n        {body}\n"
    )
    return str(folder / "mine.py")


def test_an_honest_solver_passes_every_check(run: Run):
    shown = run("check", path_of(broken_solvers.Honest), code=0).stdout
    assert shown.startswith("bad.honest on minimize squared-distance whole-space, ")
    made = len(CHECKS) - 1
    assert shown.count("  pass  ") == made
    assert "  n/a   is better than chance: the problem knows no truth" in shown
    assert "FAIL" not in shown
    assert f"{made} of {made} checks passed, 1 not applicable" in shown


def test_a_solver_that_does_nothing_fails_with_the_reason_below_the_check(run: Run):
    shown = run("check", path_of(broken_solvers.Idle), code=1).stdout
    assert "  FAIL  is better than doing nothing\n        minimize squared-distance whole-space: " in shown
    assert "is no better than that of the start" in shown
    assert "14 of 16 checks passed, 2 failed, 1 not applicable" in shown


# A bad solver, exactly the checks it fails, and part of what they say. One that
# leaks or spoils its input gives other runs than before, which more than one check sees.
OPTIMUM, IDLE = "reaches the known optimum", "is better than doing nothing"
SEED, LEAK, PICKLE = (
    "same seed gives same trace",
    "nothing leaks between runs",
    "problem and solver survive pickling",
)
INPUT, START, TIME = "input is not changed", "start is accepted as declared", "time budget is honoured"
# Two of the bad solvers: what each of them fails is held in `test_contract`, without a process.
BAD = [
    (broken_solvers.Constant, [OPTIMUM, IDLE], "is no better than that of the start"),
    (broken_solvers.Leaky, [SEED, LEAK, PICKLE], "keep no state in between"),
]


@pytest.mark.parametrize(("kind", "expected", "words"), BAD, ids=[kind.__name__ for kind, _, _ in BAD])
def test_a_bad_solver_fails_in_isolation_for_what_it_does(kind, expected, words):
    found = failures(kind)
    assert list(found) == expected
    assert any(words in failure for failure in found.values())


@pytest.mark.slow
def test_a_solver_that_ignores_its_time_budget_is_found_out(run: Run):
    # It sleeps for longer than the second that a busy machine is allowed on top of the limit.
    shown = run(
        "check", path_of(broken_solvers.Slow), "--set", "seconds=1.1", "--only", "time-budget", code=1
    ).stdout
    assert "with a limit of 0.05 s" in shown
    assert "0 of 1 checks passed, 1 failed" in shown


# What hangs is killed, what crashes has crashed: that check fails, with the place, and the others go on.
DANGEROUS = [
    (
        dangerous.Busy,
        [TIME],
        ["killed after 3 s; it was here:", "broken/dangerous.py line", ", _wait"],
    ),
    (
        dangerous.Waiting,
        [TIME],
        ["killed after 3 s; it was here:", "broken/dangerous.py line", ", _wait"],
    ),
    (
        dangerous.Segfaulting,
        [INPUT, START],
        ["the process died: segmentation fault (SIGSEGV)", ", _end"],
    ),
    (dangerous.Aborting, [INPUT, START], ["the process died: aborted (SIGABRT)", ", _end"]),
    (dangerous.Leaving, [INPUT, START], ["the process ended with exit code 0 before it was done"]),
    (dangerous.Quitting, [INPUT, START], ["raised SystemExit: nothing left to do"]),
]
MORE_OF_THE_SAME = (dangerous.Waiting, dangerous.Aborting)


@pytest.mark.parametrize(
    ("kind", "expected", "words"),
    [
        pytest.param(*case, marks=[pytest.mark.thorough] * (case[0] in MORE_OF_THE_SAME), id=case[0].__name__)
        for case in DANGEROUS
    ],
)
def test_a_solver_that_hangs_or_crashes_fails_there_and_the_others_go_on(kind, expected, words):
    outcomes = list(check_isolated(path_of(kind), seconds=3.0))
    assert len(outcomes) == len(CHECKS)
    found = {outcome.name: outcome.failure for outcome in outcomes if outcome.failure is not None}
    assert list(found) == expected
    for failure in found.values():
        assert [text for text in words if text not in failure] == []


# Too slow to be checked in the time given: the checks end before the first that would run it.
STEPS = "while True:\n            time.sleep({})\n            yield Iterate(problem.initial())"
SLOW = [
    (3.0, 5.0, r"takes \d\S* s\. A check .* has 5 s: set --seconds [1-9]\d\d"),
    (600.0, 5.0, r"(?s)takes more than 5 s, or never ends; raise --seconds.*mine\.py line"),
]


@pytest.mark.parametrize(("step", "seconds", "words"), SLOW, ids=["each", "without-end"])
def test_a_solver_too_slow_for_the_checks_ends_them_early(step, seconds, words, tmp_path: Path):
    module = write_solver(tmp_path, STEPS.format(step))
    outcomes = list(check_isolated("mine.own", modules=[module], seconds=seconds))
    assert [outcome.name for outcome in outcomes if outcome.failure is None] == [
        "parameters survive a toml file",
        "unknown parameters are refused",
    ]
    assert outcomes[-1].name == PACE
    assert re.search(words, str(outcomes[-1].failure))


def test_a_check_that_runs_out_of_time_is_the_last_where_the_pace_says_why(tmp_path: Path, run: Run):
    module = write_solver(tmp_path, STEPS.format(0.5))
    shown = run("--import", module, "check", "mine.own", "--seconds", "3", code=1).stdout
    assert "FAIL  same seed gives same trace\n        killed after 3 s" in shown
    assert re.search(
        r"makes up to 50 of them on each of 6 problems, and has 3 s: set --seconds [1-9]\d\d", shown
    )
    assert "2 of 4 checks passed, 2 failed, the others were not tried" in shown


def test_every_dangerous_solver_is_tried():
    there = {
        thing
        for thing in vars(dangerous).values()
        if isinstance(thing, type) and thing.__module__ == dangerous.__name__
    }
    assert {kind for kind in there if not kind.__name__.startswith("_")} == {kind for kind, _, _ in DANGEROUS}


def test_what_a_solver_prints_and_starts_does_no_harm(tmp_path: Path):
    """It floods both streams, writes what looks like an answer, and leaves a process behind."""
    body = (
        "sys.stdout.write('{\"event\": \"end\"}\\n' * 100000); sys.stderr.write('x' * 3000000)\n"
        "        child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " start_new_session=True)\n"
        f"        open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "        yield Iterate(problem.initial())"
    )
    outcomes = list(
        check_isolated(
            "mine.own",
            modules=[write_solver(tmp_path, body)],
            checks=[check_time_budget_is_honoured],
        )
    )
    assert [outcome.name for outcome in outcomes] == [TIME]
    left = int((tmp_path / "pid").read_text())
    end = time.monotonic() + 60
    while psutil.pid_exists(left) and psutil.Process(left).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "what the solver started lives on"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("hoard", "words"),
    [
        ("kept = [bytearray(10**8) for _ in range(100)]", "raised MemoryError"),
        (  # no bound on allocations counts a mapping: seen from outside
            "kept = [[m := mmap.mmap(-1, 10**7), m.write(b'x' * 10**7), time.sleep(0.01)] for _ in 'x' * 99]",
            "over the limit of 300 MB",
        ),
    ],
)
def test_a_solver_that_takes_too_much_memory_fails(hoard, words, tmp_path: Path):
    module = write_solver(tmp_path, f"{hoard}; yield", before="import mmap")
    outcomes = list(
        check_isolated(
            "mine.own", modules=[module], checks=[check_time_budget_is_honoured], memory=300_000_000
        )
    )
    assert [outcome.name for outcome in outcomes] == [TIME]
    assert words in str(outcomes[0].failure)


def test_an_amount_of_memory_has_a_unit(run: Run):
    shown = run("check", path_of(broken_solvers.Honest), "--memory", "much", code=2)
    assert '--memory must be bytes, or text such as "2 GB"' in shown.stderr


def test_the_checks_run_with_pinned_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    body = "raise ValueError('with ' + os.environ['OPENBLAS_NUM_THREADS'] + ' threads')\n        yield"
    outcomes = list(
        check_isolated(
            "mine.own", modules=[write_solver(tmp_path, body)], checks=[check_time_budget_is_honoured]
        )
    )
    assert "with 1 threads" in str(outcomes[0].failure)


def test_a_solver_that_hangs_while_it_is_loaded_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("optiframe.testing.isolation.parent._START", 5.0)  # enough to import when busy
    module = write_solver(tmp_path, "yield", before="time.sleep(600)")
    outcomes = list(check_isolated("mine.own", modules=[module], seconds=0.5))
    assert [outcome.name for outcome in outcomes] == [LOADS]
    assert "killed after 5 s" in str(outcomes[0].failure)
    assert "mine.py line 4, <module>" in str(outcomes[0].failure)


def test_a_solver_that_dies_while_it_is_loaded_fails(tmp_path: Path):
    module = write_solver(tmp_path, "yield", before="os._exit(3)")
    outcomes = list(check_isolated("mine.own", modules=[module]))
    assert [outcome.name for outcome in outcomes] == [LOADS]
    assert "ended with exit code 3" in str(outcomes[0].failure)


def test_a_class_that_does_not_keep_the_contract_of_its_kind_fails(tmp_path: Path):
    (tmp_path / "half.py").write_text(
        "from optiframe import Minimize, Solver\n\n\nclass Half(Solver[Minimize, object, None]):\n"
        '    """Lacks its method."""\n\n    name = "half.way"\n    solves = Minimize\n'
    )
    outcomes = list(check_isolated("half:Half", modules=[str(tmp_path / "half.py")]))
    assert [(outcome.name, outcome.passed) for outcome in outcomes] == [(LOADS, False)]
    assert "lacks iterates" in str(outcomes[0].failure)


def test_a_file_of_ones_own_is_checked_by_import(run: Run, tmp_path: Path):
    body = (
        "x = problem.initial()\n        for _ in range(1000):\n"
        "            x = problem.over.project(x - problem.function.gradient(x))\n        yield Iterate(x)"
    )
    write_solver(tmp_path, body)
    shown = run("--import", "mine.py", "check", "mine.own", "--only", "optimum", code=0).stdout
    assert "1 of 1 checks passed" in shown


def test_a_domain_solver_meets_the_generated_data_sets_it_takes(run: Run):
    shown = run("check", "labels.majority", "--only", "finite", code=0).stdout
    assert shown.startswith("labels.majority on synthetic.hostile-crowd, synthetic.single-coin\n")


BOWL = """\
[problem]
name = "minimize"
objective = { name = "least-squares", matrix = [[1.0, 2.0], [3.0, 4.0]], target = [1.0, 1.0] }

[budget]
iterations = 5
"""


def test_a_problem_of_ones_own_is_tried_within_its_budget(run: Run, tmp_path: Path):
    (tmp_path / "bowl.toml").write_text(BOWL)
    shown = run(
        "check", path_of(broken_solvers.Honest), "--set", "step=0.1", "--problem", "bowl.toml", code=0
    ).stdout
    assert shown.startswith("bad.honest on bowl.toml\n")


def test_a_data_set_by_name_is_tried(run: Run):
    shown = run(
        "check", "labels.majority", "--dataset", "synthetic.single-coin", "--only", "finite", code=0
    ).stdout
    assert shown.startswith("labels.majority on synthetic.single-coin\n")


NAME_ALONE = {"modules": [], "parameters": [], "problems": [], "datasets": [], "tolerance": 1e-4}
WRONG = [
    ({"solver": "rankone.pdg"}, "did you mean 'rankone.pgd'"),
    ({"parameters": ["memroy=3"]}, "memroy: unknown key; did you mean 'memory'"),
    ({"parameters": ["memory"]}, "write key.path=value"),
    ({"problems": ["none.toml"]}, "no file none.toml"),
    (
        {"solver": "labels.majority", "problems": ["bowl.toml"]},
        "cannot take the problem of bowl.toml: it solves",
    ),
    ({"datasets": ["synthetic.sigle-coin"]}, "did you mean 'synthetic.single-coin'"),
    (
        {"solver": "labels.majority", "datasets": ["rank-one.ring"]},
        "cannot take data set 'rank-one.ring': it ",
    ),
    ({"solver": "no_such_module:Thing"}, "there is no module 'no_such_module'"),
    ({"solver": "optiframe.testing.broken.solvers:Thing"}, "has no attribute 'Thing'"),
    (
        {"solver": "optiframe.problems.regularizers.proximal:Proximal"},
        "it must be a subclass of Problem, Solver",
    ),
    ({"solver": "selection"}, "there is no instance of 'selection' to check"),
    ({"solver": "zero-sum", "datasets": ["labels.rte"]}, "zero-sum is a constraint set"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG, ids=[words for _, words in WRONG])
def test_a_wrong_input_is_said_in_words(changes, words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "bowl.toml").write_text(BOWL)
    monkeypatch.chdir(tmp_path)
    with pytest.raises((Wrong, InvalidInput, UnknownName)) as caught:  # what the child calls the person's
        prepare({**NAME_ALONE, "solver": "scipy.lbfgs", **changes})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rankone.pdg"], "error: no solver named 'rankone.pdg'; did you mean 'rankone.pgd'"),
        (["scipy.lbfgs", "--only", "speed"], "no check has these words; the checks are: parameters survive"),
    ],
    ids=["name", "only"],
)
def test_a_wrong_input_ends_with_exit_code_2(arguments, words, run: Run):
    done = run("check", *arguments, code=2)
    assert words in done.stderr
    assert not done.stdout


def test_a_solver_that_nothing_here_suits_is_told_what_to_give(tmp_path: Path):
    (tmp_path / "alien.py").write_text(
        "from optiframe import Iterate, Problem, Solver\n\n\nclass Alien(Problem[object]):\n"
        '    """Unheard of."""\n\n    name = "alien"\n\n\nclass Solve(Solver[Alien, object, None]):\n'
        '    """Solves it."""\n\n    name = "alien.solve"\n    solves = Alien\n\n'
        "    def iterates(self, problem, run):\n        yield Iterate(1.0)\n"
    )
    with pytest.raises(InvalidInput, match=r"solves 'alien' problems.*give one: --problem FILE\.toml"):
        list(check_isolated("alien:Solve", modules=[str(tmp_path / "alien.py")]))


@pytest.mark.slow
def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path):
    script = (
        "from optiframe.testing.isolation.parent import check_isolated\n"
        f"list(check_isolated({path_of(dangerous.Busy)!r}, seconds=600))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    try:
        end = time.monotonic() + 120
        children: list[psutil.Process] = []
        while not children or children[0].cpu_times().user < 1.0:  # it is busy by now
            assert time.monotonic() < end
            time.sleep(0.02)
            started = psutil.Process(parent.pid).children(recursive=True)
            children = [child for child in started if child.name() == CELL]
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_watched_child_that_cannot_start_is_gone_and_says_why():
    child = WatchedChild("no_such_module_at_all", {})
    try:
        assert child.next(20.0) is None
        assert "No module named 'no_such_module_at_all'" in child.why_gone(20.0)
    finally:
        child.kill()


@pytest.mark.thorough  # a minute; `test_a_domain_solver_meets_the_generated_data_sets_it_takes` tries one
def test_every_solver_that_ships_finds_problems_without_being_told():
    """In one process, for speed: what a child does with a name alone."""
    names = {
        entry.name
        for entry in registry.registry().entries("solver")
        if entry.distribution in ("optiframework", "optiframework-rankone")
    }
    assert {"cvxpy", "scipy.lbfgs", "labels.majority", "rankone.pgd"} <= names
    for name in names:
        cases, titles = prepare({**NAME_ALONE, "solver": name})
        assert len(cases) == len(titles) >= 1, name


@pytest.mark.slow
def test_a_solver_that_ships_passes():
    assert [outcome for outcome in check_isolated("rankone.pgd") if outcome.failure is not None] == []
