"""What a distributed run's ledger says when the run is over."""

from __future__ import annotations

from collections.abc import Iterator

from optiframe.findings import Finding
from optiframe.numbers import number
from optiframe_comrade.protocol.ledger import Ledger
from optiframe_comrade.trust.differing import differing


def ledger_findings(ledger: Ledger) -> Iterator[Finding]:
    """Who differs from the others, and what the checks of the steps have rejected."""
    found = differing(ledger.apart)
    if found:
        said = [f"{ledger.names[worker]} ({number(times)} times)" for worker, times in found.items()]
        yield Finding(
            "warning",
            f"Updates of {len(found)} of {len(ledger.names)} workers differ from the others. Look at these "
            "workers' data; nobody was excluded. Squared distance from the middle of the updates, over the "
            f"median distance: {', '.join(said)}",
            tuple(ledger.names[worker] for worker in found),
            identifier="federation.worker-differs",
        )
    if ledger.rejected:
        yield Finding(
            "note",
            f"The run shortened its step in {len(ledger.rejected)} of {ledger.rounds} rounds, because the "
            "workers' objectives rose. At the error floor this is usual. If the objective is far above its "
            "floor, a worker may report false values",
            identifier="federation.steps-rejected",
        )
    if ledger.unpolished:
        yield Finding(
            "warning",
            "Steps with the averaged gradients made the workers' objectives rise. Some workers may send "
            "false values without standing out, or the objective has no minimum or hardly any curvature. The "
            "run went back to its error floor and ended as newton.comrade does; this is not the minimum",
            identifier="federation.polishing-undone",
        )
