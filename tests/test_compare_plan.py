"""Plans: what a comparison's file makes, what decides a cell's key, and what is refused."""

from __future__ import annotations

import importlib
import json
import math
import os
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from itertools import product
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optiframe as of
from optiframe.comparison.cells import Cell, Choice, Limits, Plan
from optiframe.comparison.plan.content_key import named_file
from optiframe.comparison.plan.plan import make_plan, read_plan, renewed
from optiframe.comparison.plan.requests import request_of
from optiframe.comparison.plan.sources import code_of, package_source
from optiframe.comparison.plan.sweep import expand, fill, seeded
from optiframe.comparison.plan.titles import made_unique, variant_titles
from optiframe.comparison.units import bytes_of, in_words
from optiframe.errors import InvalidInput
from optiframe.files.toml_lines import Lines
from optiframe.files.toml_writer import as_toml
from optiframe.registry import registry
from optiframe.registry.user_modules import import_user_module
from optiframe.solving.solver import Iterate, Solver

BOWL = """\
[[problem]]
title = "bowl"
name = "minimize"
[problem.objective]
name = "squared-distance"
to = [1.0, 2.0]
"""
GOOD = f"""\
seeds = [0, 3]
repeat = 2
warmup = false
order_seed = 5
gaps = [1e-2, 1e-4]

[better]
error = "lower"

{BOWL}
[[problem]]
dataset = {{name = "synthetic.single-coin", workers = {{sweep = [5, 7]}}, seed = {{from = "seed"}}}}

[[solver]]
name = "scipy.lbfgs"
memory = {{sweep = [5, 20]}}

[[solver]]
name = "labels.majority"

[budget]
iterations = 50

[limits]
time = 20.0
memory = "1.5 GB"
threads = 2

[executor]
name = "local"
workers = 2

[output]
folder = "out"
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str, name: str = "run.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def natural(plan: Plan) -> list[Cell]:
    return [
        cell for _, cell in sorted(zip(plan.positions, plan.cells, strict=True), key=lambda pair: pair[0])
    ]


def keys(plan: Plan) -> list[str]:
    return [cell.key for cell in natural(plan)]


def titles(plan: Plan, kind: str) -> list[str]:
    return list(dict.fromkeys(getattr(cell, kind).title for cell in natural(plan)))


def choices(plan: Plan, kind: str) -> dict[str, Choice]:
    return {getattr(cell, kind).title: getattr(cell, kind) for cell in natural(plan)}


def refused(path: Path, *overrides: str) -> str:
    with pytest.raises(of.InvalidInput) as caught:
        read_plan(path, overrides)
    return str(caught.value)


# ---- what a file makes


def test_a_file_makes_every_cell_in_its_natural_order(write: Write) -> None:
    plan = read_plan(write(GOOD))
    problems = ["bowl", "synthetic.single-coin (workers=5)", "synthetic.single-coin (workers=7)"]
    solvers = ["scipy.lbfgs (memory=5)", "scipy.lbfgs (memory=20)", "labels.majority"]
    found = [(cell.problem.title, cell.solver.title, cell.seed) for cell in natural(plan)]
    assert found == list(product(problems, solvers, [0, 3]))
    assert [cell.key for cell in plan.cells] != keys(plan)
    assert len(set(keys(plan))) == len(plan.cells) == 18


def test_a_file_sets_everything_else(write: Write, tmp_path: Path) -> None:
    plan = read_plan(write(GOOD))
    assert plan.limits == Limits(time=20.0, memory=1_500_000_000, threads=2)
    assert plan.budget == of.Budget(iterations=50)
    assert (plan.measure.repeat, plan.measure.warmup, plan.measure.count) == (2, False, True)
    assert (plan.executor.name, plan.executor.workers) == ("local", 2)
    assert (plan.order_seed, plan.gaps, plan.better) == (5, (1e-2, 1e-4), {"error": "lower"})
    assert (plan.output, plan.folder, plan.text) == (Path("out"), tmp_path, GOOD)


def test_a_short_file_has_defaults(write: Write) -> None:
    plan = read_plan(
        write('problem = "labels.rte"\nsolver = ["labels.majority", "rankone.pgd"]\n', "short.toml")
    )
    assert titles(plan, "problem") == ["labels.rte"]
    assert titles(plan, "solver") == ["labels.majority", "rankone.pgd"]
    assert plan.limits == Limits()
    assert plan.output == Path("results/short")


@pytest.mark.slow
def test_the_order_of_running_is_decided_by_its_seed_alone(write: Write) -> None:
    path = write(GOOD)
    first, again = read_plan(path), read_plan(path)
    other = read_plan(path, ["order_seed=6"])
    assert first.cells == again.cells
    assert [cell.key for cell in first.cells] != [cell.key for cell in other.cells]
    assert keys(first) == keys(other)


def test_where_an_entry_stands_is_kept_for_messages(write: Write) -> None:
    plan = read_plan(write(GOOD))
    line = GOOD.splitlines().index("[[problem]]") + 1
    assert choices(plan, "problem")["bowl"].where == f"run.toml line {line}: problem.0"


def test_overrides_reach_into_entries(write: Write) -> None:
    plan = read_plan(
        write(GOOD), ["solver.0.memory=9", "budget.iterations=7", "seeds=3", "limits.memory=1 MiB"]
    )
    assert titles(plan, "solver") == ["scipy.lbfgs", "labels.majority"]
    assert choices(plan, "solver")["scipy.lbfgs"].table == {"name": "scipy.lbfgs", "memory": 9}
    assert plan.budget.iterations == 7
    assert sorted({cell.seed for cell in plan.cells}) == [0, 1, 2]
    assert plan.limits.memory == 2**20


def test_the_text_kept_with_overrides_repeats_the_plan(write: Write) -> None:
    plan = read_plan(write(GOOD), ["solver.0.memory=9", "budget.iterations=7"])
    assert keys(read_plan(write(plan.text, "again.toml"))) == keys(plan)


# ---- what is refused, and how it is said

# Line of the error | what is replaced in GOOD | by what | what is said
_BAD = r"""
 1 | seeds = [0, 3] | seeds = [0, 0] | seeds: holds 0 twice
 1 | seeds = [0, 3] | seeds = [] | seeds: is empty
 1 | seeds = [0, 3] | seeds = [-1] | seeds: each seed must be a whole number from 0
 1 | seeds = [0, 3] | seeds = 0 | seeds: must be at least 1
 1 | seeds = [0, 3] | seeds = 1000000000 | seeds: must be at least 1 and at most 100,000
 1 | seeds = [0, 3] | seeds = true | seeds: must be a number of seeds or a list
 1 | seeds = [0, 3] | seds = [0] | seds: unknown key; did you mean 'seeds'?
 2 | repeat = 2 | repeat = "often" | repeat: must be a whole number from 1 to 100,000, or "auto"
 2 | repeat = 2 | repeat = 100000000000000000000000 | repeat: must be a whole number from 1 to 100,000
 2 | repeat = 2 | repeat = 0 | repeat: must be a whole number from 1
 5 | gaps = [1e-2, 1e-4] | gaps = [0.0] | gaps: each gap must be a number above 0
 8 | error = "lower" | error = "smaller" | better.error: must be one of 'lower' or 'higher'
