"""The table of deliberate faults fits the tree: it is run seldom, and the code changes daily."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

from tests.mutants.table import ROOT, SIMULATION, Mutant, table
from tests.simulation.__main__ import parser

LEAST = 60
TABLE = table()


@functools.cache
def functions(path: Path) -> frozenset[str]:
    """Return the functions of a file of tests, in classes or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(found)


def test_mutant_names_are_unique_and_numerous() -> None:
    assert len({mutant.name for mutant in TABLE}) == len(TABLE) >= LEAST


@pytest.mark.parametrize("mutant", TABLE, ids=lambda mutant: mutant.name)
def test_mutant_applies_and_its_checks_exist(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    ast.parse(mutant.applied(source))
    assert mutant.checks
    for check in mutant.checks:
        if check.startswith(SIMULATION):
            parser().parse_args(check.removeprefix(SIMULATION).split())
            continue
        for test in check.split():
            file, _, name = test.partition("::")
            assert (ROOT / file).exists(), test
            if name:
                assert name.partition("::")[0].partition("[")[0] in functions(ROOT / file), test
