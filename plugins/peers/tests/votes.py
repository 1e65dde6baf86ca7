"""Small sets of paired comparisons drawn from the Bradley-Terry model."""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_hodgerank.problem import PairwiseRanking


def votes(seed: int, *, items: int = 6, rows: int = 200, ties: float = 0.0, **more: Any) -> PairwiseRanking:
    """Comparisons by 4 workers of items whose scores go from -1.5 to 1.5; a share of them ties."""
    rng = np.random.default_rng(seed)
    score = np.linspace(-1.5, 1.5, items)
    left = rng.integers(items, size=rows)
    right = (left + rng.integers(1, items, size=rows)) % items
    won = rng.random(rows) < 1 / (1 + np.exp(score[right] - score[left]))
    label = np.where(rng.random(rows) < ties, None, np.where(won, left, right))
    return PairwiseRanking(
        comparisons={
            "left": left,
            "right": right,
            "label": label,
            "worker": rng.integers(4, size=rows),
            **more,
        },
        truth={"item": np.arange(items), "score": score},
    )
