"""Names, plugins found on disk, and what happens when one is broken."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import pytest
from click.testing import CliRunner
from pydantic import Field

import optiframe as of
from optiframe.cli.describe import command as describe
from optiframe.registry import registry
from optiframe.registry.plugins import Plugin

pytestmark = pytest.mark.usefixtures("fresh_registry")

SOLVER = '''
import optiframe as of

class {cls}(of.Solver[of.Minimize, object, None]):
    """{summary}"""
    name = "{name}"
    solves = of.Minimize
    def iterates(self, problem, run):
        yield of.Iterate(problem.initial())
'''

ENTRY = """
from optiframe.hookspec import Description, hookimpl

@hookimpl
def optiframe_plugin():
    return [Description("solver", "{name}", "{module}.solver:{cls}", "{summary}")]
"""


class Disk:
    """Distributions written to a folder on the import path, with metadata, as pip would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, distribution: str, files: dict[str, str], version: str = "1.2.3") -> None:
        module = distribution.replace("-", "_")
        info = self.folder / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(f"[optiframe]\n{distribution} = {module}\n")
        package = self.folder / module
        package.mkdir()
        for name, text in files.items():
            (package / name).write_text(textwrap.dedent(text))

    def add_solver(self, distribution: str, name: str, cls: str = "Mine", solver: str | None = None) -> None:
        module = distribution.replace("-", "_")
        entry = ENTRY.format(name=name, module=module, cls=cls, summary="A solver.")
        body = solver if solver is not None else SOLVER.format(name=name, cls=cls, summary="A solver.")
        self.add(distribution, {"__init__.py": entry, "solver.py": body})


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield Disk(folder)  # type: ignore[misc]  # a generator fixture
    for name in set(sys.modules) - before:
        if name.split(".")[0].startswith("fake_"):
            del sys.modules[name]


def plugin(name: str) -> Plugin:
    return next(p for p in registry.registry().plugins if p.name == name)


def test_a_good_plugin_is_listed_and_solves(disk: Disk) -> None:
    disk.add_solver("fake-good", "fake.good")
    assert plugin("fake-good").state == "loaded"
    assert plugin("fake-good").version == "1.2.3"
    result = of.solve(of.Projection([1.0], onto="whole-space"), "fake.good")
    assert result.settings["versions"]["fake-good"] == "1.2.3"


def hook(body: str) -> str:
    """An entry module whose hook has this body."""
    start = "from optiframe.hookspec import Description, hookimpl\n@hookimpl\ndef optiframe_plugin():\n    "
    return start + body


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise SystemExit", "SystemExit: "),
        ("import no_such_package_anywhere", "No module named 'no_such_package_anywhere'"),
        (hook("raise KeyError('inside the hook')"), "inside the hook"),
        (
            hook("return []").replace("_plugin", "_plugins"),
            "no hook optiframe_plugins; did you mean 'optiframe_plugin'",
        ),
        ("def optiframe_plugin(): return []", "optiframe_plugin lacks @hookimpl"),
        (hook("return ['fake.text']"), "must return Descriptions, got str"),
        (
            hook("return [Description('dataset', 'fake.kind', '.a:A', '')]"),
            "'fake.kind' is described as a 'dataset', which is no kind; did you mean 'data set'? (kinds: ",
        ),
        (
            hook("return [Description('solver', 'Fake Name', '.a:A', '')]"),
            "'Fake Name' is not a valid solver name",
        ),
        (
            hook("return []").replace("plugin()", "plugin(asked)"),
            "can not be found in the hookspec",
        ),
    ],
)
def test_a_broken_plugin_says_why_and_leaves_the_others_alive(disk: Disk, entry: str, error: str) -> None:
    disk.add("fake-bad", {"__init__.py": entry})
    disk.add_solver("fake-good", "fake.good")
    assert plugin("fake-bad").state == "broken"
    assert error in plugin("fake-bad").error
    assert registry.registry().get("solver", "fake.good")


def test_a_plugin_that_breaks_late_leaves_none_of_its_names(disk: Disk) -> None:
    entry = ENTRY.format(name="fake.early", module="fake_late", cls="Mine", summary="A solver.")
    disk.add("fake-late", {"__init__.py": entry + "OPTIFRAME_RENAMED = 3\n"})
    assert plugin("fake-late").state == "broken"
    assert plugin("fake-late").entries == []
    assert "fake.early" not in [each.name for each in registry.registry().entries("solver")]


