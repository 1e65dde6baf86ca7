"""The hooks a plugin may implement, and the light descriptions they return.

A plugin is a module named by an entry point of the group ``optiframe``. It imports this
module only, so that listing every name costs no heavy import::

    # my_plugin/__init__.py
    from optiframe.hookspec import Description, hookimpl

    @hookimpl
    def optiframe_solvers():
        return [Description("mine.newton", "my_plugin.newton:Newton", "Newton with backtracking")]

    # pyproject.toml
    [project.entry-points.optiframe]
    my-plugin = "my_plugin"

What hooks, descriptions and base classes promise is the plugin contract; `CONTRACT` is its version. A
plugin that relies on one version says so by ``OPTIFRAME_CONTRACT = 1`` in that module; one that says
nothing is taken to keep the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pluggy

CONTRACT = 1

hookspec = pluggy.HookspecMarker("optiframe")
hookimpl = pluggy.HookimplMarker("optiframe")


class Description(NamedTuple):
    """A name, where its class is (``module:Class``, imported on use) and what it is, in one line."""

    name: str
    path: str
    summary: str


@hookspec
def optiframe_problems() -> Iterable[Description]:  # type: ignore[empty-body]  # a specification has no body
    """Problem classes, by plain names::

    @hookimpl
    def optiframe_problems():
        return [Description("knapsack", "my_plugin.knapsack:Knapsack", "Pack the most value")]
    """


@hookspec
def optiframe_solvers() -> Iterable[Description]:  # type: ignore[empty-body]  # as above
    """Solver classes, named ``family.method``::

    @hookimpl
    def optiframe_solvers():
        return [Description("knapsack.greedy", "my_plugin.greedy:Greedy", "By value per weight")]
    """


@hookspec
def optiframe_datasets() -> Iterable[Description]:  # type: ignore[empty-body]  # as above
    """Data set classes, named ``family.name``::

    @hookimpl
    def optiframe_datasets():
        return [Description("knapsack.small", "my_plugin.data:Small", "Ten items")]
    """


@hookspec
def optiframe_objectives() -> Iterable[Description]:  # type: ignore[empty-body]  # as above
    """Objective classes, by plain names::

    @hookimpl
    def optiframe_objectives():
        return [Description("poisson", "my_plugin.poisson:Poisson", "Poisson regression loss")]
    """


@hookspec
def optiframe_constraint_sets() -> Iterable[Description]:  # type: ignore[empty-body]  # as above
    """Constraint set classes, by plain names::

    @hookimpl
    def optiframe_constraint_sets():
        return [Description("monotone", "my_plugin.monotone:Monotone", "Non-decreasing vectors")]
    """


@hookspec
def optiframe_parts() -> Iterable[Description]:  # type: ignore[empty-body]  # as above
    """Classes of exchangeable pieces of methods, named ``family.piece``; see `optiframe.registry.by_name`::

    @hookimpl
    def optiframe_parts():
        return [Description("filter.mine", "my_plugin.filters:Mine", "Leaves out the loudest")]
    """
