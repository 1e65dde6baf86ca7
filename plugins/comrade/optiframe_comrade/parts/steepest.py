"""Attacks that know the Hessian, the filter, and what the honest workers send."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
import scipy.linalg as la
from pydantic import Field, PositiveInt

from optiframe.errors import Unsuited
from optiframe.problems.objectives.objective import Objective
from optiframe.records.fields import Array
from optiframe_comrade.messages import GRADIENT, NEWTON_STEP, STEP_WITH_GRADIENT, STEP_WITH_VALUE
from optiframe_comrade.parts import robust_means
from optiframe_comrade.parts.kinds import Attack, Situation

_HALVINGS = 12  # of the search for the largest displacement: to a part in 4,000
_FALLS = 1e6  # by which a hostile worker says that its objective falls, each round


class Scene:
    """What hostile workers see in a round: honest vectors, the filter, and a shard's Hessian at the point.

    Raises
    ------
    Unsuited
        When they do not know what the honest workers send, or hold no terms with a Hessian.
    """

    def __init__(self, situation: Situation) -> None:
        if situation.honest is None or not len(situation.honest):
            raise Unsuited("this attack needs to know what the honest workers send, and it does not")
        if situation.shard is None or not (
            situation.shard.offers(Objective.hessian) or situation.shard.offers(Objective.hessian_product)
        ):
            raise Unsuited("this attack needs a worker's terms with a Hessian, and there are none")
        self.honest: Array = situation.honest
        self.byzantine, self.trim = len(situation.byzantine), situation.trim
        self.rule, self.shard, self.point = situation.rule, situation.shard, situation.point
        self.gradients = situation.kind == GRADIENT
        self.mean = robust_means.mean(self.honest)

    @cached_property
    def hessian(self) -> Array:
        """A shard's Hessian at the point, shape (d, d)."""
        shard = self.shard
        assert shard is not None  # looked at in __init__
        if shard.offers(Objective.hessian):
            return np.asarray(shard.hessian(self.point))
        columns = np.eye(len(self.point))
        return np.array([shard.hessian_product(self.point, one) for one in columns])

    @cached_property
    def harm(self) -> Array:
        """M with v'Mv/2 the rise of the objective by an error v of the average: H, or H^-1 of a gradient."""
        if not self.gradients:
            return self.hessian
        return np.asarray(la.pinvh(self.hessian))

    def steepest(self) -> Array:
        """The unit vector of most harm for its length, so turned that the objective rises."""
        return self._uphill(la.eigh(self.harm)[1][:, -1])

    def widest(self) -> Array:
        """The unit vector of most harm for its length in the filter's metric."""
        coordinates = getattr(self.rule, "coordinates", None)
        if coordinates is None:
            return self.steepest()
        half = coordinates(np.eye(len(self.mean)))
        vector = la.eigh(self.harm, half @ half.T)[1][:, -1]
        return self._uphill(vector / np.linalg.norm(vector))

    def lengths(self, rows: Array) -> Array:
        """Lengths of rows in the filter's metric; Euclidean for a filter without one."""
        coordinates = getattr(self.rule, "coordinates", None)
        return robust_means.norms(rows if coordinates is None else coordinates(rows))

    def room(self, direction: Array) -> float:
        """The largest multiple of a direction off the honest mean at which the filter keeps every liar.

        For a filter that does not choose: as far as the farthest honest vector, in its metric.
        """
        away = self.lengths(self.honest - self.mean)
        unit = float(self.lengths(direction[np.newaxis])[0])
        if not unit > 0.0:
            return 0.0
        farthest = float(away.max()) / unit
        if self.rule is None or not self._chooses():
            return farthest
        low, high = 0.0, 4 * farthest
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._passes(self.mean + middle * direction) else (low, middle)
        return low

    def aggregate(self, lies: Array) -> Array:
        """What the filter makes of the honest vectors and these lies."""
        rule = self.rule
        assert rule is not None  # asked for only where there is one
        return np.asarray(rule.aggregate(np.vstack([lies, self.honest]), self.trim))

    def rise(self, lies: Array) -> float:
        """How much the average harms: its error off the honest mean, by the quadratic model."""
        error = self.aggregate(lies) - self.mean
        return float(error @ self.harm @ error)

    def _chooses(self) -> bool:
        return self.rule is not None and self.rule.kept(self.honest, 0) is not None

    def _passes(self, lie: Array) -> bool:
        rule = self.rule
        assert rule is not None  # `room` has looked
        kept = rule.kept(np.vstack([np.tile(lie, (self.byzantine, 1)), self.honest]), self.trim)
        return kept is not None and set(range(self.byzantine)) <= set(kept.tolist())

    def _uphill(self, vector: Array) -> Array:
        """The vector or its negative, whichever makes a step w - u end higher on the honest model."""
        pull = float(vector @ (self.mean if self.gradients else self.hessian @ self.mean))
        return -vector if pull > 0.0 else vector