def test_an_entry_point_of_no_distribution_is_loaded_as_of_an_unknown_one(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.add_solver("fake-bare", "fake.bare")
    points = [metadata.EntryPoint("fake-bare", "fake_bare", "optiframe")]
    monkeypatch.setattr(metadata, "entry_points", lambda group: points)
    found = plugin("fake-bare")
    assert (found.state, found.distribution, found.version) == ("loaded", "unknown", "")


def test_a_plugin_may_register_by_code_while_it_is_loaded(disk: Disk) -> None:
    entry = "import optiframe\n" + SOLVER.format(name="fake.eager", cls="Mine", summary="x").replace(
        "class Mine", "@optiframe.register\nclass Mine"
    )
    disk.add("fake-eager", {"__init__.py": entry})
    assert registry.registry().get("solver", "fake.eager").name == "fake.eager"


def test_many_threads_see_one_registry() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(registry.registry())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in found}) == 1


def test_names_can_be_read_while_another_thread_registers() -> None:
    found: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(100):
                registry.registry().entries("solver")
                registry.registry().find("scipy.lbfgs")
                registry.registry().lost()
        except RuntimeError as error:
            found.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(200):
            of.register(make(f"many.n{number}"))
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert found == []


def test_a_registry_whose_loading_was_interrupted_is_loaded_again(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = "import os\nif os.environ.get('PRESSED'):\n    raise KeyboardInterrupt\n" + hook("return []")
    disk.add("fake-pressed", {"__init__.py": entry})
    monkeypatch.setenv("PRESSED", "yes")
    with pytest.raises(KeyboardInterrupt):
        registry.registry()
    monkeypatch.delenv("PRESSED")
    assert of.solver("scipy.lbfgs").name == "scipy.lbfgs"


def test_a_name_that_a_plugin_gave_up_is_answered_with_the_new_one(disk: Disk) -> None:
    entry = ENTRY.format(name="fake.new", module="fake_moved", cls="Mine", summary="A solver.")
    disk.add("fake-moved", {"__init__.py": entry + 'OPTIFRAME_RENAMED = {"fake.old": "fake.new"}\n'})
    for asked in ("fake.old", "Fake.Old"):
        with pytest.raises(of.UnknownName, match=r"no solver named '.*'; use fake\.new instead$"):
            registry.registry().get("solver", asked)
    with pytest.raises(of.UnknownName, match=r"^no data set named 'fake\.old'$"):
        registry.registry().get("data set", "fake.old")


def test_a_solver_with_a_missing_dependency_is_listed_and_says_so_on_use(disk: Disk) -> None:
    disk.add_solver("fake-lazy", "fake.lazy", solver="import no_such_package_anywhere")
    assert [e.name for e in registry.registry().entries("solver") if e.name.startswith("fake")] == [
        "fake.lazy"
    ]
    with pytest.raises(of.BrokenPlugin, match=r"fake-lazy does not load.*no_such_package_anywhere"):
        registry.registry().get("solver", "fake.lazy")


def test_a_name_claimed_twice_is_unusable_and_both_are_named(disk: Disk) -> None:
    disk.add_solver("fake-one", "fake.same")
    disk.add_solver("fake-two", "fake.same")
    disk.add_solver("fake-three", "fake.other")
    with pytest.raises(of.BrokenPlugin, match="claimed by fake-one and by fake-two"):
        registry.registry().get("solver", "fake.same")
    assert registry.registry().get("solver", "fake.other")


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("Mine = 3", "is not a subclass of optiframe.Solver"),
        ("class Mine:\n    pass", "is not a subclass of optiframe.Solver"),
        (SOLVER.format(name="fake.other", cls="Mine", summary="x"), "calls itself 'fake.other'"),
        (SOLVER.format(name="fake.wrong", cls="Mine", summary=""), "has no docstring"),
        (
            SOLVER.format(name="fake.wrong", cls="Mine", summary="x").replace("def iterates", "def iterate"),
            "lacks iterates",
        ),
        (
            SOLVER.format(name="fake.wrong", cls="Mine", summary="x").replace("solves = of.Minimize", ""),
            "must set `solves` to a Problem class",
        ),
        (SOLVER.format(name="fake.wrong", cls="Another", summary="x"), "has no attribute 'Mine'"),
    ],
)
def test_a_class_of_the_wrong_type_is_refused_with_the_reason(disk: Disk, solver: str, message: str) -> None:
    disk.add_solver("fake-wrong", "fake.wrong", solver=solver)
    with pytest.raises(of.BrokenPlugin, match=message):
        registry.registry().get("solver", "fake.wrong")


