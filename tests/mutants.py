"""Mutation testing: make small changes to a module, and see whether its tests notice.

    python tests/mutants.py                         all modules of TESTS
    python tests/mutants.py optiframe/tables/read.py --count 100 --json rates.json

Each change is one mutant: `<` becomes `<=`, `and` becomes `or`, a constant moves, a statement goes, and
so on. A mutant is killed when a test fails or the tests take too long; a survivor is either equivalent
to the original or shows what no test checks. Everything happens in temporary copies of the tree.

The sample of mutants is drawn by hashing the changed line, not its number: two versions of a module are
compared on the same mutants, where their lines are the same.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import math
import multiprocessing
import os
import queue
import resource
import shutil
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from time import perf_counter, process_time

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_COPIED = shutil.ignore_patterns(".*", "results", "site")  # .git and .venv among the first
OUTPUT, SECONDS = "output.txt", "seconds.txt"  # of the latest tests, beside the copy
EDITABLE = "_editable_"  # begins the modules whose finders editable installs add
MEMORY = 8 * 2**30  # bytes of address space; a mutant may allocate without end
# A mutant may take this many times the unchanged module's seconds, of the processor's and of the clock's:
# endless loops end by the first, whatever else runs on the machine, and waiting for ever by the second.
PROCESSOR, CLOCK, SLACK = 3, 10, 10

# Imported once, in the server that all runs are forked from: nothing of ours, and nothing with threads.
PRELOADED = "pytest hypothesis numpy scipy.optimize pandas pydantic narwhals rich"

_LOOP = "tests/test_loop.py tests/test_callbacks.py tests/test_raising_solvers.py tests/test_contract.py"
# The tests of each module, likely killers first.
TESTS = {
    "optiframe/solving/runner.py": _LOOP,
    "optiframe/solving/recorder.py": _LOOP,
    "optiframe/registry/registry.py": """
        tests/test_registry.py tests/test_bad_input.py tests/test_config.py tests/test_doctor.py
        tests/test_kept.py""",
    "optiframe/registry/plugins.py": "tests/test_registry.py tests/test_doctor.py tests/test_kept.py",
    "optiframe/registry/versions.py": "tests/test_versions.py tests/test_registry.py",
    "optiframe/comparison/store/claims.py": "tests/test_compare_store.py tests/test_compare_engine.py",
    "optiframe/comparison/store/store.py": """
        tests/test_compare_store.py tests/test_kept.py tests/test_compare_engine.py""",
    "optiframe/problems/objectives/objective.py": "tests/test_objectives.py tests/test_derivatives.py",
    "optiframe/tables/read.py": """
        tests/test_frames.py tests/test_reading_tables.py tests/test_pair_columns.py
        plugins/rankone/tests/test_bad_labels.py""",
    "plugins/rankone/optiframe_rankone/solvers/pgd.py": """
        plugins/rankone/tests/test_rank_one_solvers.py plugins/rankone/tests/test_rank_one.py
        plugins/rankone/tests/test_rankone_contract.py""",
    "plugins/hodgerank/optiframe_hodgerank/solvers/lbi.py": """
        plugins/hodgerank/tests/test_bregman.py plugins/hodgerank/tests/test_path_ends.py
        plugins/hodgerank/tests/test_concomitant_scale.py plugins/hodgerank/tests/test_path_contract.py""",
    "plugins/tvcs/optiframe_tvcs/learning/iht.py": """
        plugins/tvcs/tests/test_iht.py plugins/tvcs/tests/test_sparse_baselines.py""",
    "plugins/manifold/optiframe_manifold/solvers/trust_region_loop.py": """
        plugins/manifold/tests/test_trust_region.py plugins/manifold/tests/test_manifold_solvers.py""",
    "plugins/comrade/optiframe_comrade/solvers/comrade.py": "plugins/comrade/tests/test_newton_solvers.py",
}

_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
_SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
}
_TYPES = ("Literal", "Callable", "TypeVar", "Mapping", "dict", "tuple")  # heads of a type's alias
_TEXTS = ("description", "message", "reference", "residual_meaning", "__all__")  # what people read


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes `begin` to `end` of the source become `new`."""

    line: int
    old: str
    new: str
    begin: int
    end: int
    rank: str


