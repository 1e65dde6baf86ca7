"""Errors on five public label sets: votes by the estimated skills against five other methods.

Ties count by half. The paper gives two or four digits; a number agrees within one of its last digit.
"""

from __future__ import annotations

from harness.claims import Line, cannot, number
from harness.runs import Runs

TITLE = "Table 5: errors on real labels"
QUICK = ()

# Each cell as printed: the number of its digits is the tolerance.
_PRINTED = {
    "rankone.pgd": {"RTE": "0.07", "Temp": "0.0512", "Dogs": "0.1660", "WSD": "0.0056", "Web": "0.1485"},
    "labels.majority": {
        "RTE": "0.1031",
        "Temp": "0.0639",
        "Dogs": "0.1958",
        "WSD": "0.0056",
        "Web": "0.2693",
    },
    "labels.opt-ds": {"RTE": "0.0712", "Temp": "0.0584", "Dogs": "0.1689", "WSD": "N/A", "Web": "0.1586"},
    "labels.kos": {"RTE": "0.3975", "Temp": "0.0628", "Dogs": "0.3172", "WSD": "0.0056", "Web": "0.4293"},
    "labels.ratio": {"RTE": "0.14", "Temp": "0.052", "Dogs": "0.18", "WSD": "0.0056", "Web": "0.22"},
    "labels.iwmv": {"RTE": "0.08", "Temp": "0.06", "Dogs": "0.19", "WSD": "0.0056", "Web": "0.22"},
}
_WHY = {
    ("labels.majority", "Dogs"): "the cell is another method's number: the labels themselves give .1778",
}


def judge(runs: Runs) -> list[Line]:
    lines = []
    for solver, row in _PRINTED.items():
        for problem, printed in row.items():
            what = f"{problem}, {solver}"
            if printed == "N/A":
                lines.append(cannot(what, printed, "the paper's method did not converge here"))
                continue
            ours = runs.values("error", solver=solver, problem=problem)
            within = 10.0 ** -len(printed.partition(".")[2])
            lines.append(
                number(what, float(printed), ours, within=within, why=_WHY.get((solver, problem), ""))
            )
    return lines