def test_the_environment_limits_which_plugins_load(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.add_solver("fake-one", "fake.one")
    disk.add_solver("fake-two", "fake.two")
    monkeypatch.setenv("OPTIFRAME_PLUGINS", "fake_two, something-else")
    assert plugin("fake-one").state == "switched off"
    assert plugin("fake-two").state == "loaded"
    assert registry.registry().get("constraint set", "box")  # the core's own always load
    assert registry.registry().unknown_choices == ["something-else"]


def test_the_order_of_distributions_does_not_matter(disk: Disk) -> None:
    disk.add_solver("fake-zeta", "fake.a")
    disk.add_solver("fake-alpha", "fake.b")
    names = [e.name for e in registry.registry().entries("solver")]
    assert names == sorted(names)


def test_names_are_normalised() -> None:
    assert registry.registry().get("constraint set", " Non_Negative ").name == "non-negative"


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(of.UnknownName, match="did you mean 'simplex'"):
        of.constraint_set("simplx")
    with pytest.raises(of.UnknownName, match="no problem named 'minimise'; did you mean 'minimize'"):
        of.problem("minimise")
    with pytest.raises(of.UnknownName, match=r"named 'nelder'; did you mean 'scipy\.nelder-mead'"):
        of.solver("nelder")


def test_an_unknown_name_mentions_broken_plugins(disk: Disk) -> None:
    disk.add("fake-bad", {"__init__.py": "raise RuntimeError('boom')"})
    with pytest.raises(of.UnknownName, match="broken plugins: fake-bad"):
        of.solver("fake.bad")


def test_a_table_without_a_name_is_answered_with_the_names_there_are() -> None:
    words = r"over\.name: is missing: which constraint set\? \(known: .*simplex"
    with pytest.raises(of.InvalidInput, match=words):
        of.problem("minimize", objective={"name": "squared-distance", "to": [1.0]}, over={"size": 1})


def test_only_an_unknown_part_may_be_one_of_your_own() -> None:
    ours = "; one of your own comes by a plugin, optiframe.register or --import FILE"
    for kind, hint in (("part", ours), ("solver", "")):
        with pytest.raises(of.UnknownName) as raised:
            registry.registry().get(kind, "qqq.zzz")
        assert str(raised.value) == f"no {kind} named 'qqq.zzz'{hint}"


def test_an_unknown_name_may_be_in_a_blocked_module_unless_that_is_known_for_others(disk: Disk) -> None:
    disk.add_solver("fake-here", "fake.here")
    path = registry.registry().entry("solver", "fake.here").path
    registry.block({path.partition(":")[0]: "it crashed", "notebook_cells": "it hung"})
    with pytest.raises(
        of.UnknownName, match="it may be in notebook_cells, whose import failed: it hung"
    ) as no:
        of.solver("qqq.zzz")
    assert "it crashed" not in str(no.value)
    with pytest.raises(of.BrokenPlugin, match=r"'fake.here' of fake-here does not load: it crashed"):
        of.solver("fake.here")


def make(name: str, **attributes: Any) -> type[Any]:
    """A solver class as a notebook cell would define it."""

    def iterates(self: Any, problem: Any, run: Any) -> Any:
        yield of.Iterate(problem.initial())

    body = {
        "__doc__": "A solver made here.",
        "__module__": "notebook",
        "__qualname__": "Mine",
        "name": name,
        "solves": of.Minimize,
        "iterates": iterates,
    } | attributes
    return type("Mine", (of.Solver,), body)


def test_registering_by_code_works_and_can_be_repeated() -> None:
    first, second = make("here.mine"), make("here.mine")
    assert of.register(first) is first
    of.register(second)
    assert registry.registry().get("solver", "here.mine") is second


def test_registering_a_taken_name_names_the_owner() -> None:
    of.register(make("here.mine"))
    with pytest.raises(of.InvalidInput, match="taken by notebook:Mine"):
        of.register(make("here.mine", __qualname__="Other"))
    with pytest.raises(of.InvalidInput, match=r"taken by .*\(optiframework\)"):
        of.register(make("scipy.lbfgs"))


def test_registering_what_an_entry_point_registers_too_is_no_clash(disk: Disk) -> None:
    disk.add_solver("fake-good", "fake.good")
    cls = registry.registry().get("solver", "fake.good")
    assert of.register(cls) is cls
    assert registry.registry().entry("solver", "fake.good").distribution == "fake-good"


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (int, "it must be a subclass of Problem, Solver"),
        (3, "it must be a subclass of Problem, Solver"),
        (make(""), "this solver has no name; write name = "),
        (make("Not Valid"), "not a valid solver name"),
        (make("here.mine", __doc__=None), "has no docstring"),
        (make("here.mine", solves=int), "must set `solves`"),
        (
            make("here.mine", iterates=lambda self, problem: None),
            r"must define iterates\(self, problem, run\)",
        ),
        (make("here.mine", __annotations__={"seed": int}, seed=3), "cannot have a parameter 'seed'"),
    ],
)
def test_registering_makes_the_same_checks(cls: Any, message: str) -> None:
    with pytest.raises(of.BrokenPlugin, match=message):
        of.register(cls)


