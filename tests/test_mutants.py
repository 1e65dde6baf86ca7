"""The mutation testing of `make mutants`: its table is up to date, and its mutants are Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .mutants import TESTS, Source

ROOT = Path(__file__).parent.parent
TEXT = b'''
"""A text that nobody changes."""

def least(values: list[float], strict: bool = True) -> float | None:
    """Nor this one."""
    if not values and strict:
        raise ValueError(f"no {len(values) - 1} values")
    return min(values) + 1 if len(values) > 2 else None
'''


@pytest.mark.parametrize("module", TESTS)
def test_the_module_and_its_tests_are_there(module: str) -> None:
    for path in (module, *TESTS[module].split()):
        assert (ROOT / path).is_file(), path


def test_mutants_change_behaviour_and_neither_texts_nor_types() -> None:
    mutants, possible = Source(TEXT).sample(100, seed=0)
    changes = {(mutant.old, mutant.new) for mutant in mutants}
    assert len(mutants) == possible
    assert {
        ("not values and strict", "((not values) or (strict))"),
        ("not values", "(values)"),
        ("True", "False"),
        ("min(values)", "max(values)"),
        ("1", "(2)"),
        ("len(values) > 2", "(len(values) >= 2)"),
    } <= changes
    assert not {old for old, _ in changes} & {"float", "len(values) - 1", "list[float]"}
    for mutant in mutants:
        assert ast.unparse(ast.parse(Source(TEXT).mutated(mutant))) != ast.unparse(ast.parse(TEXT))


def test_the_sample_follows_a_line_that_moves() -> None:
    here, there = Source(TEXT).sample(5, seed=0)[0], Source(b"x = y\n" + TEXT).sample(5, seed=0)[0]
    assert [(m.old, m.new) for m in here] == [(m.old, m.new) for m in there]
    assert [m.line + 1 for m in here] == [m.line for m in there]