class Source:
    """A module's text and the mutants that can be made of it."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def sample(self, count: int, seed: int) -> tuple[list[Mutant], int]:
        """Some mutants, by line, and how many there could be."""
        found: dict[str, Mutant] = {}
        for node, new in _changes(ast.parse(self.text)):
            begin = self._starts[node.lineno - 1] + node.col_offset
            end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            old = self.text[begin:end].decode()
            context = self._lines[node.lineno - 1].strip().decode()
            rank = hashlib.sha256(f"{seed} {context} {old} {new}".encode()).hexdigest()
            found.setdefault(rank, Mutant(node.lineno, old, new, begin, end, rank))
        chosen = sorted(found)[:count]
        return sorted((found[rank] for rank in chosen), key=lambda m: m.begin), len(found)

    def mutated(self, mutant: Mutant) -> bytes:
        """The text with this change."""
        return self.text[: mutant.begin] + mutant.new.encode() + self.text[mutant.end :]


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Nodes below this one with the text to put in their place."""
    if _is_for_people(node):
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr | ast.stmt):
                for new in _replacements(child):
                    yield child, new
                if field == "test" and isinstance(child, ast.Name | ast.Call | ast.Attribute | ast.BoolOp):
                    yield child, f"(not ({ast.unparse(child)}))"
            if isinstance(child, ast.AST):
                yield from _changes(child)


def _is_for_people(node: ast.AST) -> bool:
    """Imports, docstrings, types and texts of messages: no change of behaviour that a test should pin."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.keyword(arg=name) | ast.Assign(targets=[ast.Name(id=name)]) if name in _TEXTS:
            return True
        case ast.Assign(value=ast.Subscript(value=ast.Name(id=name)) | ast.Call(func=ast.Name(id=name))):
            return name in _TYPES
        case ast.Call(func=ast.Name(id="cast")):
            return True
    return False


def _replacements(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for word in _COMPARISONS[type(op)]:
                yield f"({ast.unparse(left)} {word} {ast.unparse(right)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            yield f"(({ast.unparse(left)}) {_ARITHMETIC[type(op)]} ({ast.unparse(right)}))"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield f"({word.join(f'({ast.unparse(value)})' for value in values)})"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() | float() as value):
            yield f"({value + 1!r})"
        case ast.Constant(value=str() as value) if value and " " not in value:  # a key, not a sentence
            yield repr(f"other {value}")
        case ast.Call(func=ast.Name(id=name), args=args) if name in _SWAPPED and len(args) > 0:
            yield f"{_SWAPPED[name]}({ast.unparse(node).partition('(')[2]}"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Break():
            yield "continue"
        case ast.Continue():
            yield "break"
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise():
            yield "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Delete():
            yield "pass"


class Copy:
    """A copy of the tree, to be changed and tested in."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        shutil.copytree(ROOT, self.root, ignore=NOT_COPIED)
        installed = Path(sysconfig.get_path("platlib"))
        for file in installed.glob(f"optiframe_*/**/*{EXTENSION_SUFFIXES[0]}"):
            path = file.relative_to(installed)
            plugin = self.root / "plugins" / path.parts[0].removeprefix("optiframe_")
            if plugin.is_dir():
                shutil.copy(file, plugin / path)

    def test(self, module: str, text: bytes, limits: tuple[float, float] = (math.inf, math.inf)) -> str:
        """How the module's tests end with this text in its place: "passed", "failed" or "timeout"."""
        path = self.root / module
        original = path.read_bytes()
        path.write_bytes(text)
        _forget_bytecode(path)
        try:
            return self._run(TESTS[module].split(), *limits)
        finally:
            path.write_bytes(original)
            _forget_bytecode(path)

    def _run(self, tests: list[str], processor: float, clock: float) -> str:
        child = multiprocessing.Process(target=_run_tests, args=(self.root, tests, processor))
        child.start()
        child.join(None if clock == math.inf else clock)
        late = child.is_alive()
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # with what the tests started
        child.join()
        if late or child.exitcode == -signal.SIGXCPU:
            return "timeout"
        return "failed" if child.exitcode else "passed"