class Agreed(Attack):
    """Hostile workers that decide together what all of them send, and say that their objectives fall."""

    colludes = True

    def conspire(self, situation: Situation) -> Array | None:
        if situation.kind not in (NEWTON_STEP, STEP_WITH_VALUE, GRADIENT, STEP_WITH_GRADIENT):
            return None
        return self.plan(Scene(situation))

    def falsify(self, vector: Array, situation: Situation) -> Array:
        plan = self.conspire(situation) if situation.plan is None else situation.plan
        return vector if plan is None else np.array(plan[situation.byzantine.index(situation.worker)])

    def claim(self, value: float, situation: Situation) -> float:
        return -_FALLS * situation.round

    @abstractmethod
    def plan(self, scene: Scene) -> Array:
        """One row for each hostile worker."""


class Steep(Agreed):
    """All send the honest mean plus the largest displacement the filter keeps, along the steepest direction.

    The direction is the top eigenvector of a shard's Hessian: of all displacements of one
    Euclidean length, the one that does most harm.
    """

    name = "attack.steep"

    def plan(self, scene: Scene) -> Array:
        direction = scene.steepest()
        return np.tile(scene.mean + scene.room(direction) * direction, (scene.byzantine, 1))


class SteepByMetric(Agreed):
    """The same in the direction of most harm for its length in the filter's metric, not Euclidean.

    Against a filter without a metric it is `attack.steep`.
    """

    name = "attack.steep-by-metric"

    def plan(self, scene: Scene) -> Array:
        direction = scene.widest()
        return np.tile(scene.mean + scene.room(direction) * direction, (scene.byzantine, 1))


class Greedy(Agreed):
    """Searches each round for the lies that do most harm after the filter has worked on them.

    It tries directions (the steepest, the widest in the filter's metric, against and along the honest
    mean, the greatest spread of the honest vectors, their deviation in every coordinate),
    displacements along them, and how far hostile workers spread from each other, by the honest quadratic
    model. It costs some 220 calls of the filter a round.
    """

    name = "attack.greedy"

    radii: PositiveInt = Field(default=12, description="number of displacements tried along each direction")

    def plan(self, scene: Scene) -> Array:
        away = scene.honest - scene.mean
        if scene.rule is None:
            return SteepByMetric().plan(scene)
        spread = la.svd(away, full_matrices=False)[2][0]
        mean = scene.mean
        directions = [scene.steepest(), scene.widest(), -mean, mean, spread, -scene.honest.std(axis=0)]
        typical = float(np.median(scene.lengths(away)))
        # Hostile workers may lie at one place, or among the honest ones as these lie among themselves.
        scatter = away[np.arange(scene.byzantine) % len(away)]
        best, most = np.tile(mean, (scene.byzantine, 1)), -np.inf
        for direction in directions:
            unit = float(scene.lengths(direction[np.newaxis])[0])
            if not unit > 0.0:
                continue
            for radius in np.geomspace(0.1, 10.0, self.radii) * typical / unit:
                for part in (0.0, 0.3, 1.0):
                    lies = mean + radius * direction + part * scatter
                    harm = scene.rise(lies)
                    if harm > most:
                        best, most = lies, harm
        return np.asarray(best)
