"""The trust report of a ranking: whether it can be believed, in words naming the items."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optiframe.findings import Finding
from optiframe.numbers import percent
from optiframe.tables.ids import listed
from optiframe_hodgerank.answer import Ranking
from optiframe_hodgerank.data import Comparisons, TruthTable
from optiframe_hodgerank.huber.newton import least_squares
from optiframe_hodgerank.trust.hodge_parts import explained
from optiframe_hodgerank.trust.separation import separation
from optiframe_hodgerank.trust.workers import suspicious

_MANY_TIES = 0.2  # a share of ties from which they are worth a note; human_age has 9%
_MANY_OUTLIERS = 0.4  # a share from which they may as well be the right ones
# Up to there the split takes some milliseconds, 1% to 5% of a run of hodge.lbi.
_SPLIT_ITEMS, _SPLIT_ROWS = 1000, 50_000
_WORTH = 0.005  # a share of the energy that is worth a word: what is not written as 0%
_SAME = 1e-9  # scores closer than this, relative to the margins, are equal but for rounding


def report(comparisons: Comparisons, known_truth: TruthTable | None, solution: Ranking) -> Iterator[Finding]:
    """Every finding on an answer: what the comparisons cannot tell, then what the answer does not."""
    yield from comparisons.remarks
    yield from unusable(solution)
    yield from disconnected(comparisons)
    yield from one_sided(comparisons, solution)
    yield from ties(comparisons)
    yield from constant(comparisons)
    yield from merged(comparisons)
    yield from energy(comparisons)
    yield from truth(known_truth)
    yield from flagged(comparisons, solution)
    yield from indifferent(comparisons, solution)
    yield from suspicious(comparisons, solution)


def unusable(solution: Ranking) -> Iterator[Finding]:
    """Scores that are not finite, of a solver that lost its way."""
    ids = solution.items[~np.isfinite(solution.scores)]
    if len(ids):
        yield Finding(
            "error",
            f"{len(ids)} of {len(solution.items)} scores are not finite numbers, so do not use the ranking: "
            f"{listed(ids)}",
            tuple(ids.tolist()),
            identifier="ranking.scores-not-finite",
        )


def disconnected(comparisons: Comparisons) -> Iterator[Finding]:
    """Items that no chain of comparisons joins."""
    component = comparisons.graph.components
    count = np.bincount(component)
    if len(count) == 1:
        return
    largest = int(count.argmax())
    apart = comparisons.item_ids[component != largest]
    yield Finding(
        "warning",
        f"the comparisons fall into {len(count)} groups of items with none between them: ranks and scores "
        f"only count within a group (column component); outside the largest: {listed(apart)}",
        tuple(apart.tolist()),
        identifier="ranking.disconnected-items",
    )


def one_sided(comparisons: Comparisons, solution: Ranking) -> Iterator[Finding]:
    """Items that never win, or never lose: how far out they are is not known."""
    if comparisons.graded:  # margins say how far, even when all of one sign
        return
    if solution.scale == "log-odds":
        found = separation(comparisons.graph, comparisons.item_ids)
        if found is not None:
            yield Finding(
                "warning",
                f"{found.text}: the comparisons do not show by how much, and their scores and intervals are "
                "determined by the method's prior or start; read only who is above whom",
                found.items,
                identifier="ranking.one-sided-items",
            )
        return
    rows, items = comparisons.merged, len(comparisons.item_ids)  # merged: far fewer, and enough to see it
    first, second, tie = rows.margin > 0, rows.margin < 0, rows.margin == 0
    won = np.bincount(rows.left[first], minlength=items) + np.bincount(rows.right[second], minlength=items)
    lost = np.bincount(rows.right[first], minlength=items) + np.bincount(rows.left[second], minlength=items)
    tied = np.bincount(rows.left[tie], minlength=items) + np.bincount(rows.right[tie], minlength=items)
    for count, other, what in ((won, lost, "never win"), (lost, won, "never lose")):
        ids = comparisons.item_ids[(count == 0) & (tied == 0) & (other > 0)]
        if len(ids):
            one = len(ids) == 1
            some, whose = (
                ("1 item", "The size of its score gap comes")
                if one
                else (f"{len(ids)} items", "The sizes of their score gaps come")
            )
            side = ("below" if what == "never win" else "above") + (
                " those it met" if one else " those they met"
            )
            yield Finding(
                "note",
                f"{some} {what + 's' if one else what}: {listed(ids)}. Read only that "
                f"{'it is' if one else 'they are'} {side}. {whose} from coding votes as +1 and -1, not from "
                "the data",
                tuple(ids.tolist()),
                identifier="ranking.one-sided-items",
            )


def ties(comparisons: Comparisons) -> Iterator[Finding]:
    """All, or many, of the comparisons are ties."""
    number, rows = int(comparisons.merged.count[comparisons.merged.margin == 0].sum()), len(comparisons)
    if number == rows:
        yield Finding(
            "warning",
            "all comparisons are ties: nothing is ranked, every score is 0",
            identifier="ranking.all-ties",
        )
    elif number >= _MANY_TIES * rows:
        yield Finding(
            "note",
            f"{number} of {rows} comparisons are ties ({percent(number / rows)})",
            identifier="ranking.many-ties",
        )


def constant(comparisons: Comparisons) -> Iterator[Finding]:
    """y is the same in every row, as the data were given."""
    first = float(comparisons.margin[0])
    if len(comparisons) < 2 or first == 0.0 or not (comparisons.margin == first).all():
        return
    if comparisons.graded:
        yield Finding(
            "warning",
            f"every margin is {first:g}: they say who was preferred, not by how much; give who won (column "
            "label) instead, for a model of wins such as hodge.bradley-terry",
            identifier="ranking.constant-margins",
        )
    else:
        side = "first" if first > 0 else "second"
        yield Finding(
            "note",
            f"the winner comes {side} in every comparison, so position bias cannot be checked",
            identifier="ranking.columns-by-outcome",
        )


def merged(comparisons: Comparisons) -> Iterator[Finding]:
    """Equal comparisons that were merged."""
    rows, unique = len(comparisons), len(comparisons.merged)
    if unique < rows:
        yield Finding(
            "note",
            f"merged {rows} comparisons into {unique} distinct ones; the result is unaffected",
            identifier="ranking.merged-comparisons",
        )


def energy(comparisons: Comparisons) -> Iterator[Finding]:
    """How much of what the comparisons say scores explain, and where the rest goes; for small problems."""
    graph = comparisons.graph
    if graph.items > _SPLIT_ITEMS or graph.rows > _SPLIT_ROWS:
        return
    # An inverse that the solver has computed costs nothing; conjugate gradients less than computing one.
    known = "laplacian_inverse" in vars(graph)
    scores = graph.scores(graph.margin) if known else least_squares(graph).scores
    pairs, gradient, disagreement = explained(graph, scores)
    cycles = pairs.margin - gradient
    cyclic = float(pairs.weight @ (cycles * cycles))
    whole = float(pairs.weight @ (gradient * gradient)) + cyclic + disagreement
    parts = [
        (cyclic, "form cycles (a > b > c > a)"),
        (disagreement, "contradict others on the same pair"),
    ]
    rest = [f"{percent(part / whole)} {what}" for part, what in parts if whole and part >= _WORTH * whole]
    if rest:
        share = 1 - (cyclic + disagreement) / whole
        yield Finding(
            "note",
            f"a ranking explains {percent(share)} of the comparisons (of the sum of w y^2); "
            f"{', '.join(rest)}",
            identifier="ranking.explained-share",
        )


def truth(known: TruthTable | None) -> Iterator[Finding]:
    """Items of the truth that were never compared."""
    if known is not None and len(known.ignored):
        ids = known.ignored
        yield Finding(
            "warning",
            f"never compared, so not ranked: {listed(ids)} (items of the truth)",
            tuple(ids.tolist()),
            identifier="ranking.truth-never-compared",
        )


def flagged(comparisons: Comparisons, solution: Ranking) -> Iterator[Finding]:
    """How many comparisons are taken for outliers, and what settled that."""
    if solution.outliers is not None and solution.why:
        number = int(np.count_nonzero(solution.outliers))
        text = f"{number} of {len(comparisons)} comparisons taken for outliers ({solution.why})"
        many = number > _MANY_OUTLIERS * len(comparisons)
        if many:
            units = "that all margins have one unit, and " if comparisons.graded else ""
            text += f"; so many may as well be right: check {units}that there is one ranking to find"
        yield Finding("warning" if many else "note", text, identifier="ranking.flagged-outliers")


def indifferent(comparisons: Comparisons, solution: Ranking) -> Iterator[Finding]:
    """All scores are equal although somebody preferred something."""
    size = float(np.abs(comparisons.merged.margin).max())
    if size > 0 and float(np.abs(solution.scores).max()) <= _SAME * size:
        yield Finding(
            "warning",
            "all scores are equal: preferences contradict each other in cycles, and nothing is left to rank",
            identifier="ranking.equal-scores",
        )
