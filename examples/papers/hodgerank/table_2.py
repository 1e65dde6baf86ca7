"""Scores and ranks of the 16 images of reference 10 of PC-IQA by eight methods.

Settings and tolerances are those of Table 1. The bump chart is Figure 16. The text also says how some
images are ordered, and how many votes say so. Negative controls as there; for the order of two images, L2
in the place of all four methods; for the votes, the same two images of another reference.
"""

from __future__ import annotations

from typing import Any

from harness.answers import again
from harness.claims import Line, against, holds
from harness.runs import Runs
from hodgerank.columns import Printed, Swap, bumps, column_lines, consistency_lines, scores
from hodgerank.flagged import said

import optiframe

TITLE = "Table 2 and Figure 16: PC-IQA, reference 10"
CLAIM = "On PC-IQA, LBI gives the results that are the most consistent with the unbiased LASSO+L2."
QUICK = ()
INSIDE = True

PRINTED = Printed.of("""
ID   LASSO+L2         L2 XGB_Linear    PCLASSO       iLTS        iHT     HLASSO        LBI
 1     0.8876     0.8001     0.7967     0.9835     0.9059     0.9031     0.8144     0.8851
 6     0.7034     0.6003     0.5974     0.8384     0.7711     0.7402     0.6143     0.6977
 9     0.6048     0.5362     0.5327     0.7654     0.5600     0.5650     0.5484     0.5929
12     0.4886     0.4722     0.4699     0.6303     0.4706     0.5126     0.4752     0.4895
 2     0.2859     0.3044     0.3027     0.5458     0.3504     0.3026     0.3105     0.3115
10     0.2698     0.3472     0.3451     0.5545     0.2590     0.3285     0.3368     0.2770
16     0.2677     0.2756     0.2747     0.5378     0.2925     0.2640     0.2757     0.2680
 7     0.1398     0.1403     0.1396     0.3002     0.1012     0.0808     0.1374     0.1392
15     0.0540     0.0965     0.0963     0.4006    -0.0086    -0.0075     0.0865     0.0418
11    -0.1815    -0.1609    -0.1597     0.1308    -0.1889    -0.1649    -0.1563    -0.1739
 8    -0.2813    -0.2541    -0.2525     0.0217    -0.2527    -0.2753    -0.2620    -0.2803
13    -0.2927    -0.2964    -0.2946    -0.0121    -0.2699    -0.3124    -0.2958    -0.2929
 3    -0.6246    -0.6315    -0.6285    -0.3239    -0.7343    -0.6506    -0.6315    -0.6316
14    -0.6478    -0.6215    -0.6181    -0.2795    -0.5932    -0.5873    -0.6361    -0.6799
 4    -0.8098    -0.7822    -0.7791    -0.4022    -0.8090    -0.8124    -0.7889    -0.8102
 5    -0.8639    -0.8262    -0.8229    -0.5608    -0.8539    -0.8863    -0.8287    -0.8339
""")

# Found by search from the printed column, as for Table 1.
SWAP = Swap(dropped=((5, 14), (5, 3)), kept=((15, 2),))

# Image over another, and by which methods the text says so.
_ABOVE = (
    (3, 14, {"L2": False, "HLASSO": True, "LASSO+L2": True, "LBI": True}),
    (2, 10, {"L2": False, "HLASSO": False, "LASSO+L2": True, "LBI": True}),
)
_VOTES = {(3, 14): (9, 6), (2, 10): (4, 7)}


def judge(runs: Runs) -> list[Line]:
    ours = scores(runs, PRINTED)
    lines = [*column_lines(runs, PRINTED, SWAP), *consistency_lines(runs, PRINTED)]
    for first, second, by in _ABOVE:
        a, b = PRINTED.items.index(first), PRINTED.items.index(second)
        found = {name: bool(ours[name][a] > ours[name][b]) for name in by if name in ours}
        line, control = (
            holds(
                f"image {first} above image {second}",
                _by(by),
                _by(each),
                found=all(by[name] == above for name, above in each.items()),
                rule="the order of two scores by each of four methods",
            )
            for each in (found, dict.fromkeys(found, found["L2"]))
        )
        lines.append(against(line, "L2 in all places", control))
        here = again(runs.where(solver="L2")[0]).problem
        elsewhere = optiframe.problem(dataset={**runs[0].problem["dataset"], "ref": 1})
        line, control = (
            holds(
                f"votes for image {first} and for image {second}",
                "{} and {}".format(*_VOTES[first, second]),
                "{} and {}".format(*votes),
                found=votes == _VOTES[first, second],
                rule="counted",
            )
            for votes in (_votes(problem, first, second) for problem in (here, elsewhere))
        )
        lines.append(against(line, "of reference 1", control))
    return lines


def _by(says: dict[str, bool]) -> str:
    yes = [name for name, above in says.items() if above]
    no = [name for name, above in says.items() if not above]
    return f"by {', '.join(yes) or 'none'}; not by {', '.join(no) or 'any'}"


def _votes(problem: Any, first: int, second: int) -> tuple[int, int]:
    """How many comparisons each of two images won against the other."""
    winner, loser = said(problem)
    return tuple(int(((winner == a) & (loser == b)).sum()) for a, b in ((first, second), (second, first)))


draw = bumps
