"""General test problems and optimizers: the names this plugin brings.

The classes are imported on use, and each imports its library when it is run; this module imports
neither NumPy nor pydantic.
"""

from __future__ import annotations

from optiframe.hookspec import Description, hookimpl


@hookimpl
def optiframe_plugin() -> list[Description]:
    return _collections()


def _collections() -> list[Description]:
    """Problems that other people have collected, for `minimize`."""
    return [
        Description(
            "data set",
            "cutest",
            ".collections.cutest:Cutest",
            "CUTEst problems chosen by size and kind of constraints",
        ),
        Description(
            "data set", "cutest.problem", ".collections.cutest:CutestProblem", "A problem of CUTEst by name"
        ),
        Description(
            "objective", "cutest", ".collections.cutest:CutestObjective", "The objective of a CUTEst problem"
        ),
        Description(
            "data set",
            "bbob",
            ".collections.bbob:Bbob",
            "Functions of COCO's testbed BBOB by size, number and instance",
        ),
        Description("data set", "bbob.problem", ".collections.bbob:BbobProblem", "One function of BBOB"),
        Description(
            "objective", "bbob", ".collections.bbob:BbobObjective", "The objective of a BBOB function"
        ),
    ]
