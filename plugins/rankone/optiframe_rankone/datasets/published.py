"""The five label data sets of Ma et al., Table 4."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optiframe.problems.datasets import DataFile, DataSet
from optiframe.tables.read import read_table
from optiframe_rankone.datasets.single_coin import Integers

_SPECTRAL = "github.com/zhangyuc/SpectralMethodsMeetEM"
_SNOW = (
    "github.com/bob-carpenter/case-studies, "
    "anno-difficulty/data/original/snow-et-al/unpacked/{}.standardized.tsv (to be tidied by hand)"
)


class LabelSet(DataSet):
    """A published label set: tidy tables where the user has them, else the files as published.

    The tidy tables are ``crowd/<folder>/labels.csv`` (task, worker, label) and
    ``truth.csv`` (task, label); tasks without a known truth are absent from the latter.
    """

    problem = "label-aggregation"
    folder: ClassVar[str]
    source: ClassVar[str] = _SPECTRAL
    base_url: ClassVar[str] = (
        "https://raw.githubusercontent.com/zhangyuc/SpectralMethodsMeetEM/"
        "6204f5fcab1766cb1b2c40fc1bff53b1613ddc6c/src/"
    )
    published: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and SHA-256 of the labels' file, then of the truth's, where they can be downloaded."""

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        tidy = tuple(DataFile(f"crowd/{cls.folder}/{table}.csv", cls.source) for table in ("labels", "truth"))
        upstream = tuple(
            DataFile(f"crowd/upstream/{name}", cls.source, cls.base_url + name, sha256)
            for name, sha256 in cls.published
        )
        return (tidy, upstream) if upstream else (tidy,)

    def inputs(self) -> dict[str, Any]:
        labels, truth = self.files().values()
        return {
            "labels": self._columns(labels, ("task", "worker", "label")),
            "truth": self._columns(truth, ("task", "label")),
        }

    @staticmethod
    def _columns(path: Path, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        if path.suffix == ".csv":
            return read_table(path, names, title=path.name).columns
        return dict(zip(names, _published(path).T, strict=True))


def _published(path: Path) -> Integers:
    """The rows of a file as published, from 0 where it counts from 1, each row once.

    The published truth of the dogs repeats every row ten times; repeats keep the place of
    the first. The file's checksum was checked, so its shape is known.
    """
    rows = np.loadtxt(path, dtype=np.int64, ndmin=2) - 1
    first = np.unique(rows, axis=0, return_index=True)[1]
    return rows[np.sort(first)]


class Rte(LabelSet):
    """Recognising textual entailment: 800 tasks, 164 workers, 8000 labels, 2 classes."""

    name = "labels.rte"
    reference = "Snow, O'Connor, Jurafsky, Ng, EMNLP 2008"
    folder = "rte"
    published = (
        ("rte_crowd.txt", "a51b7a607587accf7800895a8f0c005eaac28a23fbac6524432666960c5673e2"),
        ("rte_truth.txt", "0782ff14373c7fe3b2c652d0cc6b768512ed9edc718e2dcf790426c3045430a1"),
    )


class Dogs(LabelSet):
    """Breeds of dogs: 807 tasks, 109 workers, 8070 labels, 4 classes."""

    name = "labels.dogs"
    reference = "Zhou, Platt, Basu, Mao, NIPS 2012"
    folder = "dogs"
    published = (
        ("dog_crowd.txt", "1b5c88e0e6c08b8bcfb27be2c43093af06a0d649edc6a65ad719d5204b894b24"),
        ("dog_truth.txt", "e1378e027b6e51b664b0c75a61e638d71bbede890cd4af2a2c4dae3718596d24"),
    )


class Web(LabelSet):
    """Relevance of web search results: 2665 tasks (2653 with truth), 177 workers, 15567 labels, 5 classes."""

    name = "labels.web"
    reference = "Zhou, Platt, Basu, Mao, NIPS 2012"
    folder = "web"
    published = (
        ("web_crowd.txt", "5b1ad44cebdcf59d42c83393a7dc3f4aa46746f5428c4caac275350247da6d6f"),
        ("web_truth.txt", "7ff13173d6ad447e6959fa5226bcbef756ebe34d712eae908de30036824fc94f"),
    )


class Temp(LabelSet):
    """Temporal order of events: 462 tasks, 76 workers, 4620 labels, 2 classes."""

    name = "labels.temp"
    reference = "Snow, O'Connor, Jurafsky, Ng, EMNLP 2008"
    folder = "temp"
    source = _SNOW.format("temp")


class Wsd(LabelSet):
    """Senses of the word "president": 177 tasks, 34 workers, 1770 labels, 3 classes."""

    name = "labels.wsd"
    reference = "Snow, O'Connor, Jurafsky, Ng, EMNLP 2008"
    folder = "wsd"
    source = _SNOW.format("wsd")
