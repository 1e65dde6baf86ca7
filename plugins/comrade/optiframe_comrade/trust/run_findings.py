"""What a distributed run's ledger says when the run is over."""

from __future__ import annotations

from collections.abc import Iterator

from optiframe.findings import Finding
from optiframe_comrade.protocol.ledger import Ledger
from optiframe_comrade.trust.differing import differing


def ledger_findings(ledger: Ledger) -> Iterator[Finding]:
    """Who differs from the others, and whether the check of the steps has rejected any."""
    found = differing(ledger.apart)
    if found:
        said = [f"{ledger.names[worker]} ({times:.3g} times)" for worker, times in found.items()]
        yield Finding(
            "warning",
            f"Updates of {len(found)} of {len(ledger.names)} workers differ from the others, by their "
            f"squared distance from the middle over the median distance: {', '.join(said)}. Look at their "
            "data; nobody was excluded for it",
            tuple(ledger.names[worker] for worker in found),
            identifier="federation.worker-differs",
        )
    if ledger.rejected:
        yield Finding(
            "note",
            f"The workers' objectives rose in {len(ledger.rejected)} of {ledger.rounds} rounds, and those "
            "steps were shortened. At the error floor that is usual; far above it, somebody may be lying",
            identifier="federation.steps-rejected",
        )
