"""Labels in a pandas frame to answers in a pandas frame, all at once and batch by batch.

python examples/labels_from_a_frame.py
"""

from __future__ import annotations

import pandas
from optiframe_rankone import LabelAggregator

import optiframe

# 40 workers answer questions with three choices; whoever labels most is no better than others.
DATA = {
    "name": "synthetic.single-coin",
    "workers": 40,
    "tasks": 600,
    "classes": 3,
    "labels_per_task": 5,
    "activity_skew": 0.8,
    "seed": 1,
}


def main() -> None:
    tables = optiframe.dataset(**DATA).inputs()
    labels, truth = pandas.DataFrame(tables["labels"]), pandas.DataFrame(tables["truth"])
    for table in (labels, truth):
        table["label"] = table["label"].map({0: "cat", 1: "dog", 2: "owl"})

    model = LabelAggregator()
    answers = model.fit_predict(labels, truth)
    print("All at once:", answers.head(3).to_string(index=False), sep="\n")
    print(f"error {model.result_.metrics['error']:.4f} in {model.n_iter_} iterations\n")

    print("The five best workers:")
    print(model.skills_.nlargest(5, "skill").to_string(index=False), "\n")

    print("What to know before trusting the answer:")
    for finding in model.findings_:
        print(f"- {finding.level}: {finding.text}")

    print("\nBatch by batch, each together with all before it:")
    model = LabelAggregator()
    for first in range(0, 600, 150):
        batch = labels[labels["task"].between(first, first + 149)]
        model.partial_fit(batch, truth)
        error = model.result_.metrics["error"]
        print(f"{len(model.predict())} tasks: error {error:.4f}, {model.n_iter_} iterations")


if __name__ == "__main__":
    main()
