"""When a run stops."""

from __future__ import annotations

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from optiframe.records.record import Record


class Budget(Record):
    """When to stop; means the same for every solver.

    `tolerance` is compared with the residual the solver documents.
    """

    name = "budget"

    time: PositiveFloat | None = Field(default=None, description="seconds inside the solver; none: no limit")
    iterations: PositiveInt | None = Field(default=10_000, description="iterations at most; none: no limit")
    evaluations: PositiveInt | None = Field(
        default=None,
        description="calls of the objective (values, gradients, Hessian products) at most; none: no limit",
    )
    evaluations_per_variable: PositiveInt | None = Field(
        default=None,
        description="the same for each entry of a point and one more: k allows k (n + 1); none: no limit",
    )
    tolerance: NonNegativeFloat = Field(default=1e-6, description="stop when the residual is at most this")
