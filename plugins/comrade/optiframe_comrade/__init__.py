"""Distributed Newton steps that withstand hostile workers: the names this plugin brings.

The classes are imported on use; this module imports neither NumPy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optiframe.hookspec import Description, hookimpl
from optiframe.lazy import exports

if TYPE_CHECKING:
    from optiframe_comrade.messages import Broadcast as Broadcast
    from optiframe_comrade.messages import Fault as Fault
    from optiframe_comrade.messages import Reply as Reply
    from optiframe_comrade.parts import Attack as Attack
    from optiframe_comrade.parts import Compressor as Compressor
    from optiframe_comrade.parts import Filter as Filter
    from optiframe_comrade.parts import Selecting as Selecting
    from optiframe_comrade.parts import Situation as Situation
    from optiframe_comrade.workers import Workers as Workers

# Without `__dir__`: the plugin manager looks at every name listed there, which would import them.
__getattr__, _, __all__ = exports(
    __name__,
    {
        "messages": ("Broadcast", "Fault", "Reply"),
        "parts": ("Attack", "Compressor", "Filter", "Selecting", "Situation"),
        "workers": ("Workers",),
    },
)

_HERE = "optiframe_comrade."


@hookimpl
def optiframe_parts() -> list[Description]:
    here = _HERE + "parts:"
    return [
        Description("filter.mean", here + "Mean", "The plain mean; leaves nobody out"),
        Description("filter.norm", here + "Norm", "Leaves out the vectors of greatest norm"),
        Description("attack.none", here + "Honest", "No attack: hostile workers in name only"),
        Description("attack.negative", here + "Negative", "Sends -c times the update"),
        Description("compressor.none", here + "Nothing", "No compression: eight bytes a number"),
    ]