12 | name = "minimize" | name = "minimise" | problem.0.name: no problem named 'minimise'
10 | name = "minimize"\n |  | problem.0.name: is missing; or give a `dataset`
12 | name = "minimize" | name = "labels.rte" | problem.0.name: 'labels.rte' is a data set; write dataset
11 | title = "bowl" | title = 3 | problem.0.title: must be text, got 3
18 | synthetic.single-coin | synthetic.single-coyn | problem.1.dataset.name: no data set named
18 | workers = {sweep | worker = {sweep | problem.1.dataset.worker: unknown key; did you mean 'workers'
18 | [5, 7] | [5, -7] | problem.1.dataset.workers: must be greater than 0, got -7
18 | [5, 7] | [] | problem.1.dataset.workers: a sweep over an empty list leaves nothing to run
18 | [5, 7] | 5 | problem.1.dataset.workers: a sweep needs a list of values, got 5
18 | {sweep = [5, 7]} | {sweeep = [5, 7]} | problem.1.dataset.workers.sweeep: write `sweep` for this
18 | {sweep = [5, 7]} | {sweep = [5], to = 1} | problem.1.dataset.workers: a sweep stands alone in its table
17 | {sweep = [5, 7]} | {sweep = [5, 5]} | problem.1: synthetic.single-coin (workers=5) is the same problem as
18 | from = "seed" | from = "sead" | problem.1.dataset.seed: only {from = "seed"} is known, got 'sead'
18 | dataset = {name | name = "minimize"\ndataset = {name | problem.1.name: data set 'synthetic.single-coin'
22 | memory = {sweep = [5, 20]} | memry = 3 | solver.0.memry: unknown key; did you mean 'memory'?
22 | [5, 20] | [5, 0] | solver.0.memory: must be greater than 0, got 0
20 | [5, 20] | [5, 5] | solver.0: scipy.lbfgs (memory=5) is the same solver as scipy.lbfgs (memory=5)
20 | {sweep = [5, 20]} | {from = "seed"} | solver.0: a solver gets the seed of its cell by itself
25 | labels.majority | labels.majorty | solver.1.name: no solver named 'labels.majorty'
24 | "labels.majority" | "scipy.lbfgs"\nmemory = 20 | solver.1: scipy.lbfgs (memory=20) is the same solver as
28 | iterations = 50 | iterations = -1 | budget.iterations: must be greater than 0
32 | "1.5 GB" | "1.5 GiBs" | limits.memory: must be bytes, or text such as
32 | "1.5 GB" | 0 | limits.memory: must be at least one byte, got 0
31 | time = 20.0 | time = 0 | limits.time: must be greater than 0
31 | time = 20.0 | time = 1e300 | limits.time: must be
33 | threads = 2 | threads = 99999999999999999999 | limits.threads: must be
33 | threads = 2 | threds = 2 | limits.threds: unknown key; did you mean 'threads'?
36 | name = "local" | name = "lokal" | executor.name: must be one of 'local' or 'dask'
37 | workers = 2\n | address = "tcp://x:1"\n | executor.address: only name = "dask" takes one
39 | [output] | [outputs] | outputs: unknown key; did you mean 'output'?
"""


@pytest.mark.slow
@pytest.mark.parametrize("case", _BAD.strip().splitlines())
def test_an_error_names_file_line_and_key(write: Write, case: str) -> None:
    line, old, new, expected = (part.replace("\\n", "\n") for part in case.split(" | "))
    assert old in GOOD
    assert f"run.toml line {line.strip()}: {expected}" in refused(write(GOOD.replace(old, new, 1)))


def test_a_table_inside_an_entry_has_its_own_line() -> None:
    line = GOOD.splitlines().index("to = [1.0, 2.0]") + 1
    assert Lines(GOOD).of(("problem", "0", "objective", "to")) == line
    assert Lines(GOOD).of(("problem", "1", "objective", "to")) == line + 2  # where its entry begins


def test_everything_wrong_is_said_at_once(write: Write) -> None:
    wrong = GOOD.replace("[5, 20]", "[0, 20]").replace("minimize", "minimise").replace("= 50", "= 0")
    wrong = wrong.replace("threads = 2", "threads = 0").replace("labels.majority", "nobody")
    said = refused(write(wrong)).splitlines()
    starts = [line.split(": ")[1] for line in said]
    assert starts == [
        "budget.iterations",
        "limits.threads",
        "problem.0.name",
        "solver.0.memory",
        "solver.1.name",
    ]


def test_a_missing_section_says_what_to_add(write: Write) -> None:
    said = refused(write("seeds = 1\n"))
    assert "problem: there is none; add [[problem]] with a name or a dataset" in said
    assert "solver: there is none; add [[solver]] with a name" in said


def test_two_entries_cannot_have_one_title(write: Write) -> None:
    other = BOWL.replace("2.0", "3.0")
    assert "'bowl' is the title of problem.0 as well" in refused(write(GOOD.replace(BOWL, BOWL + other)))


@pytest.mark.slow
def test_too_many_combinations_are_refused_before_they_are_made(write: Write) -> None:
    sweeps = "".join(f"p{i} = {{sweep = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}}\n" for i in range(12))
    text = GOOD.replace("to = [1.0, 2.0]\n", sweeps)
    assert "problem.0: the sweeps make 1,000,000,000,000 combinations" in refused(write(text))
    many = GOOD.replace("[5, 20]", f"{list(range(1, 1001))}").replace("[0, 3]", "100")
    assert "this makes 300,300 cells; at most 100,000" in refused(write(many))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("solver.7.memory=1", "--set solver.7.memory=1: there are 2 of these; write a number from 0, not 7"),
        ("solver.memory=1", "--set solver.memory=1: there are 2 of these"),
        ("solver.0.memory=x", "--set solver.0.memory: must be a whole number, got 'x'"),
        ("limits.time=soon", "--set limits.time: must be a number, got 'soon'"),
    ],
)
def test_a_wrong_override_is_named(write: Write, override: str, expected: str) -> None:
    assert expected in refused(write(GOOD), override)


# ---- sweeps

_LEAVES = st.integers(0, 9) | st.sampled_from(["a", "b"]) | st.lists(st.integers(0, 3), max_size=3)
_TABLES = st.recursive(
    st.dictionaries(
        st.sampled_from("xyz"),
        _LEAVES | st.fixed_dictionaries({"sweep": st.lists(_LEAVES, min_size=1, max_size=3)}),
        max_size=3,
    ),
    lambda inner: st.dictionaries(
        st.sampled_from("pq"),
        inner | st.fixed_dictionaries({"sweep": st.lists(inner, min_size=1, max_size=2)}),
        max_size=2,
    ),
    max_leaves=4,
)


def slow_expand(value: Any) -> list[Any]:
    """Resolve the first sweep met, again and again, until none is left."""

    def first(value: Any) -> list[Any] | None:
        if isinstance(value, dict):
            if set(value) == {"sweep"}:
                return list(value["sweep"])
            for key, inner in value.items():
                options = first(inner)
                if options is not None:
                    return [{**value, key: option} for option in options]
        return None

    done, waiting = [], [value]
    while waiting:
        options = first(waiting[0])
        if options is None:
            done.append(waiting.pop(0))
        else:
            waiting[:1] = options
    return done


@pytest.mark.slow
@given(_TABLES)
def test_a_grid_is_the_product_of_its_sweeps(table: dict[str, Any]) -> None:
    assert [variant.table for variant in expand(table)] == slow_expand(table)


@given(_TABLES)
def test_every_combination_has_a_title_of_its_own_unless_it_repeats(table: dict[str, Any]) -> None:
    variants = expand(table)
    chosen = [variant.chosen for variant in variants]
    if len({repr(each) for each in chosen}) == len(chosen):
        assert len(set(variant_titles("base", chosen))) == len(chosen)


def test_a_list_of_numbers_is_a_parameter_and_no_sweep() -> None:
    assert expand({"to": [1.0, 2.0], "rows": [[1, 2], [3]]}) == [
        replace(expand({"to": [1.0, 2.0], "rows": [[1, 2], [3]]})[0], chosen=())
    ]


def test_what_has_a_name_may_have_a_parameter_called_sweep() -> None:
    assert [v.table for v in expand({"part": {"name": "jacobi", "sweep": [1, 2]}})] == [
        {"part": {"name": "jacobi", "sweep": [1, 2]}}
    ]


def test_the_seed_is_filled_in_wherever_it_is_asked_for() -> None:
    table = {"a": {"from": "seed"}, "b": [1, {"c": {"from": "seed"}}], "d": {"from": 1}}
    assert seeded(table)
    assert fill(table, 4) == {"a": 4, "b": [1, {"c": 4}], "d": {"from": 1}}
    assert not seeded({"d": {"from": 1}, "e": {"from": "seed", "to": 1}})


# ---- titles


def test_titles_say_what_differs_in_few_words() -> None:
    variants = expand({"step": {"sweep": [0.1, 0.5]}, "part": {"step": {"sweep": [1, 2]}}})
    assert variant_titles("m", [v.chosen for v in variants]) == [
        "m (step=0.1, part.step=1)",
        "m (step=0.1, part.step=2)",
        "m (step=0.5, part.step=1)",
        "m (step=0.5, part.step=2)",
    ]
    long = expand({"start": {"sweep": [list(range(50)), [1]]}, "over": {"sweep": [{"name": "box"}]}})
    assert variant_titles("m", [v.chosen for v in long]) == [
        "m (start=#1, over=box)",
        "m (start=[1], over=box)",
    ]
    same = expand({"over": {"sweep": [{"name": "box", "low": 0}, {"name": "box", "low": 1}]}})
    assert variant_titles("m", [v.chosen for v in same]) == ["m (over=box #1)", "m (over=box #2)"]


@given(
    st.lists(st.sampled_from(["a", "b", "a #2", "b #2"]), max_size=6), st.sets(st.sampled_from(["a", "c"]))
)
def test_titles_are_made_unique_and_the_first_keeps_its_own(given_titles: list[str], taken: set[str]) -> None:
    unique = made_unique(given_titles, taken)
    assert len(set(unique) | taken) == len(unique) + len(taken)
    assert all(title.startswith(first) for title, first in zip(unique, given_titles, strict=True))


# ---- what decides a key


@pytest.mark.slow
@pytest.mark.parametrize(
    "override",
    [
        "budget.iterations=51",
        "limits.time=21",
        "limits.memory=9999",
        "limits.threads=1",
        "repeat=3",
        "count=false",
    ],
)
def test_what_decides_an_outcome_changes_every_key(write: Write, override: str) -> None:
    path = write(GOOD)
    assert not set(keys(read_plan(path))) & set(keys(read_plan(path, [override])))


@pytest.mark.slow
@pytest.mark.parametrize(
    "override", ["executor.workers=1", "gaps=[0.1]", "better.error=higher", "output.folder=x"]
)
def test_what_does_not_decide_an_outcome_changes_no_key(write: Write, override: str) -> None:
    path = write(GOOD)
    assert keys(read_plan(path)) == keys(read_plan(path, [override]))


def test_a_new_solver_seed_or_title_leaves_the_other_cells_as_they_were(write: Write) -> None:
    before = set(keys(read_plan(write(GOOD))))
    more = GOOD.replace("[0, 3]", "[3, 0, 8]").replace("[5, 20]", "[5, 20, 21]").replace('"bowl"', '"valley"')
    after = set(keys(read_plan(write(more, "more.toml"))))
    assert before < after


@pytest.mark.slow
def test_keys_are_the_same_in_another_process_and_folder(write: Write, tmp_path: Path) -> None:
    path = write(GOOD)
    program = (
        "import sys; from optiframe.comparison.plan.plan import read_plan\n"
        "print(*(cell.key for cell in read_plan(sys.argv[1]).cells))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program, path],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd="/",
    )
    assert done.stdout.split() == [cell.key for cell in read_plan(path).cells]
    other = tmp_path / "other"
    other.mkdir()
    (other / "run.toml").write_text(GOOD)
    assert keys(read_plan(other / "run.toml")) == keys(read_plan(path))


def test_the_content_of_a_named_file_counts(write: Write, tmp_path: Path) -> None:
    path = write(GOOD.replace("to = [1.0, 2.0]", 'to = "to.csv"'))
    table = tmp_path / "to.csv"
    table.write_text("1,2\n")
    before = read_plan(path)
    table.write_text("1,3\n")
    changed = [a.key != b.key for a, b in zip(natural(before), natural(read_plan(path)), strict=True)]
    assert changed == [cell.problem.title == "bowl" for cell in natural(before)]


def test_the_workbook_of_a_named_sheet_counts(tmp_path: Path) -> None:
    book = tmp_path / "plan.xlsx"
    book.write_bytes(b"")
    assert named_file("plan.xlsx#Bounds", tmp_path) == named_file("plan.xlsx", tmp_path) == book
    assert named_file("none.xlsx#Bounds", tmp_path) is None


@pytest.mark.parametrize("file", ["to.csv", "to.xlsx", "to.xlsx#Sheet"])
def test_a_file_that_is_not_there_and_a_key_that_is_unknown_are_found_before_anything_runs(
    write: Write, file: str
) -> None:
    path = write(GOOD.replace("to = [1.0, 2.0]", f'to = "{file}"'))
    with pytest.raises(
        InvalidInput, match=rf"run.toml line \d+: problem.0.objective.to: there is no file {file} in"
    ):
        read_plan(path)
    path = write(
        '[[problem]]\nname = "label-aggregation"\nlables = [1]\n[[solver]]\nname = "labels.majority"\n'
    )
    with pytest.raises(InvalidInput, match=r"line 3: problem.0.lables: unknown key; did you mean 'labels'"):
        read_plan(path)


def test_a_former_key_of_a_problem_is_told_the_new_one_before_anything_runs(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = registry.registry().get("problem", "label-aggregation")
    monkeypatch.setattr(problem, "former_names", (("lables", "labels"),))
    path = write(
        '[[problem]]\nname = "label-aggregation"\nlables = [1]\n[[solver]]\nname = "labels.majority"\n'
    )
    with pytest.raises(
        InvalidInput, match=r"lables: unknown key \(valid keys: .*\); `lables` is now called `labels`"
    ):
        read_plan(path)


@pytest.mark.slow
def test_the_content_of_a_data_set_counts_and_missing_data_is_a_cell(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write('problem = "labels.temp"\nsolver = "labels.majority"\n')
    monkeypatch.setenv("OPTIFRAME_DATA", str(tmp_path))
    monkeypatch.setenv("OPTIFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPTIFRAME_OFFLINE", "1")
    seen = [keys(read_plan(path))]
    folder = tmp_path / "crowd" / "temp"
    folder.mkdir(parents=True)
    (folder / "truth.csv").write_text("task,label\n1,1\n")
    for label in (0, 1):
        (folder / "labels.csv").write_text(f"task,worker,label\n1,1,{label}\n")
        seen.append(keys(read_plan(path)))
    assert len({tuple(each) for each in seen}) == 3


def test_a_default_written_out_is_the_same_solver(write: Write) -> None:
    plain = read_plan(write(f'{BOWL}[[solver]]\nname = "scipy.lbfgs"\n'))
    memory = of.solver("scipy.lbfgs").memory
    written = read_plan(write(f'{BOWL}[[solver]]\nname = "scipy.lbfgs"\nmemory = {memory}\n', "b.toml"))
    assert keys(plain) == keys(written)


def test_versions_of_what_does_the_work_count(write: Write) -> None:
    plan = read_plan(write(GOOD))
    versions = choices(plan, "solver")["scipy.lbfgs (memory=5)"].versions
    assert {"optiframework", "numpy", "scipy"} <= set(versions)


# ---- plugins that do not load


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Write:
    """A distribution on disk with one solver, whose module holds the given text."""

    def install(text: str) -> Path:
        site = tmp_path / "site"
        package, info = site / "acme_steps", site / "acme_steps-1.0.dist-info"
        for folder in (package, info):
            folder.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-steps\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[optiframe]\nacme = acme_steps\n")
        (info / "direct_url.json").write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
        (package / "__init__.py").write_text(
            "from optiframe.hookspec import Description, hookimpl\n\n\n@hookimpl\n"
            "def optiframe_plugin():\n"
            "    return [Description('solver', 'acme.step', '.step:Step', 'Steps')]\n"
        )
        (package / "step.py").write_text(text)
        monkeypatch.syspath_prepend(site)
        of.registry.registry.reset()
        return package

    monkeypatch.delitem(sys.modules, "acme_steps", raising=False)
    monkeypatch.delitem(sys.modules, "acme_steps.step", raising=False)
    return install


STEP = '''\
from optiframe import Iterate, Minimize, Solver
class Step(Solver[Minimize, object, None]):
    """Steps."""
    name = "acme.step"
    solves = Minimize
    size: float = 0.5
    def iterates(self, problem, run):
        yield Iterate(problem.function.to * 0)
'''


@pytest.mark.slow
def test_a_solver_that_does_not_import_stays_a_cell(write: Write, plugin: Write) -> None:
    plugin("import a_package_that_is_not_there\n")
    plan = read_plan(write(f'{BOWL}[[solver]]\nname = "acme.step"\nsize = 3\n'))
    choice = plan.cells[0].solver
    assert choice.table == {"name": "acme.step", "size": 3}
    assert choice.versions["acme-steps"] == "1.0"
    assert request_of(plan, plan.cells[0]).solver == choice.table


@pytest.mark.slow
def test_an_edit_of_a_package_under_work_counts_though_its_version_stays(write: Write, plugin: Write) -> None:
    package = plugin(STEP)
    path = write(f'{BOWL}[[solver]]\nname = "acme.step"\n')
    before = keys(read_plan(path))
    assert keys(read_plan(path)) == before
    (package / "step.py").write_text(STEP.replace("* 0", "* 2"))
    assert keys(read_plan(path)) != before


def test_edits_count_where_compiled_and_python_files_of_a_package_lie_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, compiled = tmp_path / "plugin" / "acme_apart", tmp_path / "site" / "acme_apart"
    for folder in (python, compiled):
        folder.mkdir(parents=True)
    (python / "__init__.py").write_text("from acme_apart import step\n")

    class Finder:
        """As an editable install of scikit-build-core has it."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
            places = [str(compiled), str(python)]
            file = python / "__init__.py"
            return (
                spec_from_file_location(name, file, submodule_search_locations=places)
                if name == "acme_apart"
                else None
            )

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    seen = [package_source("acme_apart")]
    for file in (python / "step.py", compiled / f"_native{EXTENSION_SUFFIXES[0]}"):
        for text in ("x = 1\n", "x = 2\n"):
            file.write_text(text)
            seen.append(package_source("acme_apart"))
    assert len(set(seen)) == 5
    assert package_source("acme_apart") == seen[-1]


# ---- what no version stands for

EXTRA = '''\
from typing import Any
from optiframe import Iterate, Minimize, Objective, Solver, register
@register
class Odd(Objective):
    """Odd."""
    name = "extra.odd"
    @property
    def shape(self): return (2,)
    def value(self, x): return 0.0
@register
class Outer(Solver[Minimize, object, None]):
    """A solver that is told of another part by its name."""
    name = "extra.outer"
    solves = Minimize
    part: Any = None
    def iterates(self, problem, run):
        from extra_helper import step
        yield Iterate(step(problem))
'''


@pytest.fixture
def extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_registry: None) -> Path:
    """A file with an objective and a solver, brought as by --import, with a module beside it."""
    path = tmp_path / "own" / "extra_parts.py"
    path.parent.mkdir()
    path.write_text(EXTRA)
    (path.parent / "extra_helper.py").write_text("def step(problem): return 0\n")
    (path.parent / "other.py").write_text("")
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.delitem(sys.modules, "extra_parts", raising=False)
    import_user_module(str(path))
    return path


def changed_by(plan_of: Callable[[], Plan], path: Path, text: str) -> list[bool]:
    """Which cells are others once the file holds something else."""
    before = natural(plan_of())
    path.write_text(text)
    return [a.key != b.key for a, b in zip(before, natural(plan_of()), strict=True)]


def test_the_source_of_a_part_named_inside_a_table_counts(write: Write, extra: Path) -> None:
    path = write(
        f'{BOWL}[[problem]]\ntitle = "odd"\nname = "minimize"\nobjective = "extra.odd"\n'
        '[[solver]]\nname = "scipy.lbfgs"\n'
    )

    def plan() -> Plan:
        return read_plan(path, modules=[str(extra)])

    assert changed_by(plan, extra, EXTRA.replace("0.0", "1.0")) == [False, True]


def test_a_part_of_a_plugin_under_work_counts_wherever_it_is_named(
    write: Write, plugin: Write, extra: Path
) -> None:
    package = plugin(STEP)
    del sys.modules["extra_parts"]  # what it registered was forgotten with the rest
    import_user_module(str(extra))
    inner = '[[solver]]\nname = "extra.outer"\npart = [{inner = {name = "acme.step"}}]\n'
    path = write(f'{BOWL}{inner}[[solver]]\nname = "scipy.lbfgs"\n')

    def plan() -> Plan:
        return read_plan(path, modules=[str(extra)])

    assert changed_by(plan, package / "step.py", STEP.replace("* 0", "* 2")) == [True, False]


def test_a_module_beside_an_imported_file_counts_when_it_is_imported(write: Write, extra: Path) -> None:
    path = write(f'{BOWL}[[solver]]\nname = "extra.outer"\n[[solver]]\nname = "scipy.lbfgs"\n')

    def plan() -> Plan:
        return read_plan(path, modules=[str(extra)])

    helper = extra.with_name("extra_helper.py")
    assert changed_by(plan, helper, "def step(problem): return 1\n") == [True, False]
    assert changed_by(plan, extra.with_name("other.py"), "x = 1\n") == [False, False]
    assert changed_by(plan, helper, "from other import x\ndef step(problem): return x\n") == [True, False]
    assert changed_by(plan, extra.with_name("other.py"), "x = 2\n") == [True, False]


def test_the_whole_package_of_a_class_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "ownpack"
    (package / "inner").mkdir(parents=True)
    for name, text in (("__init__", ""), ("inner/__init__", ""), ("inner/part", "class Part: pass\n")):
        (package / f"{name}.py").write_text(text)
    (package / "beside.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    part = importlib.import_module("ownpack.inner.part").Part
    before = code_of(part)
    assert code_of(part) == before
    (package / "beside.py").write_text("x = 2\n")
    assert code_of(part) != before


def test_what_a_class_of_a_script_uses_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class itself, a function and a number of the script it uses, a module beside; nothing else."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "script_helper.py").write_text("y = 1\n")
    script = tmp_path / "script.py"
    text = (
        "import script_helper\nfrom optiframe.comparison.plan.sources import code_of\n"
        "scale, other = 2.0, 1\n"
        "def shrink(x): return x / scale\n"
        "class Own:\n    def step(self, x): return [shrink(v) for v in x]\n"
        "code = code_of(Own)\n"
    )

    def code(text: str) -> str:
        script.write_text(text)
        found: str = run_path(str(script), run_name="__main__")["code"]
        return found

    before = code(text)
    assert code(text.replace("other = 2.0, 1", "other = 2.0, 3")) == before
    assert code(text.replace("x / scale", "x * scale")) != before
    assert code(text.replace("scale, other = 2.0", "scale, other = 3.0")) != before
    (tmp_path / "script_helper.py").write_text("y = 2\n")
    assert code(text) != before


def test_the_code_of_a_function_in_a_problem_counts(extra: Path) -> None:
    from extra_helper import step  # type: ignore[import-not-found]  # the fixture has just written it

    def plan() -> Plan:
        return make_plan([of.Minimize(of.from_function(step, (2,)))], ["scipy.lbfgs"])

    assert changed_by(plan, extra.with_name("extra_helper.py"), "def step(x): return 3\n") == [True]


# ---- Python


class _Descent(Solver[of.Minimize, Any, None]):
    """Gradient descent of this test."""

    name = "plan.descent"
    solves = of.Minimize
    step: float = 0.5

    def iterates(self, problem: of.Minimize, run: of.Run) -> Any:
        x = np.zeros(2)
        while True:
            gradient = problem.function.gradient(x)
            x = x - self.step * gradient
            yield Iterate(x, residual=float(np.linalg.norm(gradient)))


def bowl(*centre: float) -> of.Minimize:
    return of.Minimize(of.objective("squared-distance", to=list(centre)))


def test_a_plan_of_objects_names_and_tables() -> None:
    plan = make_plan(
        {"mine": bowl(1, 2), "theirs": "labels.rte", "drawn": {"dataset": "synthetic.single-coin"}},
        [_Descent(), "scipy.lbfgs", {"name": "rankone.pgd", "step": {"sweep": np.array([0.1, 0.5])}}],
        seeds=2,
        budget={"iterations": 9},
        limits={"memory": "1 GB"},
        workers=1,
    )
    assert titles(plan, "problem") == ["mine", "theirs", "drawn"]
    assert titles(plan, "solver") == [
        "plan.descent",
        "scipy.lbfgs",
        "rankone.pgd (step=0.1)",
        "rankone.pgd (step=0.5)",
    ]
    by_title = choices(plan, "problem") | choices(plan, "solver")
    assert {t for t, choice in by_title.items() if choice.table is None} == {"mine", "plan.descent"}
    assert (plan.budget.iterations, plan.limits.memory, plan.executor.workers) == (9, 10**9, 1)


def test_objects_of_one_name_are_numbered_and_equal_ones_refused() -> None:
    plan = make_plan([bowl(1, 2), bowl(1, 3)], ["scipy.lbfgs"])
    assert titles(plan, "problem") == ["minimize", "minimize #2"]
    with pytest.raises(
        of.InvalidInput, match=r"problem\.1: minimize is the same problem as minimize of problem\.0"
    ):
        make_plan([bowl(1, 2), bowl(1, 2)], ["scipy.lbfgs"])


def test_entries_of_one_name_are_called_by_the_parameters_that_tell_them_apart() -> None:
    pgd = {"name": "rankone.pgd"}
    plan = make_plan("labels.rte", [pgd, {**pgd, "step": 0.5}, {**pgd, "step": {"sweep": [0.1, 0.2]}}])
    assert titles(plan, "solver") == [
        "rankone.pgd",
        "rankone.pgd (step=0.5)",
        "rankone.pgd (step=0.1)",
        "rankone.pgd (step=0.2)",
    ]
    data = {"name": "synthetic.single-coin", "tasks": 50}
    plan = make_plan([{"dataset": data}, {"dataset": {**data, "workers": 9}}], [pgd])
    assert titles(plan, "problem") == ["synthetic.single-coin", "synthetic.single-coin (workers=9)"]


def test_a_single_problem_and_solver_need_no_list() -> None:
    for one in (bowl(1, 2), "labels.rte", {"dataset": "labels.rte"}, of.dataset("labels.rte")):
        assert len(make_plan(one, "scipy.lbfgs").cells) == 1


def test_the_same_in_python_and_in_a_file_is_the_same_cell(write: Write) -> None:
    table = {"name": "minimize", "objective": {"name": "squared-distance", "to": [1.0, 2.0]}}
    made = make_plan([table], ["scipy.lbfgs"])
    assert keys(made) == keys(read_plan(write(f'{BOWL}[[solver]]\nname = "scipy.lbfgs"\n')))
    assert keys(read_plan(write(made.text, "made.toml"))) == keys(made)
    titled = make_plan({"text": "labels.rte"}, {"em": "labels.one-coin-em"}, better={"error": "lower"})
    again = read_plan(write(titled.text, "titled.toml"))
    assert (keys(again), titles(again, "problem"), again.better) == (keys(titled), ["text"], titled.better)


@pytest.mark.parametrize(
    ("problems", "solvers", "more", "expected"),
    [
        ([], ["scipy.lbfgs"], {}, "give at least one problem"),
        ("labels.rte", {}, {}, "give at least one solver"),
        ([3], ["scipy.lbfgs"], {}, "problem.0: must be a table, a name or a problem, got 3"),
        ({"a": 3}, ["scipy.lbfgs"], {}, "problem.a: must be a table"),
        ("labels.rte", ["scipy.lbfg"], {}, "solver.0.name: no solver named 'scipy.lbfg'"),
        ("labels.rte", ["scipy.lbfgs"], {"seeds": [-1]}, "seeds: each seed must be"),
        ("labels.rte", ["scipy.lbfgs"], {"executor": "cloud"}, "executor.name: must be one of"),
        ("labels.rte", ["scipy.lbfgs"], {"budget": 3}, "budget must be a mapping or a record"),
        ("labels.rte", ["scipy.lbfgs"], {"limits": {"time": -1}}, "limits.time: must be greater than 0"),
        (
            {"name": "minimize", "objective": {"name": "squared-distance", "to": np.array([np.nan])}},
            "scipy.lbfgs",
            {},
            "problem.0.objective.to: entry [0] is nan",
        ),
    ],
)
def test_a_wrong_argument_is_named(problems: Any, solvers: Any, more: dict[str, Any], expected: str) -> None:
    with pytest.raises(of.InvalidInput) as caught:
        make_plan(problems, solvers, **more)
    assert expected in str(caught.value)


@pytest.mark.usefixtures("fresh_registry")
def test_what_only_this_process_knows_travels_as_an_object() -> None:
    of.register(_Descent)
    plan = make_plan(bowl(1, 2), ["plan.descent", {"name": "plan.descent", "step": {"sweep": [0.1, 0.2]}}])
    assert titles(plan, "solver") == ["plan.descent", "plan.descent (step=0.1)", "plan.descent (step=0.2)"]
    assert [choice.thing.step for choice in choices(plan, "solver").values()] == [0.5, 0.1, 0.2]


@pytest.mark.slow
def test_a_table_with_arrays_becomes_an_object_for_each_seed() -> None:
    table = {
        "dataset": {
            "name": "synthetic.single-coin",
            "workers": 3,
            "skills": np.array([0.2, 0.4, 0.6]),
            "seed": {"from": "seed"},
        }
    }
    plan = make_plan(table, "labels.majority", seeds=2)
    sent = [request_of(plan, cell).objects["problem"] for cell in natural(plan)]
    first, second = (pickle.loads(one.content, buffers=one.buffers) for one in sent)
    assert first.fingerprint() != second.fingerprint()
    again = of.problem(dataset={**table["dataset"], "seed": 1})
    assert second.fingerprint() == again.fingerprint()


# ---- requests


def test_a_request_has_the_seed_filled_in_and_is_plain_data(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("brought_alone.py").write_text("")
    plan = read_plan(write(GOOD), modules=["brought_alone.py", "json.tool"])
    cell = next(c for c in plan.cells if c.problem.title.endswith("(workers=7)") and c.seed == 3)
    request = request_of(plan, cell)
    assert request.problem == {"dataset": {"name": "synthetic.single-coin", "workers": 7, "seed": 3}}
    assert request.objects == {}
    assert request.budget == plan.budget.model_dump()
    assert request.modules == (str(tmp_path / "brought_alone.py"), "json.tool")
    assert all(Path(entry).is_absolute() for entry in (*request.path, request.folder))
    json.dumps([request.problem, request.solver, request.budget])


class _Stuck(_Descent):
    """A solver that does not let itself be sent."""

    def __getstate__(self) -> dict[Any, Any]:
        raise TypeError("it holds an open file")


def test_an_object_that_cannot_travel_is_said_so() -> None:
    plan = make_plan("labels.rte", _Stuck())
    with pytest.raises(
        of.InvalidInput, match=r"plan\.descent cannot be sent to another process \(TypeError: it"
    ):
        request_of(plan, plan.cells[0])


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_registry")
def test_objects_of_a_notebook_travel_to_a_fresh_process(tmp_path: Path) -> None:
    program = tmp_path / "notebook.py"
    program.write_text(
        "import subprocess, sys\n"
        "from optiframe import Iterate, Minimize, Solver, objective\n"
        "from optiframe.comparison.plan.plan import make_plan\n"
        "from optiframe.comparison.plan.requests import request_of\n"
        + STEP.split("\n", 1)[1].replace("acme.step", "own.step")
        + "plan = make_plan(Minimize(objective('squared-distance', to=[1.0, 2.0])), Step(size=0.25))\n"
        "sent = request_of(plan, plan.cells[0]).objects\n"
        "data = sent['solver'].content + sent['problem'].content\n"
        "read = 'import pickle, sys; s, p = (pickle.load(sys.stdin.buffer) for _ in range(2)); '\n"
        "read += 'print(s.size, p.fingerprint())'\n"
        "print(plan.cells[0].problem.thing.fingerprint(), flush=True)\n"
        "subprocess.run([sys.executable, '-c', read], input=data, check=True)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    here, size, there = done.stdout.split()
    assert (size, there) == ("0.25", here)


# ---- repeating, units, text


def test_a_renewed_plan_has_the_same_keys_until_something_changes(write: Write, tmp_path: Path) -> None:
    path = write(GOOD.replace("to = [1.0, 2.0]", 'to = "to.csv"'))
    (tmp_path / "to.csv").write_text("1,2\n")
    plan = read_plan(path)
    assert renewed(plan) == plan
    (tmp_path / "to.csv").write_text("1,3\n")
    changed = [a.key != b.key for a, b in zip(plan.cells, renewed(plan).cells, strict=True)]
    assert changed == [cell.problem.title == "bowl" for cell in plan.cells]


def test_a_plan_without_its_objects_cannot_be_renewed() -> None:
    plan = make_plan({"mine": bowl(1, 2)}, "scipy.lbfgs")
    forgotten = replace(
        plan, cells=tuple(replace(c, problem=replace(c.problem, thing=None)) for c in plan.cells)
    )
    with pytest.raises(of.InvalidInput, match="mine: was made in Python and is not kept"):
        renewed(forgotten)
    with pytest.raises(of.InvalidInput, match="mine was made in Python and is not kept"):
        request_of(forgotten, forgotten.cells[0])


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2 GB", 2 * 10**9), ("1.5GiB", 3 * 2**29), ("512 MiB", 2**29), ("10kb", 10_000), (7, 7), ("8 B", 8)],
)
def test_memory_is_read_with_its_unit(text: int | str, amount: int) -> None:
    assert bytes_of(text) == amount


@given(st.integers(1, 10**14))
def test_memory_in_words_is_read_back(amount: int) -> None:
    assert math.isclose(bytes_of(in_words(amount)), amount, rel_tol=1e-3)


_VALUES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(["seeds", "budget", "limits"]), _VALUES),
    st.lists(st.dictionaries(st.text(max_size=4), _VALUES, max_size=3), min_size=1, max_size=3),
)
@pytest.mark.slow
def test_a_written_comparison_is_read_back(table: dict[str, Any], problems: list[dict[str, Any]]) -> None:
    whole = {**table, "problem": problems}
    assert tomllib.loads(as_toml(whole)) == whole
