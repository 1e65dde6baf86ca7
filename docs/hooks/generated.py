"""Pages made from the project itself: what every name and finding means, the changelog, how to cite.

The pages of names say what `optiframe describe` says, for all names of the core and of the plugins that
come with it. What others have installed beside them is left out.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from mkdocs.structure.files import File, Files

from optiframe.registry.field_help import bounds_of, default_of, kind_of
from optiframe.registry.plugins import Entry
from optiframe.registry.registry import registry

_ROOT = Path(__file__).parents[2]
_OURS = re.compile(r"optiframework(-(rankone|hodgerank|tvcs|manifold|comrade|peers|optimizers))?")
_SECTION = re.compile(r"^\w[\w ,]*\n-{3,}$", re.MULTILINE)  # of a NumPy-style docstring
_PAGES = {
    "problems-by-name": (
        "Problems by name",
        ("problem",),
        "What can be solved: `[problem] name = ...` in a file, `optiframe.problem(...)` in Python.",
    ),
    "solvers-by-name": (
        "Solvers by name",
        ("solver",),
        (
            "What can solve it: `[solver] name = ...` in a file, the second argument of `optiframe.solve`. "
            "[Choose a solver](../howto/choose-a-solver.md) says how to find the right one."
        ),
    ),
    "data-sets-by-name": (
        "Data sets by name",
        ("data set",),
        (
            "Inputs of a problem: `[problem] dataset = ...` in a file, `optiframe.problem(dataset=...)` in "
            "Python. [Your own data in](../howto/your-data.md) says where files are looked for."
        ),
    ),
    "parts-by-name": (
        "Objectives, constraint sets and parts by name",
        ("objective", "constraint set", "part"),
        "What `minimize` and `projection` are made of, and the exchangeable pieces of methods.",
    ),
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for name, (title, kinds, about) in _PAGES.items():
        text = names_page(title, kinds, about)
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    files.append(File.generated(config, "reference/findings.md", content=findings_page()))
    changes = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=changes))
    files.append(File.generated(config, "citation.md", content=citation_page()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Pages without siblings need no column to choose among them."""
    if page.parent is None:
        page.meta.setdefault("hide", ["navigation"])
    return markdown


def names_page(title: str, kinds: tuple[str, ...], about: str) -> str:
    """A table of the names of these kinds, then each with its parameters."""
    entries = [entry for kind in kinds for entry in registry().entries(kind)]
    entries = [entry for entry in entries if _OURS.fullmatch(entry.distribution) and not entry.clash]
    parts = [f"# {title}", about]
    for kind, group in groupby(entries, key=lambda entry: entry.kind):
        listed = list(group)
        head = [] if len(kinds) == 1 else [f"## All {kind}s"]
        rows = [(f"[`{entry.name}`](#{entry.name})", _cell(entry.summary)) for entry in listed]
        parts += [*head, _table(("name", "what it is"), rows)]
    return "\n\n".join([*parts, *map(_described, entries), ""])


def findings_page() -> str:
    """Every identifier of a finding, with what it means, how it is computed and what to do."""
    entries = tomllib.loads((_ROOT / "docs" / "findings.toml").read_text(encoding="utf-8"))
    parts = [
        "# Findings by identifier",
        (
            "Each finding of a result carries one of these identifiers (`finding.identifier`, and in "
            "`result.json`). The wording and the numbers of a finding may change; its identifier does not. "
            "[Read an answer's findings](../howto/findings.md) says how to use them."
        ),
    ]
    for family, group in groupby(entries.items(), key=lambda entry: entry[0].partition(".")[0]):
        parts.append(f"## {family.capitalize()}")
        for name, said in group:
            parts += [
                f"### `{name}` {{ #{name} }}",
                _plain(said["means"]),
                f"- How it is computed: {_plain(said['how'])}\n- What to do: {_plain(said['do'])}",
            ]
    return "\n\n".join([*parts, ""])


def citation_page() -> str:
    """CITATION.cff in words."""
    cited = yaml.safe_load((_ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    papers = [_reference(paper) for paper in cited["references"]]
    return "\n\n".join(
        [
            "# Citation",
            cited["message"],
            "The software:",
            f"> {_names(cited['authors'])}: *{cited['title']}*, version {cited['version']}.",
            "The papers of its methods:",
            "\n".join(f"- {paper}" for paper in papers),
            "`CITATION.cff` in the checkout has the same for programs.",
            "",
        ]
    )


def _described(entry: Entry) -> str:
    cls = registry().get(entry.kind, entry.name)
    told = _SECTION.split(inspect.cleandoc(cls.__doc__ or ""))[0].strip()
    facts = {"From": entry.distribution, "Source": cls.reference}
    if entry.kind == "solver":
        facts |= {
            "Solves": f"[`{cls.solves.name}`](problems-by-name.md#{cls.solves.name})"
            if cls.solves.name
            else "",
            "Takes a start": "yes" if cls.accepts_start else "no",
            "Residual": cls.residual_meaning,
        }
    if isinstance(getattr(cls, "problem", None), str):
        facts["For"] = f"[`{cls.problem}`](problems-by-name.md#{cls.problem})"
    listed = "\n".join(f"- {key}: {_plain(value)}" for key, value in facts.items() if value)
    what = "inputs" if entry.kind == "problem" else "parameters"
    fields = "\n".join(_field(field.alias or key, field) for key, field in cls.model_fields.items())
    head = f"**{what.capitalize()}**" if fields else f"No {what}."
    return "\n\n".join([f"## `{entry.name}` {{ #{entry.name} }}", _plain(told), listed, head, fields])


def _field(name: str, field: Any) -> str:
    """One parameter; a list reads better on a phone than a table of four columns."""
    kind = re.sub(r"'([\w.-]+)'(?=,|$)", r"`\1`", kind_of(field) + bounds_of(field))
    return f"- `{name}`: {_plain(field.description or '')}  \n  *{_default(field)}*, {_plain(kind)}"


def _default(field: Any) -> str:
    text = default_of(field)
    return f"default `{text.removeprefix('default ')}`" if text.startswith("default ") else text


def _plain(text: str) -> str:
    """A docstring as Markdown: `::` begins code, a tag is none, and a subscript is no emphasis."""
    text = re.sub(r"\n::\n", "\n", re.sub(r"(?<=\S)::$", ":", text, flags=re.MULTILINE))
    return "\n".join(line if line.startswith("    ") else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    pieces = re.split(r"(`+[^`]*`+)", line)
    pieces[::2] = [re.sub(r"(?<!\w)_(?=\w)", r"\_", piece.replace("<", "&lt;")) for piece in pieces[::2]]
    return "".join(pieces)


def _cell(text: str) -> str:
    pieces = re.split(r"(`+[^`]*`+)", " ".join(text.split()))
    pieces[::2] = [piece.replace("<", "&lt;").replace("|", "\\|") for piece in pieces[::2]]
    return "".join(pieces)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _reference(paper: dict[str, Any]) -> str:
    where = paper.get("journal") or paper.get("collection-title") or ""
    year = f", {paper['year']}" if "year" in paper else ""
    return f"{_names(paper['authors'])}: *{paper['title']}*{f', {where}' if where else ''}{year}."


def _names(authors: list[dict[str, str]]) -> str:
    return ", ".join(
        author.get("name") or f"{author['given-names']} {author['family-names']}" for author in authors
    )