PARTS = '''
from abc import abstractmethod
from pydantic import Field
import optiframe as of

class Taste(of.Part):
    """What a thing tastes like."""
    family = "taste"
    @abstractmethod
    def word(self): ...

class Sweet(Taste):
    """Of sugar."""
    name = "taste.sweet"
    spoons: int = Field(default=1, ge=0, description="of sugar")
    def word(self):
        return f"{self.spoons} spoons"
'''

PART_ENTRY = """
from optiframe.hookspec import Description, hookimpl

@hookimpl
def optiframe_plugin():
    return [Description("part", "{name}", ".parts:{cls}", "Of sugar.")]
"""


def add_part(
    disk: Disk, distribution: str, name: str = "taste.sweet", cls: str = "Sweet", parts: str = PARTS
) -> None:
    module = distribution.replace("-", "_")
    entry = PART_ENTRY.format(name=name, module=module, cls=cls)
    disk.add(distribution, {"__init__.py": entry, "parts.py": parts})


def test_a_part_is_found_by_its_family_and_takes_parameters(disk: Disk) -> None:
    add_part(disk, "fake-taste")
    sweet = registry.registry().get("part", "taste.sweet")
    family = sweet.__mro__[1]
    assert of.part(family, "sweet").word() == "1 spoons"
    assert of.part(family, {"name": "taste.sweet", "spoons": 2}) == sweet(spoons=2)
    assert sweet(spoons=2).table() == {"name": "sweet", "spoons": 2}
    with pytest.raises(of.InvalidInput, match=r"no part named 'taste.sweat'; did you mean 'taste.sweet'"):
        of.part(family, "sweat")
    with pytest.raises(of.InvalidInput, match="spoons: must be at least 0, got -1"):
        of.part(family, {"name": "sweet", "spoons": -1})
    with pytest.raises(of.InvalidInput, match=r"which taste\? \(known: sweet\)"):
        of.part(family, {})
    with pytest.raises(
        of.InvalidInput, match="must be a taste: its name, a table with its name, or an object"
    ):
        of.part(family, 3)


def test_a_field_takes_a_part_by_name_and_writes_it_so(disk: Disk) -> None:
    add_part(disk, "fake-taste")
    sweet = registry.registry().get("part", "taste.sweet")

    class Cake(of.Solver[of.Minimize, object, None]):
        """Has a taste."""

        name = "fake.cake"
        solves = of.Minimize
        taste: Annotated[sweet.__mro__[1], of.ByName()] = Field(default=sweet(), description="of it")

        def iterates(self, problem: Any, run: Any) -> Any:
            yield of.Iterate(problem.initial())

    of.register(Cake)
    cake = Cake(taste={"name": "sweet", "spoons": 3})
    assert cake.taste.spoons == 3
    assert cake.model_dump() == {"taste": {"name": "sweet", "spoons": 3}}
    assert Cake.load(**cake.model_dump()) == cake
    result = of.solve(of.Projection([1.0], onto="whole-space"), cake)
    assert result.settings["solver"]["taste"] == {"name": "sweet", "spoons": 3}
    assert result.settings["versions"]["fake-taste"] == "1.2.3"  # whoever brought the part is recorded
    with pytest.raises(of.InvalidInput, match=r"taste.*no part named 'taste.sour'"):
        Cake(taste="sour")
    described = CliRunner().invoke(describe, ["fake.cake"]).output
    assert "taste: a name, or a table with the name and its parameters" in described
    assert "default {'name': 'sweet', 'spoons': 1}" in described


def test_a_part_claimed_twice_is_unusable_and_both_are_named(disk: Disk) -> None:
    add_part(disk, "fake-one")
    add_part(disk, "fake-two")
    with pytest.raises(of.BrokenPlugin, match="claimed by fake-one and by fake-two"):
        registry.registry().get("part", "taste.sweet")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "name", "message"),
    [
        (PARTS.replace('name = "taste.sweet"', 'name = "sweet"'), "sweet", "must be named family.piece"),
        (PARTS.replace('family = "taste"', ""), "taste.sweet", "must be named family.piece"),
        (
            PARTS.replace("def word(self):\n        return", "def words(self):\n        return"),
            "taste.sweet",
            "lacks word",
        ),
        ("class Sweet: pass", "taste.sweet", "is not a subclass of optiframe.Part"),
    ],
)
def test_a_part_that_breaks_its_familys_promise_is_refused(
    disk: Disk, parts: str, name: str, message: str
) -> None:
    add_part(disk, "fake-taste", name, parts=parts)
    with pytest.raises(of.BrokenPlugin, match=message):
        registry.registry().get("part", name)


