"""Recommend books: few in all, few by one author, few on one topic.

python examples/recommend_books.py

The introduction's example of Yang et al.: the scores say how much a reader would like each book, and
the bounds keep the shelf varied. The shadow prices say which bound it would pay to widen.
"""

from __future__ import annotations

import numpy as np
from optiframe_tvcs import ThreeView, shadow_prices

BOOKS = [  # title, author, topic, how much the reader would like it; below zero: would rather not
    ("Emma", "Austen", "manners", 9.1),
    ("Persuasion", "Austen", "manners", 8.7),
    ("Pride and Prejudice", "Austen", "manners", 9.6),
    ("Northanger Abbey", "Austen", "gothic", 7.2),
    ("Frankenstein", "Shelley", "gothic", 8.9),
    ("The Last Man", "Shelley", "future", 6.1),
    ("Dracula", "Stoker", "gothic", 8.2),
    ("The Time Machine", "Wells", "future", 8.4),
    ("The War of the Worlds", "Wells", "future", 8.0),
    ("Middlemarch", "Eliot", "manners", 8.8),
    ("Silas Marner", "Eliot", "manners", 6.5),
    ("The Coming Race", "Bulwer-Lytton", "future", -1.5),
]
TOTAL, PER_AUTHOR, PER_TOPIC = 6, 2, 2


def main() -> None:
    titles, authors, topics, scores = zip(*BOOKS, strict=True)
    author_names, author = np.unique(authors, return_inverse=True)
    topic_names, topic = np.unique(topics, return_inverse=True)
    shelf = ThreeView.load(
        total=TOTAL,
        rows={"labels": author, "bounds": PER_AUTHOR},
        columns={"labels": topic, "bounds": PER_TOPIC},
    )
    selection = shelf.select(np.array(scores))

    print(f"{TOTAL} books, at most {PER_AUTHOR} by one author and {PER_TOPIC} on one topic:")
    for book in np.flatnonzero(selection.support):
        print(f"  {titles[book]:22} {authors[book]:8} {topics[book]:8} {scores[book]:4.1f}")

    best = np.argsort(scores)[::-1][:TOTAL]
    print("Without the bounds: " + ", ".join(titles[book] for book in best))

    more, proof = shadow_prices(shelf, np.array(scores)), selection.certificate
    print("\nOne more place would add, the other bounds as they are:")
    print(f"  in all: {more.total:.1f}")
    for group in np.flatnonzero(more.rows):
        print(f"  for {author_names[group]}: {more.rows[group]:.1f}")
    for group in np.flatnonzero(more.columns):
        print(f"  for {topic_names[group]}: {more.columns[group]:.1f}")
    print(f"\nProved best: {proof.holds}; liked {proof.primal:.1f}, and no shelf more than {proof.dual:.1f}")


if __name__ == "__main__":
    main()
