"""A page for each item, and the gallery that sums them up: Markdown with figures beside it."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.claims import MISSING, Line
from harness.evaluation import Evaluation, counted
from harness.items import HERE, Item

NAMES = {
    "rankone": "Rank-one completion for crowdsourcing",
    "tvcs": "Three-view cardinality",
    "hodgerank": "Robust HodgeRank",
    "manifold": "Collaborative ranking on a manifold",
    "comrade": "COMRADE",
}
CITED = {
    "rankone": "Ma, Olshevsky, Saligrama, Szepesvari: *Gradient Descent for Sparse Rank-One Matrix "
    "Completion for Crowd-Sourced Aggregation of Sparsely Interacting Workers*",
    "tvcs": "Yang, Gui, Ke, Stefankovic, Fujimaki, Liu: *On the Projection Operator to a Three-view "
    "Cardinality Constrained Set*",
    "hodgerank": "Xu, Xiong, Cao, Huang, Yao: *Evaluating Visual Properties via Robust HodgeRank*",
    "manifold": "Dong, Yang, Shi: *Ranking from Crowdsourced Pairwise Comparisons via Smoothed Matrix "
    "Manifold Optimization*",
    "comrade": "Ghosh, Maity, Mazumdar: *Distributed Newton Can Communicate Less and Resist Byzantine "
    "Workers*",
}
_SIZES = {
    "quick": "the quick size, which shows that every item runs and gives no verdicts",
    "full": "the full size: the settings of the paper, except for what each page says",
}
_VERDICTS = """A line of an item *agrees* or *differs* by a stated rule. Rules are equivalence tests: when the
interval of what we measured is not wholly on one side, the line *cannot be checked*. Every line has a
negative control: the same rule asked of runs from which the claimed cause was taken away. When the control
meets the rule as well, the line *cannot discriminate*. When a setting was chosen to meet the paper's
number, agreement is *no evidence*. Only lines that differ, or that agree while their control does not,
count as evidence. An item differs when a line does; it agrees when all its lines are evidence and agree,
and in part when some are. Nothing is corrected for the number of lines, so some agree or differ by chance."""
_KINDS = ("agrees", "agrees in part", "differs", "cannot discriminate", "cannot be checked")


def write_page(each: Evaluation, folder: Path) -> None:
    """Write the page of one item to `folder`/<paper>/<item>.md; its figure has to lie beside it."""
    file = folder / each.item.paper / f"{each.item.name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_page(each), encoding="utf-8")


def write_index(judged: Sequence[Evaluation], missing: Sequence[Item], folder: Path, size: str) -> Path:
    """Write the gallery of all items; `missing` have not been run at this size."""
    parts = [
        "# The papers, item by item",
        "",
        f"This is {_SIZES[size]}. {_flat(_VERDICTS)}",
        "",
        totals(judged),
    ]
    unchecked, since = (
        tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))
        for name in ("not_checked", "since")
    )
    for paper, name in NAMES.items():
        mine = [each for each in judged if each.item.paper == paper]
        absent = [item for item in missing if item.paper == paper]
        if not mine and not absent:
            continue
        parts += ["", f"## {name} {{ #{paper} }}", "", f"{CITED[paper]}.", ""]
        parts += [f"**What became better since.** {_flat(since[paper].strip())}", ""]
        if mine:
            parts += ['<div class="grid cards" markdown>', "", *[_card(each) for each in mine], "</div>"]
        if paper in unchecked:
            parts += [
                "",
                "Not checked:",
                "",
                *[f"- {each['what']}: {each['why']}." for each in unchecked[paper]],
            ]
        if absent:
            told = "; ".join(f"{item.title} (`{paper}/{item.name}`)" for item in absent)
            parts += ["", f"Full size not yet run here: {told}."]
    file = folder / "index.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join([*parts, ""]), encoding="utf-8")
    return file


def totals(judged: Sequence[Evaluation]) -> str:
    """How many items and lines have which verdict: a sentence and a table by paper, as Markdown."""
    lines = [line for each in judged for line in each.lines]
    if all(line.verdict == "ran" for line in lines):
        return f"{len(judged)} items with {len(lines)} lines ran."
    counts = Counter(each.verdict for each in judged)
    said = (
        f"Of {len(judged)} items {counts['agrees']} agree in every line, {counts['agrees in part']} in every "
        "line that is evidence, "
        f"{counts['differs']} differ in at least one, {counts['cannot discriminate']} cannot discriminate, "
        "and "
        f"{counts['cannot be checked']} cannot be checked. Of {len(lines)} lines "
        f"{sum(line.counts for line in lines)} are evidence. In full: {counted(lines)}."
    )
    rows = []
    for paper, name in NAMES.items():
        mine = [each for each in judged if each.item.paper == paper]
        if mine:
            cells = [", ".join(e.item.short for e in mine if e.verdict == kind) for kind in _KINDS]
            rows.append((name, *cells, counted([line for each in mine for line in each.lines])))
    head = ("paper", "agree", "agree in part", "differ", "cannot discriminate", "cannot be checked", "lines")
    return f"{said}\n\n{_table(head, rows)}"


def _card(each: Evaluation) -> str:
    """Claim, figure, verdict and a control."""
    page = f"{each.item.paper}/{each.item.name}.md"
    picture = (
        []
        if each.figure is None
        else [f"![{each.item.title}, as it came out here]({each.item.paper}/{each.figure})"]
    )
    shown = next((line for line in each.lines if line.counts and line.control), None)
    shown = shown or next((line for line in each.lines if line.control), None)
    control = [] if shown is None else [f"Control ({shown.what}): {shown.control}."]
    parts = [
        f"**[{each.item.title}]({page})**",
        *picture,
        f"Claim: {each.item.claim}",
        f"Verdict: **{each.verdict}** ({each.counted})",
        *control,
    ]
    return "-   " + "\n\n    ".join(parts) + "\n"


def _page(each: Evaluation) -> str:
    parts = [f"# {each.item.title}", "", f"{CITED[each.item.paper]}.", ""]
    parts += [f"**Claim.** {each.item.claim}", "", f"**Verdict: {each.verdict}** ({each.counted}).", ""]
    if each.figure is not None:
        parts += [f"![{each.item.title}, as it came out here]({each.figure})", ""]
    parts += [_lines(each.lines), "", "## How it was run", "", each.item.about, ""]
    return "\n".join([*parts, "## Where it comes from", "", _origin(each), ""])


def _lines(lines: Sequence[Line]) -> str:
    rules = list(dict.fromkeys(line.rule for line in lines if not line.rule.startswith(MISSING)))
    rows = [(line.what, line.paper, line.ours, line.control, _verdict(line, rules)) for line in lines]
    said = [f"{at}. {rule}" for at, rule in enumerate(rules, 1)]
    shown = _table(("", "paper", "ours", "negative control", "verdict"), rows)
    return "\n".join([shown, "", "Rules:", "", *said]) if said else shown


def _verdict(line: Line, rules: Sequence[str]) -> str:
    """With the number of its rule, and why it differs or what is missing."""
    if line.rule.startswith(MISSING):
        return f"**{line.verdict}**: {line.rule}"
    reason = f": {line.why}" if line.why and line.verdict in ("differs", "no evidence") else ""
    return f"**{line.verdict}** ({rules.index(line.rule) + 1}){reason}"


def _origin(each: Evaluation) -> str:
    failed = f", {len(each.failed)} of them without an answer" if each.failed else ""
    count = "all" if each.older == each.runs else f"{each.older:,}"
    older = f", {count} of them by an earlier version of the code or of the file" if each.older else ""
    from_ = each.origin
    name = f"{each.item.paper}/{each.item.name}"
    rows = [
        ("command", f"`{from_.command}`"),
        ("files", f"`examples/papers/{name}.toml` and the module beside it"),
        ("code", f"commit {from_.code}"),
        ("runs", f"{each.runs:,}{failed}{older}"),
        ("duration", f"{_seconds(from_.wall)}; {_seconds(from_.cpu)} of processor time in the solvers"),
        ("machine", from_.machine),
        ("date", from_.made),
    ]
    return _table(("", ""), rows) + (
        "\n\nIntervals are 95% bootstrap intervals of means over the repeats (too narrow for five repeats or "
        "fewer). A reason after *differs* was looked for afterwards and does not enter the verdict. The "
        f"judged numbers are in `docs/papers/{name}.json`."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _flat(text: str) -> str:
    return text.replace("\n", " ")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])