@pytest.mark.slow
def test_doctor_and_list_show_a_broken_plugin_and_go_on(disk: Disk) -> None:
    disk.add("fake-bad", {"__init__.py": "raise RuntimeError('boom')"})
    disk.add_solver("fake-one", "fake.same")
    disk.add_solver("fake-two", "fake.same")
    disk.add_solver("fake-good", "fake.good")
    disk.add_solver("fake-wrong", "fake.wrong", solver="Other = 1")
    disk.add("fake-empty", {"__init__.py": ""})
    lacking = PARTS.replace("def word(self):\n        return", "def words(self):\n        return")
    add_part(disk, "fake-taste", "taste.sweet", parts=lacking)
    fakes = [f"fake-{name}" for name in ("bad", "one", "two", "good", "wrong", "empty", "taste")]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = f"import sys; sys.path.insert(0, {str(disk.folder)!r}); from optiframe.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True,
            text=True,
            check=False,
            # Doctor tries the libraries of the plugins installed, too, which takes long.
            env={**os.environ, "OPTIFRAME_PLUGINS": ",".join(fakes)},
        )

    doctor = run("doctor")
    assert doctor.returncode == 1
    assert "fake-bad  broken  fake-bad 1.2.3" in doctor.stdout
    assert "RuntimeError: boom" in doctor.stdout
    assert "claimed by fake-one and by fake-two" in doctor.stdout
    assert "solver fake.wrong  broken" in doctor.stdout
    assert "has no attribute 'Mine'" in doctor.stdout
    assert "brings no names" in doctor.stdout
    assert "part taste.sweet  broken" in doctor.stdout
    assert "lacks word" in doctor.stdout
    assert "fake.wrong" not in run("doctor", "--quick").stdout
    listing = run("list", "solvers")
    assert listing.returncode == 0
    assert "fake.good" in listing.stdout
    assert "broken plugins: fake-bad" in listing.stdout
    parts = run("list", "parts")
    assert parts.returncode == 0
    assert "taste.sweet" in parts.stdout


def test_a_field_takes_a_solver_or_a_set_by_name_and_writes_it_so() -> None:
    of.register(make("here.inner", __annotations__={"step": float}, step=0.5))

    class Twice(of.Solver[of.Minimize, Any, None]):
        """A solver around another one."""

        name = "here.twice"
        solves = of.Minimize
        inner: Annotated[of.Solver[Any, Any, Any], of.ByName()] = Field(description="runs inside")
        within: Annotated[of.ConstraintSet, of.ByName()] | None = None

        def iterates(self, problem: of.Minimize, run: of.Run) -> of.Iterates:
            yield of.Iterate(run.solve(self.inner, problem).solution)

    told = {"inner": {"name": "here.inner", "step": 0.25}, "within": {"name": "simplex", "total": 2.0}}
    solver = Twice(**told)
    assert solver.inner.name == "here.inner"
    assert solver.model_dump() == told
    assert Twice(inner="here.inner").inner == Twice(inner={"name": "here.inner", "step": 0.5}).inner
    bowl = of.Minimize(of.objective("squared-distance", to=[0.0]))
    assert of.solve(bowl, solver, progress=False).solution == 0.0
    for wrong, words in (
        ("here.innr", r"inner.name: no solver named 'here.innr'; did you mean 'here.inner'"),
        ({"name": "here.inner", "stpe": 1.0}, r"inner.stpe: unknown key; did you mean 'step'"),
        (3, "inner: must be a solver: its name, a table with its name, or an object"),
    ):
        with pytest.raises(of.InvalidInput, match=words):
            Twice(inner=wrong)


def test_a_name_that_one_plugin_gives_twice_is_to_be_renamed(disk: Disk) -> None:
    twice = "Description('solver', 'fake.twice', '.solver:{}', '')"
    disk.add("fake-twice", {"__init__.py": hook(f"return [{twice.format('A')}, {twice.format('B')}]")})
    words = r"'fake.twice' is given to two classes by fake-twice; rename one"
    with pytest.raises(of.BrokenPlugin, match=words):
        of.solver("fake.twice")
