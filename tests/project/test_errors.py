"""The tree of exceptions in the docstring of stoker.kernel.errors is that of the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from stoker.kernel import errors

SOURCE = Path(errors.__file__).parents[1]
ENTRY = re.compile(r"^    ( *)(\w+Error)\b", re.MULTILINE)


def bases_in_source() -> dict[str, list[str]]:
    """Return the names of the bases of all classes."""
    return {
        node.name: [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def test_the_tree_shows_each_exception_below_its_base() -> None:
    bases, above = bases_in_source(), []
    entries = ENTRY.findall(str(errors.__doc__))
    assert len(entries) > 30
    for indent, name in entries:
        del above[len(indent) // 2 :]
        assert name in bases, f"there is no {name}"
        if above:
            assert bases[name] == above[-1:], name
        above.append(name)


def test_errors_of_requests_are_all_in_the_tree() -> None:
    bases, shown = bases_in_source(), {name for _, name in ENTRY.findall(str(errors.__doc__))}
    children = {name for name, of in bases.items() if "RequestError" in of}
    assert {name for name in children if not name.startswith("_")} <= shown
