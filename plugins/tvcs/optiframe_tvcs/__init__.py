"""Three-view cardinality sets: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_tvcs.certificate import Certificate as Certificate
    from optiframe_tvcs.certificate import Prices as Prices
    from optiframe_tvcs.certificate import Selection as Selection
    from optiframe_tvcs.groups import Groups as Groups
    from optiframe_tvcs.three_view import ThreeView as ThreeView

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "certificate": ("Certificate", "Prices", "Selection"),
        "groups": ("Groups",),
        "three_view": ("ThreeView",),
    },
)

_HERE = "optiframe_tvcs."


@hookimpl
def optiframe_constraint_sets() -> list[Description]:
    return [
        Description(
            "three-view",
            _HERE + "three_view:ThreeView",
            "Few nonzeros in all, in each group of one view and in each group of another",
        )
    ]


@hookimpl
def optiframe_solvers() -> list[Description]:
    return [
        Description(
            "tvcs.highs",
            _HERE + "highs:SimplexProjection",
            "Projection onto a three-view set by HiGHS's dual simplex (SciPy)",
        ),
    ]
