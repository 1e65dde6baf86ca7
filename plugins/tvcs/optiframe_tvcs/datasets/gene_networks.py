"""Gene expression over time with a known network: DREAM4, and drawn networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.problems.datasets import DataFile, DataSet
from optiframe.records.fields import Array
from optiframe_tvcs.networks.objective import filled, off_diagonal
from optiframe_tvcs.sets.three_view import ThreeView

_SOURCE = "the DREAM4 in-silico network challenge, e.g. the Bioconductor package DREAM4"


class Dream4(DataSet):
    """A network of the DREAM4 in-silico challenge: time series and the gold standard as the truth.

    Read from `grn/insilico_size<N>_<k>_timeseries.tsv` (columns Time and the genes, blank lines
    between series) and `..._goldstandard.tsv` (regulator, target, 0 or 1). In the first half of each
    series a perturbation acts, which the model does not know of.

    The bounds are ours, round numbers set before any result was seen and not from the gold standard.
    """

    reference = "Marbach et al. 2009; Schaffter et al. 2011"
    problem = "network-identification"
    size: ClassVar[int]
    number: ClassVar[int]

    total: PositiveInt | None = Field(default=None, description="edges in all; none: two for each gene")
    in_degree: PositiveInt | None = Field(default=3, description="edges into a gene; none: no bound")
    out_degree: PositiveInt | None = Field(default=None, description="edges out of a gene; none: no bound")

    @classmethod
    def alternatives(cls) -> tuple[tuple[DataFile, ...], ...]:
        stem = f"grn/insilico_size{cls.size}_{cls.number}"
        return ((DataFile(f"{stem}_timeseries.tsv", _SOURCE), DataFile(f"{stem}_goldstandard.tsv", _SOURCE)),)

    def inputs(self) -> dict[str, Any]:
        series, gold = self.files().values()
        return {
            "expression": read_series(series),
            "truth": read_gold(gold),
            "total": 2 * self.size if self.total is None else self.total,
            "in_degree": self.in_degree,
            "out_degree": self.out_degree,
        }


class Dream4Of10(Dream4):
    """Ten genes, five series of 21 points."""

    size = 10
    out_degree: PositiveInt | None = Field(default=5, description="edges out of a gene; none: no bound")


class Dream4Of100(Dream4):
    """A hundred genes, ten series of 21 points."""

    size = 100
    out_degree: PositiveInt | None = Field(default=10, description="edges out of a gene; none: no bound")


class Dream4Of10Number1(Dream4Of10):
    """DREAM4, ten genes, network 1: 105 points, 15 edges."""

    name = "grn.dream4-10.1"
    number = 1


class Dream4Of10Number2(Dream4Of10):
    """DREAM4, ten genes, network 2: 105 points, 16 edges."""

    name = "grn.dream4-10.2"
    number = 2


class Dream4Of10Number3(Dream4Of10):
    """DREAM4, ten genes, network 3: 105 points, 15 edges."""

    name = "grn.dream4-10.3"
    number = 3


class Dream4Of10Number4(Dream4Of10):
    """DREAM4, ten genes, network 4: 105 points, 13 edges."""

    name = "grn.dream4-10.4"
    number = 4


class Dream4Of10Number5(Dream4Of10):
    """DREAM4, ten genes, network 5: 105 points, 12 edges."""

    name = "grn.dream4-10.5"
    number = 5


class Dream4Of100Number1(Dream4Of100):
    """DREAM4, a hundred genes, network 1: 210 points, 176 edges."""

    name = "grn.dream4-100.1"
    number = 1


class Dream4Of100Number2(Dream4Of100):
    """DREAM4, a hundred genes, network 2: 210 points, 249 edges."""

    name = "grn.dream4-100.2"
    number = 2


def read_series(path: Path) -> dict[str, NDArray[Any]]:
    """The wide table of a DREAM4 time-series file: series (from 1), time, a column for each gene.

    Raises
    ------
    InvalidInput
        For what is not laid out so, naming the file and the line.
    """
    lines = _lines(path)
    header = [name.strip().strip('"') for name in lines[0].split("\t")] if lines else []
    if header[:1] != ["Time"] or len(header) < 2:
        raise InvalidInput(f"{path.name} line 1: expected Time and the genes, separated by tabs")
    rows: list[list[float]] = []
    series, last = 0, np.inf
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        try:
            row = [float(cell) for cell in line.split("\t")]
        except ValueError as error:
            raise InvalidInput(f"{path.name} line {number}: {error}") from None
        if len(row) != len(header):
            raise InvalidInput(
                f"{path.name} line {number}: {len(row)} values where the header has {len(header)}"
            )
        series += row[0] <= last  # time starts again: a new series
        last = row[0]
        rows.append([series, *row])
    if not rows:
        raise InvalidInput(f"{path.name} has no rows")
    table = np.array(rows)
    names = ["series", "time", *header[1:]]
    return {name: column.copy() for name, column in zip(names, table.T, strict=True)}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path.name} is not text in UTF-8; unpack it, or download it again") from None


def read_gold(path: Path) -> dict[str, Any]:
    """The edges of a DREAM4 gold standard: source, target, edge; raises as `read_series`."""
    cells = [line.split("\t") for line in _lines(path) if line.strip()]
    for number, row in enumerate(cells, start=1):
        if len(row) != 3 or row[2] not in ("0", "1"):
            raise InvalidInput(f"{path.name} line {number}: expected regulator, target, 0 or 1, with tabs")
    if not cells:
        raise InvalidInput(f"{path.name} has no rows")
    source, target, edge = zip(*cells, strict=True)
    return {"source": list(source), "target": list(target), "edge": [int(value) for value in edge]}


class RandomNetwork(DataSet):
    """A drawn network with bounded degrees, and linear dynamics over it with noise.

    The support is that of uniform random worths chosen within the bounds (`ThreeView.support`); effects
    have random signs and sizes uniform in [.5, 1]. P = (1 - decay) I + c W is scaled, by the c at
    which its spectral radius is `radius`, and x_{t+1} = P x_t + noise from standard normal starts.
    Each measured level has an error of `noise` times its gene's standard deviation (the paper: "10%
    Gaussian white noise"), and what is measured is what the problem gets.

    The paper's networks come from GeneNetWeaver, whose settings it does not give; these are linear
    instead, as its model is. With decay above 0 the problem is given `own_effects`.
    """

    name = "grn.random-network"
    reference = "Yang et al., Sec. 5.3 (N = 30, 10% noise)"
    problem = "network-identification"

    genes: Annotated[int, Field(ge=2)] = Field(default=30, description="number of genes N")
    edges: PositiveInt = Field(
        default=45, description="edges of the true network at most, and bound on the total"
    )
    in_degree: PositiveInt = Field(default=3, description="edges into a gene at most, and the bound")
    out_degree: PositiveInt = Field(default=5, description="edges out of a gene at most, and the bound")
    series: PositiveInt = Field(default=10, description="number of series")
    points: Annotated[int, Field(ge=2)] = Field(default=21, description="points of a series")
    decay: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.3, description="share of a level lost in a step"
    )
    radius: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.9, description="spectral radius of P at most"
    )
    drive: NonNegativeFloat = Field(
        default=0.1, description="standard deviation of the noise in the dynamics"
    )
    noise: NonNegativeFloat = Field(
        default=0.1, description="measurement error over a gene's standard deviation"
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _stable(self) -> Self:
        if 1 - self.decay > self.radius:
            raise InvalidInput(
                f"radius: a network without edges has the spectral radius 1 - decay = {1 - self.decay:g} "
                "already; raise radius or decay"
            )
        return self

    def effects(self) -> Array:
        """c W, shape (genes, genes): the effect of the gene of the column on that of the row."""
        return self._effects(self._streams()[0])

    def inputs(self) -> dict[str, Any]:
        network, dynamics, errors = self._streams()
        weights = self._effects(network)
        step = weights + (1 - self.decay) * np.eye(self.genes)
        levels = [dynamics.standard_normal((self.series, self.genes))]
        for _ in range(self.points - 1):
            drive = self.drive * dynamics.standard_normal((self.series, self.genes))
            levels.append(levels[-1] @ step.T + drive)
        true = np.stack(levels, axis=1).reshape(-1, self.genes)
        measured = true + self.noise * true.std(axis=0) * errors.standard_normal(true.shape)
        names = [f"g{i:0{len(str(self.genes))}}" for i in range(1, self.genes + 1)]
        target, source = np.nonzero(weights)
        return {
            "expression": {
                "series": np.repeat(np.arange(1, self.series + 1), self.points),
                "time": np.tile(np.arange(self.points), self.series),
                **dict(zip(names, measured.T, strict=True)),
            },
            "truth": {"source": [names[j] for j in source], "target": [names[i] for i in target]},
            "in_degree": self.in_degree,
            "out_degree": self.out_degree,
            "total": self.edges,
            "own_effects": self.decay > 0,
        }

    def _streams(self) -> list[np.random.Generator]:
        """Of the network, the dynamics and the measurement errors."""
        return [np.random.default_rng(stream) for stream in np.random.SeedSequence(self.seed).spawn(3)]

    def _effects(self, rng: np.random.Generator) -> Array:
        size = self.genes
        target, source = (off_diagonal(codes) for codes in np.indices((size, size)))
        over = ThreeView.load(
            total=self.edges,
            rows={"labels": target, "bounds": np.full(size, self.in_degree)},
            columns={"labels": source, "bounds": np.full(size, self.out_degree)},
        )
        edges = over.support(1.0 - rng.random(over.elements))
        sizes = rng.uniform(0.5, 1.0, over.elements) * rng.choice([-1.0, 1.0], over.elements)
        weights = filled(edges * sizes, size)
        own = (1 - self.decay) * np.eye(size)
        return weights * _largest_factor(weights, own, self.radius)


def _largest_factor(weights: Array, own: Array, radius: float) -> float:
    """The largest factor up to 1 by which `weights` can be multiplied for this spectral radius."""

    def fits(factor: float) -> bool:
        return float(np.abs(np.linalg.eigvals(own + factor * weights)).max()) <= radius

    if fits(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(30):  # to nine digits
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
