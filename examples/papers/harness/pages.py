"""A page for each paper, and one that sums them up: Markdown with figures beside it."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.claims import MISSING, Line
from harness.evaluation import Evaluation, counted

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
    "quick": "the quick size, which tests use: it shows that every item runs, and gives no verdicts",
    "full": "the full size: the settings of the paper, but for what each item says",
}


def write_pages(judged: Sequence[Evaluation], folder: Path, size: str) -> list[Path]:
    """Write the index and a page for each paper; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    papers = list(dict.fromkeys(each.item.paper for each in judged))
    pages = {paper: [each for each in judged if each.item.paper == paper] for paper in papers}
    texts = {f"{paper}.md": _page(paper, each, size) for paper, each in pages.items()}
    texts["index.md"] = _index(judged, size)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def summary(judged: Sequence[Evaluation]) -> str:
    """The table of all items, as Markdown."""
    rows = [
        (
            f"[{NAMES[each.item.paper]}]({each.item.paper}.md)",
            f"[{each.item.title}]({each.item.paper}.md#{each.item.name.replace('_', '-')})",
            each.counted,
            f"**{each.verdict}**",
        )
        for each in judged
    ]
    return _table(("paper", "item", "lines", "verdict"), rows)


def _index(judged: Sequence[Evaluation], size: str) -> str:
    counts = Counter(each.verdict for each in judged)
    lines = [line for each in judged for line in each.lines]
    about = (
        "Every table and figure is a comparison file with a module that judges it by stated rules; "
        f"`make papers` runs them. This is {_SIZES[size]}. *Differs* says that a number or claim did not "
        "come out here by the stated rule; the line says why, where that is known, which may be a setting "
        "that the paper leaves open, or noise. Of so many lines some agree or differ by chance; nothing is "
        "corrected for their number. The negative control of a line is the same rule asked of runs from "
        "which the claimed cause was taken away; where the control meets the rule as well, the line *cannot "
        "discriminate* and is not counted."
    )
    total = (
        f"{len(judged)} items with {len(lines)} lines ran."
        if size == "quick"
        else f"Of {len(judged)} items {counts['agrees']} agree in every line that is evidence, "
        f"{counts['differs']} differ in at least one, {counts['cannot discriminate']} cannot discriminate, "
        f"{counts['cannot be checked']} cannot be checked. Of {len(lines)} lines "
        f"{sum(line.counts for line in lines)} are evidence: they differ, or agree where their control does "
        f"not. In full: {counted(lines)}."
    )
    return "\n".join(
        [
            "# The papers, item by item",
            "",
            about,
            "",
            total,
            "",
            summary(judged),
            "",
            f"Made on {platform.system()} with Python {platform.python_version()}.",
            "",
        ]
    )


def _page(paper: str, judged: Sequence[Evaluation], size: str) -> str:
    about = (
        f"{CITED[paper]}. Run at {_SIZES[size]}. Intervals are 95% bootstrap intervals of means over seeds "
        "0, 1, 2, ... (too narrow for five repeats or fewer); a verdict is computed by the rule whose number "
        "stands after it. "
        "What is said after *differs* is the reason, where one is known; it was looked for afterwards and "
        "does not enter the verdict."
    )
    parts = [
        f"# {NAMES[paper]}: the paper and ours",
        "",
        about,
        "",
        _table(
            ("item", "lines", "verdict"),
            [(f"[{e.item.title}](#{_anchor(e)})", e.counted, f"**{e.verdict}**") for e in judged],
        ),
    ]
    for each in judged:
        parts += ["", f"## {each.item.title} {{ #{_anchor(each)} }}", "", each.item.about, ""]
        if each.figure is not None:
            parts += [f"![{each.item.title}, as it came out here]({each.figure})", ""]
        parts += [_lines(each.lines), "", _origin(each)]
    return "\n".join([*parts, ""])


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
    reason = f": {line.why}" if line.why and line.verdict == "differs" else ""
    return f"**{line.verdict}** ({rules.index(line.rule) + 1}){reason}"


def _origin(each: Evaluation) -> str:
    failed = f", {len(each.failed)} of them without an answer" if each.failed else ""
    count = "all" if each.older == each.runs else f"{each.older:,}"
    older = f", {count} of them by an earlier version of the code or file" if each.older else ""
    name = f"{each.item.paper}/{each.item.name}"
    return (
        f"{each.runs:,} runs{failed}{older}, {_seconds(each.seconds)} of processor time in the solvers; "
        f"judged on {each.made}. `python examples/papers/reproduce.py --size {each.size} {name}` makes it "
        f"again, from `examples/papers/{name}.toml` and the module beside it."
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _anchor(each: Evaluation) -> str:
    return each.item.name.replace("_", "-")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])
