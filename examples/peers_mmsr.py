"""crowd-kit's M-MSR turns votes round where workers worse than chance outweigh the others.

python examples/peers_mmsr.py            # needs: pip install "./plugins/peers[labels]"

M-MSR gives a worker who is mostly wrong a negative weight, rightly. Its vote then divides the scores of
a task by their sum (crowd-kit 1.4): where the sum is below 0 this turns the order round, and the class
with the least support wins. The same weights without the division are `vote = "signed"`.
"""

from __future__ import annotations

import numpy as np

import optiframe

WORKERS, TASKS = 40, 400


def main() -> None:
    print(f"{TASKS} tasks of 7 labels, {WORKERS} workers; adversaries are right with chance .2, others .75")
    print("share of tasks labelled rightly:\n")
    names = ("crowdkit.mmsr", "signed vote", "labels.majority", "rankone.pgd")
    print("adversaries  " + "  ".join(f"{name:>15}" for name in names) + "  turned round, wrong")
    for adversaries in (0, 8, 12, 16):
        problem = optiframe.problem(
            dataset={
                "name": "synthetic.single-coin",
                "workers": WORKERS,
                "tasks": TASKS,
                "labels_per_task": 7,
                "skills": [-0.6] * adversaries + [0.5] * (WORKERS - adversaries),  # 2 p - 1
            }
        )
        as_it_is = optiframe.solve(problem, "crowdkit.mmsr")
        signed = optiframe.solve(problem, "crowdkit.mmsr", vote="signed")
        others = [optiframe.solve(problem, name) for name in names[2:]]
        right = [f"{1 - result.metrics['error']:15.4f}" for result in (as_it_is, signed, *others)]

        # One fit, two votes: they differ exactly where a task's weights sum to less than 0.
        assert np.array_equal(as_it_is.solution.skills, signed.solution.skills)
        turned = signed.solution.scores.sum(axis=1) < 0
        voted = as_it_is.solution.predicted_codes()
        assert np.array_equal(voted != signed.solution.predicted_codes(), turned)
        wrong = int((voted != problem.truth_codes)[turned].sum())
        print(f"{adversaries:11}  {'  '.join(right)}  {turned.sum():12} {wrong:6}")


if __name__ == "__main__":
    main()
