"""Network identification: which gene acts on which, from expression over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import nan
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PlainValidator, model_validator

from optiframe.errors import InvalidInput
from optiframe.findings import Finding
from optiframe.numbers import counted
from optiframe.problems.minimize import Minimize
from optiframe.problems.problem import Formulation, Problem
from optiframe.records.fields import Accepts, Array
from optiframe.tables.columns import Columns
from optiframe.tables.field import ColumnNames
from optiframe.tables.ids import Ids, listed
from optiframe_tvcs.networks.answer import Network
from optiframe_tvcs.networks.data import Transitions
from optiframe_tvcs.networks.metrics import HIGHER, ranked, scores_against
from optiframe_tvcs.networks.objective import NetworkLeastSquares, filled, off_diagonal
from optiframe_tvcs.networks.read import COLUMNS, read_expression, read_truth
from optiframe_tvcs.sets.caps import Cap, Total, caps_of, refuse_misfits, total_of
from optiframe_tvcs.sets.three_view import ThreeView

_NOTHING = 1e-24  # of the mean square of changes: rounding errors alone, squared


class NetworkIdentification(Problem[Network]):
    """Find a directed network with few edges, in all and at each gene, from expression over time.

    The model is x_{t+1} - x_t = W x_t + noise within each series; W_ij is the effect of gene j on gene i.
    The objective is the mean over transitions of half the squared misfit, over networks with at
    most `total` edges, `in_degree` of them into and `out_degree` out of a gene, none from a gene to
    itself. Caps are whole numbers or ratios: of the other genes, and for `total` of the smaller
    sum of the others.

    As in the paper W has no diagonal, so that a gene's decay is taken for noise. `own_effects` fits an
    effect of each gene on itself which is not an edge, `intercept` a constant for each gene, and
    `scale` divides each gene by its standard deviation, so that effects are compared on one
    scale.

    It formulates to least squares over a three-view set, which every solver of `minimize` over
    such sets takes (`tvcs.iht`, `tvcs.gradmp`, `tvcs.htp`, `tvcs.splicing`, `tvcs.fewer-views`). The metrics
    compare with `truth` over all ordered pairs of different genes. `aupr_of_scores` and `auc_of_scores`
    rank all pairs; the others look at the edges within the caps alone.

    Memory: 16 bytes a gene and transition, and 8 for each pair of genes.
    """

    name = "network-identification"
    reference = "Yang et al., Sec. 5.3"
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = dict.fromkeys(HIGHER, "higher")

    # The order matters: reading a table looks at the fields before it.
    columns: Annotated[dict[str, str], ColumnNames(COLUMNS)] = Field(
        default_factory=dict, description="names of the columns where they differ from ours"
    )
    expression: Annotated[
        Transitions,
        PlainValidator(read_expression),
        Accepts(
            "data frame, mapping, CSV, Parquet or Excel file: series, time, a column a gene; or gene, value; "
            "or a row a gene and a column a time"
        ),
    ] = Field(description="levels of the genes over time, in one or several series")
    in_degree: Cap = Field(default=None, description="edges into a gene at most; none: no cap")
    out_degree: Cap = Field(default=None, description="edges out of a gene at most; none: no cap")
    total: Total = Field(
        default=None,
        description="edges in all; a ratio is of the smaller sum of the other caps; none: no cap",
    )
    own_effects: bool = Field(
        default=False, description="fit an effect of each gene on itself, which is no edge"
    )
    intercept: bool = Field(default=False, description="fit a constant change of each gene")
    scale: bool = Field(default=False, description="divide each gene by its standard deviation")
    truth: Annotated[
        NDArray[np.bool_] | None,
        PlainValidator(read_truth),
        Accepts(
            "data frame, mapping, CSV, Parquet or Excel file with source, target and perhaps edge (0 or 1)"
        ),
    ] = Field(default=None, description="the known network, for the metrics only")

    @model_validator(mode="after")
    def _caps_fit(self) -> Self:
        refuse_misfits(self, {"in_degree": "in_caps", "out_degree": "out_caps"})
        return self

    @property
    def genes(self) -> Ids:
        """Ids of the genes, shape (genes,); rows and columns of every matrix here."""
        return self.expression.genes

    @cached_property
    def in_caps(self) -> NDArray[np.int64]:
        """Edges into each gene at most; shape (genes,)."""
        return caps_of(self.in_degree, self.genes, len(self.genes) - 1, "gene")

    @cached_property
    def out_caps(self) -> NDArray[np.int64]:
        """Edges out of each gene at most; shape (genes,)."""
        return caps_of(self.out_degree, self.genes, len(self.genes) - 1, "gene")

    @cached_property
    def over(self) -> ThreeView:
        """The caps as a three-view set over the pairs of different genes, row (target) by row."""
        size = len(self.genes)
        target, source = (off_diagonal(codes) for codes in np.indices((size, size)))
        return ThreeView.load(
            total=total_of(self.total, self.in_caps, self.out_caps),
            rows={"labels": target, "bounds": self.in_caps},
            columns={"labels": source, "bounds": self.out_caps},
        )

    @cached_property
    def least_squares(self) -> NetworkLeastSquares:
        """The objective, with intercepts and scales worked in."""
        states, changes = self.expression.states, self.expression.changes
        if self.intercept:  # the best constants leave what is centred
            states = states - states.mean(axis=1, keepdims=True)
            changes = changes - changes.mean(axis=1, keepdims=True)
        states, changes = states / self._unit, changes / self._unit
        return NetworkLeastSquares(states=states, changes=changes, own_effects=self.own_effects)

    @cached_property
    def _unit(self) -> Array:
        """What a level of each gene is divided by, shape (genes, 1)."""
        spread = self.expression.states.std(axis=1, keepdims=True)
        return np.where(self._is_constant, 1.0, spread) if self.scale else np.ones_like(spread)

    @cached_property
    def _is_constant(self) -> NDArray[np.bool_]:
        """Which genes never change, shape (genes, 1); their deviation may be above 0 by rounding."""
        states = self.expression.states
        return np.asarray((states == states[:, :1]).all(axis=1, keepdims=True))

    def network(self, entries: Array, scores: Array | None = None) -> Network:
        """The answer with these effects, given without the diagonal row by row; scores of all pairs."""
        return Network(filled(entries, len(self.genes)), self.genes, self.expression.backend, scores)

    def _scored(self, entries: Array) -> Array:
        return filled(self.least_squares.scores(entries), len(self.genes))

    def formulate(self) -> Formulation:
        return Formulation(
            Minimize(self.least_squares, over=self.over),
            interpret=lambda entries: self.network(entries, self._scored(entries)),
            encode=lambda solution: off_diagonal(solution.weights),
        )

    def objective(self, solution: Network) -> float:
        """Mean over transitions of half the squared misfit; nan where the weights are no effects."""
        return super().objective(solution) if solution.effects else nan

    def violation(self, solution: Network) -> float:
        return self.over.violation(off_diagonal(solution.weights))

    def metrics(self, solution: Network) -> dict[str, float]:
        edges = {"edges": float(len(solution))}
        if self.truth is None:
            return edges
        truth, found = off_diagonal(self.truth), {}
        if solution.scores is not None:  # the first metric is the one by which comparisons rank
            auc, aupr = ranked(off_diagonal(solution.scores), truth)
            found = {"aupr_of_scores": aupr, "auc_of_scores": auc}
        return found | edges | scores_against(off_diagonal(solution.weights), truth)

    def baseline_metrics(self) -> dict[str, float]:
        """`auc` 1/2, where there are edges and pairs without one in the truth."""
        known = np.zeros(0) if self.truth is None else off_diagonal(self.truth)
        return {"auc": 0.5} if np.any(known) and not np.all(known) else {}

    def recommended(self) -> Sequence[tuple[str, str]]:
        return (("tvcs.iht", "it fits the network within the caps"),)

    def check(self, solution: Any) -> None:
        if not isinstance(solution, Network) or len(solution.weights) != len(self.genes):
            raise InvalidInput("a solution is a Network of this problem's genes")

    def diagnose(self, solution: Network) -> tuple[Finding, ...]:
        findings = list(self.expression.remarks)
        states = self.expression.states
        still = self.genes[self._is_constant[:, 0]].tolist()
        if still and states.shape[1] > 1:
            text = f"nothing can be said about the effects of genes that never change: {listed(still)}"
            findings.append(Finding("warning", text, tuple(still), identifier="network.constant-gene"))
        if states.shape[1] < len(self.genes):
            text = (
                f"{counted(states.shape[1], 'transition')} of {len(self.genes)} genes: without the caps many "
                "networks would fit exactly, so which edges are found rests on the caps"
            )
            findings.append(Finding("note", text, identifier="network.few-transitions"))
        alone = self.least_squares.value(np.zeros(self.least_squares.shape))
        if alone <= _NOTHING * ((self.expression.changes / self._unit) ** 2).mean():
            switches = " and ".join(name for name in ("own_effects", "intercept") if getattr(self, name))
            by = f" by {switches}" if switches else ""
            text = f"every change is explained without edges{by}, so the edges mean nothing; give more times"
            findings.append(Finding("warning", text, identifier="network.nothing-left"))
        if not self.expression.even:
            text = "the times are not equally far apart; the model takes every step for one unit"
            findings.append(Finding("warning", text, identifier="network.uneven-times"))
        if self.truth is not None and (off_diagonal(self.truth).all() or not self.truth.any()):
            what = "every pair of genes is an edge" if self.truth.any() else "no pair of genes is an edge"
            text = f"in the truth {what}, so most of the metrics are nan and compare nothing; check its edges"
            findings.append(Finding("warning", text, identifier="network.one-sided-truth"))
        return tuple(findings)

    def to_tables(self, solution: Network) -> dict[str, Columns]:
        edges = solution.weights != 0
        genes = {"gene": self.genes, "regulators": edges.sum(axis=1), "targets": edges.sum(axis=0)}
        return {"edges": solution.columns(), "genes": genes}
