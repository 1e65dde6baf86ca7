"""Rank-one completion problems of Figures 4 and 5: products of skills along the edges of a graph."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, NonNegativeInt, model_validator

from optiframe.errors import InvalidInput
from optiframe.numbers import number
from optiframe.problems.datasets import DataSet
from optiframe.records.fields import Array
from optiframe_rankone.worker_graph import WorkerGraph

_START = 0.6  # x(0) in Figures 4 and 5
_DRAWS = 1000  # graphs; at the default chance nearly every one will do, so this says the chance is too small


class ProductsOnAGraph(DataSet):
    """Products s_i s_j of random skills along the edges of a graph, all weights 1, s known.

    Skills are uniform between `skill_low` and `skill_high`; to each product noise
    ``noise * U[-1/2, 1/2]`` is added, one draw for each edge. Solvers begin at 0.6, as in
    the paper. Same fields, same bits; skills, noise and graph have separate streams.
    """

    reference = "Ma et al., Sec. 6, Figures 4 and 5"
    problem = "rank-one-completion"

    workers: Annotated[int, Field(ge=3)] = Field(default=25, description="number of workers")
    skill_low: float = Field(default=0.4, description="lower bound of the skills")
    skill_high: float = Field(default=0.6, description="upper bound of the skills")
    noise: NonNegativeFloat = Field(
        default=0.0, description="width of the noise on each product; 0.01 in Figure 5, none in Figure 4"
    )
    seed: NonNegativeInt = Field(default=0, description="fixes every draw")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.skill_low > self.skill_high:
            text = f"is above skill_high ({self.skill_low:g} > {self.skill_high:g})"
            raise InvalidInput(f"skill_low: {text}", [(("skill_low",), text)])
        return self

    @abstractmethod
    def edges(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which pairs are known: symmetric, shape (workers, workers)."""

    def inputs(self) -> dict[str, Any]:
        skills, noise, graph = (np.random.default_rng(s) for s in np.random.SeedSequence(self.seed).spawn(3))
        truth = skills.uniform(self.skill_low, self.skill_high, self.workers)
        known = self.edges(graph)
        shape = (self.workers, self.workers)
        off: Array = np.triu(self.noise * noise.uniform(-0.5, 0.5, shape), 1)
        return {
            "weights": known.astype(np.float64),
            "values": np.where(known, np.outer(truth, truth) + off + off.T, 0.0),
            "start": np.full(self.workers, _START),
            "truth": truth,
        }


class Ring(ProductsOnAGraph):
    """Products along a ring (the circle graph of Figures 4 and 5).

    A ring of an even number of workers is bipartite: products there do not tell the skills.
    """

    name = "rank-one.ring"

    def edges(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        workers = np.arange(self.workers)
        return _both_ways(self.workers, workers, (workers + 1) % self.workers)


class Grid(ProductsOnAGraph):
    """Products along a square grid with one extra edge, across its first square.

    The grid alone is bipartite; the diagonal from the first worker to its neighbour there
    in the row and the line below closes a triangle. The paper adds one edge without saying
    which.
    """

    name = "rank-one.grid"

    @model_validator(mode="after")
    def _square(self) -> Self:
        if round(np.sqrt(self.workers)) ** 2 != self.workers:
            text = f"must be a square number, such as 25, got {self.workers}"
            raise InvalidInput(f"workers: {text}", [(("workers",), text)])
        return self

    def edges(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        side = round(np.sqrt(self.workers))
        at = np.arange(self.workers).reshape(side, side)
        first = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel(), [at[0, 0]]])
        second = np.concatenate([at[:, 1:].ravel(), at[1:].ravel(), [at[1, 1]]])
        return _both_ways(self.workers, first, second)


class ErdosRenyi(ProductsOnAGraph):
    """Products along a random graph in which each pair is an edge with one chance.

    Graphs that are not connected, or bipartite, are drawn again, since skills cannot be
    told there. The paper gives no chance; the default is twice log(W)/W, the threshold
    from which such a graph is likely to be connected.
    """

    name = "rank-one.erdos-renyi"

    chance: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="chance of each edge; none: 2 log(workers)/workers, at most 1"
    )

    def edges(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        likely = min(1.0, 2.0 * np.log(self.workers) / self.workers)
        chance = likely if self.chance is None else self.chance
        for _ in range(_DRAWS):
            first, second = np.nonzero(np.triu(rng.random((self.workers, self.workers)) < chance, 1))
            known = _both_ways(self.workers, first, second)
            if _identifiable(known):
                return known
        raise InvalidInput(
            f"rank-one.erdos-renyi: of {_DRAWS} graphs of {self.workers} workers none was connected with "
            f"an odd cycle; raise chance (now {number(chance)})"
        )


def _both_ways(workers: int, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
    known = np.zeros((workers, workers), dtype=bool)
    known[first, second] = known[second, first] = True
    return known


def _identifiable(known: NDArray[np.bool_]) -> bool:
    graph = WorkerGraph(sp.csr_array(known.astype(np.float64)))
    return graph.components == 1 and not graph.bipartite.any()
