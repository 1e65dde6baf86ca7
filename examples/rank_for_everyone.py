"""A ranking for every user, from what each of them preferred to what.

python examples/rank_for_everyone.py

The choices are `collaborative.human-age` (which of two faces looks older); without the file, generated ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from optiframe_manifold import CollaborativeRanker

import optiframe
from optiframe.problems.datasets import MissingData


def choices() -> tuple[Any, str]:
    try:
        return optiframe.dataset("collaborative.human-age").inputs()["comparisons"], "looks older"
    except MissingData:
        print("The choices are not here; generated ones instead.\n")
        drawn = optiframe.dataset("collaborative.low-rank", users=94, items=30, rank=2, density=15.0)
        return drawn.inputs()["comparisons"], "is preferred"


def main() -> None:
    table, verb = choices()
    late = np.random.default_rng(0).random(len(table["user"])) < 0.2
    early = {name: column[~late] for name, column in table.items()}
    later = {name: column[late] for name, column in table.items()}

    # One ranking for all, or personal ones? Cross-validation by the first four fifths alone.
    model = CollaborativeRanker().fit(early)
    tried = model.result_.to_tables()["candidates"]
    print("model       rank  ridge  loss of choices held out   accuracy")
    for name, rank, ridge, loss, error, share, chosen in zip(*tried.values(), strict=True):
        mark = "  <- chosen" if chosen else ""
        print(f"{name:10} {rank:5} {ridge:6.1f} {loss:9.4f} +- {error:.4f} {share:18.1%}{mark}")
    share = model.score(later)
    print(f"of the last fifth, ties aside, {share:.1%} are predicted\n")

    everyone = model.population()
    print("All users together, the first five:", *everyone["item"][:5])
    for user in model.users_[:3]:
        print(f"{user!s:>5}, and who {verb} to them:", *model.rank(user, top=5)["item"])

    # The rest comes in.
    model.partial_fit(later)
    user = model.users_[0]
    best, *_, last = model.rank(user)["item"]
    print(f"\nUser {user}: {best} rather than {last} with chance {model.predict(user, best, last):.3f}")
    scores = model.scores(user)
    at = int(np.argmax(scores["score"]))
    print(f"score of {scores['item'][at]}: {scores['low'][at]:.2f} to {scores['high'][at]:.2f} (90%)")

    print("\nAsk next:")
    asked = model.suggest(3)
    for who, left, right in zip(asked["user"], asked["left"], asked["right"], strict=True):
        print(f"  user {who}: {left} or {right}?")
    for finding in model.findings_:
        print(f"{finding.level}: {finding.text}")


if __name__ == "__main__":
    main()
