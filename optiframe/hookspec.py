"""The hook a plugin implements, and the light descriptions it returns.

A plugin is a module named by an entry point of the group ``optiframe``. It imports this
module only, so that listing every name costs no heavy import::

    # my_plugin/__init__.py
    from optiframe.hookspec import Description, hookimpl

    @hookimpl
    def optiframe_plugin():
        return [Description("solver", "mine.newton", ".newton:Newton", "Newton with backtracking")]

    # pyproject.toml
    [project.entry-points.optiframe]
    my-plugin = "my_plugin"

What the hook, descriptions and base classes promise is the plugin contract; `CONTRACT` is its version. A
plugin that relies on one version says so by ``OPTIFRAME_CONTRACT = 1`` in that module; one that says
nothing is taken to keep the first. By ``OPTIFRAME_RENAMED = {"mine.old": "mine.new"}`` it says what to use in
place of a name that it no longer has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pluggy

CONTRACT = 1

hookspec = pluggy.HookspecMarker("optiframe")
hookimpl = pluggy.HookimplMarker("optiframe")


class Description(NamedTuple):
    """A name, the class it stands for, and what that is, in one line.

    Parameters
    ----------
    kind
        "problem", "solver", "data set", "objective", "constraint set" or "part".
    name
        Plain for problems, objectives and constraint sets (``knapsack``), ``family.method`` for
        the others (``knapsack.greedy``).
    path
        Where the class is, imported on use: ``package.module:Class``, or ``.module:Class`` from the
        package of the plugin's own module.
    summary
        One line.
    """

    kind: str
    name: str
    path: str
    summary: str


@hookspec
def optiframe_plugin() -> Iterable[Description]:  # type: ignore[empty-body]  # a specification has no body
    """Everything the plugin has a name for::

    @hookimpl
    def optiframe_plugin():
        return [
            Description("problem", "knapsack", ".knapsack:Knapsack", "Pack the most value"),
            Description("solver", "knapsack.greedy", ".greedy:Greedy", "By value per weight"),
            Description("data set", "knapsack.small", ".data:Small", "Ten items"),
            Description("objective", "poisson", ".poisson:Poisson", "Poisson regression loss"),
            Description("constraint set", "monotone", ".monotone:Monotone", "Non-decreasing vectors"),
            Description("part", "filter.mine", ".filters:Mine", "Leaves out the loudest"),
        ]
    """
