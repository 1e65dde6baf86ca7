"""Who is better by one measure: ranks and wins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optiframe.comparison.records import Records
from optiframe.comparison.stats.loss_table import Table, loss_table, medians


@dataclass(frozen=True)
class Standing:
    """Where a solver stands by one measure.

    Parameters
    ----------
    solver
        Its title.
    mean_rank
        1 for always alone at the top; nan for a solver that met no other.
    wins, shared
        On how many problems it is alone at the top, and at the top with others.
    problems
        On how many problems it met another solver.
    failures
        How many of its runs on the problems with this measure failed.
    """

    solver: str
    mean_rank: float
    wins: int
    shared: int
    problems: int
    failures: int


def standings(records: Records, measure: str) -> list[Standing]:
    """Mean ranks and wins by one measure, the best first.

    On each problem the solvers are ranked by their medians over the seeds that all of them have
    ended; equal ones share the rank, failures share the last. A problem nobody solves is neither
    won nor shared.

    An unsuited solver is not ranked on that problem, and then ranks of different problems are not of one
    kind: second of two is not second of five. So a solver meets each other solver on the
    problems both took, and its mean rank is 1 + (k - 1) s for k solvers, where s is how
    often it came out behind, averaged first over problems (a tie is half) and then over the
    others it met. Where everyone took every problem that is the usual mean of ranks.

    Raises
    ------
    InvalidInput
        If it is not known which direction of the measure is better.
    """
    table = loss_table(records, measure)
    met = {problem: found for problem, runs in table.items() if len(found := medians(runs)) > 1}
    solvers = [s for s in records.solvers if any(s in found for found in met.values())]
    values = np.array([[found.get(s, math.nan) for s in solvers] for found in met.values()])
    values = values.reshape(len(met), len(solvers))
    present = ~np.isnan(values)
    results = []
    for number, solver in enumerate(solvers):
        own = values[:, [number]]
        together = present & present[:, [number]]
        together[:, number] = False
        behind = np.where(together, (values < own) + 0.5 * (values == own), 0.0).sum(axis=0)
        times = together.sum(axis=0)
        share = float(np.mean(behind[times > 0] / times[times > 0]))
        took = values[present[:, number]]
        best = np.nanmin(took, axis=1)
        top = (took[:, number] == best) & np.isfinite(best)
        alone = (took == best[:, None]).sum(axis=1) == 1
        results.append(
            Standing(
                solver=solver,
                mean_rank=1.0 + (len(solvers) - 1) * share,
                wins=int(np.sum(top & alone)),
                shared=int(np.sum(top & ~alone)),
                problems=len(took),
                failures=_failures(table, solver),
            )
        )
    results.sort(key=lambda standing: standing.mean_rank)
    alone_everywhere = [
        s for s in records.solvers if s not in solvers and any(s in r for r in table.values())
    ]
    return results + [Standing(s, math.nan, 0, 0, 0, _failures(table, s)) for s in alone_everywhere]


def _failures(table: Table, solver: str) -> int:
    return sum(loss == math.inf for runs in table.values() for loss in runs.get(solver, {}).values())
