"""Every finding of ours carries an identifier that programs can look for, whatever its wording."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("optiframe/**/*.py"), *ROOT.glob("plugins/*/optiframe_*/**/*.py")])
_FORM = re.compile(r"[a-z]+(-[a-z]+)*\.[a-z0-9]+(-[a-z0-9]+)*")


def name_of(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def matters(node: ast.AST) -> bool:
    """Whether a finding may be made here, an identifier written, or a number formatted."""
    match node:
        case ast.Call():
            return name_of(node) in ("Finding", "warn") or any(k.arg == "identifier" for k in node.keywords)
        case ast.Dict():
            return {"level", "text"} <= {key.value for key in node.keys if isinstance(key, ast.Constant)}
        case ast.Assign():
            return "identifier" in ast.unparse(node.targets[0])
        case ast.FormattedValue():
            return node.format_spec is not None
    return False


_MAY_MATTER = re.compile(r"Finding\(|warn\(|identifier|\"level\"|:.*[gef%]\}")


@cache
def nodes(path: Path) -> list[ast.AST]:
    """What matters in a file, which is read once for all tests, and not parsed where nothing can matter."""
    text = path.read_text(encoding="utf-8")
    return [node for node in ast.walk(ast.parse(text)) if matters(node)] if _MAY_MATTER.search(text) else []


def makers(path: Path) -> Iterator[ast.Call]:
    """Calls that make a finding: `Finding(...)`, `findings.about(...)`, `run.warn(...)`."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if name_of(node) == "Finding" or (name_of(node) == "warn" and owner != "warnings"):
                yield node


def identifier_of(call: ast.Call) -> ast.expr | None:
    """The identifier given, by keyword or as the fourth argument of a finding."""
    for keyword in call.keywords:
        if keyword.arg == "identifier":
            return keyword.value
    return call.args[3] if len(call.args) > 3 else None


def test_every_finding_has_an_identifier() -> None:
    assert len(SOURCES) > 700
    lacking = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in SOURCES
        for call in makers(path)
        if identifier_of(call) is None
    ]
    assert lacking == []


def test_no_finding_is_written_as_a_mapping_without_an_identifier() -> None:
    lacking = []
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                if "identifier" not in keys:
                    lacking.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert lacking == []


def constants(node: ast.AST) -> Iterator[str]:
    """Texts written out in an expression."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def identifiers() -> set[str]:
    """All identifiers in the code: given to a call, or kept in a variable of that name first."""
    found = set()
    for path in SOURCES:
        for node in nodes(path):
            if isinstance(node, ast.Call):
                given = [word.value for word in node.keywords if word.arg == "identifier"]
                if isinstance(node.func, ast.Name) and node.func.id == "Finding":
                    given += node.args[3:4]
            elif isinstance(node, ast.Assign):
                given = [node.value]
            else:
                continue
            for expression in given:
                if not isinstance(expression, ast.JoinedStr):
                    found |= set(constants(expression))
    return {name for name in found if _FORM.fullmatch(name)}


def test_every_identifier_is_explained() -> None:
    explained = tomllib.loads((ROOT / "docs" / "findings.toml").read_text(encoding="utf-8"))
    assert sorted(identifiers() - set(explained)) == [], "add these to docs/findings.toml"
    written = {
        word
        for path in SOURCES
        for word in re.findall(r'"([a-z0-9.-]+)(?=")', path.read_text(encoding="utf-8"))
    }
    put_together = {"comparisons.item-spelled-twice", "comparisons.user-spelled-twice"}
    put_together |= {"comparisons.worker-spelled-twice"}
    gone = [
        name
        for name in explained
        if name not in written
        and name not in put_together
        and not (name.startswith("selection.") and name.removeprefix("selection.") in written)
    ]
    assert gone == [], "no code gives these any more: remove them from docs/findings.toml"
    for name, said in explained.items():
        assert set(said) == {"means", "how", "do"}, name
        assert all(text.endswith(".") for text in said.values()), name


def test_identifiers_have_one_form_and_are_many() -> None:
    found = set()
    for path in SOURCES:
        for call in makers(path):
            given = identifier_of(call)
            if isinstance(given, ast.Constant):
                found.add(given.value)
    assert len(found) > 60
    assert [name for name in sorted(found) if not _FORM.fullmatch(name)] == []


def test_plugins_leave_digits_and_percent_to_the_core() -> None:
    """`optiframe.numbers` has three digits, percent and no -0.0; `:g` repeats a number that somebody gave."""
    own = []
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        if name.startswith("plugins") and "/plots/" not in name and not name.endswith("selection/words.py"):
            for node in nodes(path):
                if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                    spec = "".join(constants(node.format_spec))
                    own += [f"{name}: {spec}"] * bool(re.search(r"\.\d*[gef%]$", spec))
    assert own == [], "use number or percent of optiframe.numbers"