def _forget_bytecode(path: Path) -> None:
    # Python knows a changed file by its size and its time in whole seconds.
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def _run_tests(root: Path, tests: list[str], processor: float) -> None:
    """The body of the process that runs tests."""
    os.setsid()
    if processor < math.inf:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(processor), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with (root.parent / OUTPUT).open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir(root)
    sources = [str(path.parent) for path in (root / "pyproject.toml", *root.glob("plugins/*/pyproject.toml"))]
    sys.path[:0] = sources
    # Editable installs lead to the plugins of the original tree whatever the path says.
    sys.meta_path[:] = [finder for finder in sys.meta_path if EDITABLE not in type(finder).__module__]
    os.environ |= {"PYTHONPATH": os.pathsep.join(sources), "TMPDIR": str(root.parent)}
    tempfile.tempdir = None  # ask the environment again
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "-m", "not thorough"]
    code = pytest.main([*options, *tests])
    (root.parent / SECONDS).write_text(str(process_time()))
    os._exit(code)


@dataclass(frozen=True)
class Report:
    """What became of a sample of a module's mutants."""

    module: str
    possible: int
    seconds: float
    outcomes: list[tuple[Mutant, str]]

    def __str__(self) -> str:
        hows = [how for _, how in self.outcomes]
        killed, tried, late = len(hows) - hows.count("passed"), len(hows), hows.count("timeout")
        lines = [
            f"{self.module}: killed {killed} of {tried} ({late} by the time limit), {self.seconds:.0f} s"
        ]
        for mutant, how in self.outcomes:
            if how == "passed":
                lines.append(f"    line {mutant.line}: {' '.join(mutant.old.split())}  ->  {mutant.new}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        """The report with every mutant."""
        mutants = [{"line": m.line, "old": m.old, "new": m.new, "how": how} for m, how in self.outcomes]
        return {"module": self.module, "possible": self.possible, "seconds": self.seconds, "mutants": mutants}


def measure(module: str, copies: list[Copy], count: int, seed: int) -> Report:
    """Try a sample of a module's mutants, one in each copy at a time."""
    began = perf_counter()
    source = Source((ROOT / module).read_bytes())
    folder = copies[0].root.parent
    if copies[0].test(module, source.text) != "passed":
        said = (folder / OUTPUT).read_text(errors="replace")
        raise SystemExit(f"{said}\nThe tests of {module} fail without any change.")
    processor, clock = float((folder / SECONDS).read_text()), perf_counter() - began
    limits = SLACK + PROCESSOR * processor, SLACK + CLOCK * clock
    mutants, possible = source.sample(count, seed)
    free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
    for copy in copies:
        free.put(copy)

    def outcome(mutant: Mutant) -> str:
        copy = free.get()
        try:
            return copy.test(module, source.mutated(mutant), limits)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        outcomes = list(zip(mutants, pool.map(outcome, mutants), strict=True))
    return Report(module, possible, round(perf_counter() - began, 1), outcomes)


def main() -> None:
    """Measure, print and keep what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="modules by their paths; all of TESTS by default")
    parser.add_argument("--count", type=int, default=35, help="mutants a module, at most")
    parser.add_argument("--seed", type=int, default=0, help="chooses the mutants")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--json", type=Path, help="file for the reports, with every mutant")
    arguments = parser.parse_args()
    os.nice(10)
    multiprocessing.set_start_method("forkserver")
    multiprocessing.set_forkserver_preload(PRELOADED.split())
    reports = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Copy(Path(tempfile.mkdtemp(dir=folder))) for _ in range(arguments.jobs)]
        for module in arguments.modules or TESTS:
            report = measure(module, copies, arguments.count, arguments.seed)
            print(report, flush=True)
            reports.append(report.as_json())
            if arguments.json:
                arguments.json.write_text(json.dumps(reports, indent=1))


if __name__ == "__main__":
    main()
