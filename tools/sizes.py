"""``python tools/sizes.py``: refuses code that outgrows the sizes of this project.

Prints ``file:line: what is too large`` for each violation; the exit code is 1 when there is one.
Complexity, docstrings and imports inside functions are checked by ruff (C901, D1, PLC0415).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.source import SOURCES, Module, lines_of, methods_of, modules_under, parameters_of

MODULE_LINES = 500
MODULE_IMPORTS = 15
LANGUAGE = ("stoker.kernel.values", "stoker.kernel.lazy")
"""Not counted: these modules only wrap the standard library."""
CLASS_LINES = 250
CLASS_METHODS = 20
FUNCTION_LINES = 60
FUNCTION_PARAMETERS = 8
INHERITANCE = 2
"""How deep the bases of a resource type may go."""


def violations(modules: Mapping[str, Module]) -> Iterator[str]:
    """Every violation in these modules, as a line of text."""
    for module in modules.values():
        yield from _module(module, modules)
        yield from _classes(module)
        yield from _functions(module)
    yield from _inheritance(modules)
    yield from _cycle(modules)


def _module(module: Module, modules: Mapping[str, Module]) -> Iterator[str]:
    where = module.at(module.tree)
    if module.lines > MODULE_LINES:
        yield f"{where}: the module has {module.lines} lines, at most {MODULE_LINES} may be"
    imports = len([name for name in module.imports(modules) if name not in LANGUAGE])
    # the wiring knows every part: that is its purpose
    if imports > MODULE_IMPORTS and module.name != "stoker.server.app":
        yield f"{where}: it imports {imports} modules of ours, at most {MODULE_IMPORTS} may be"


def _classes(module: Module) -> Iterator[str]:
    for node in module.classes:
        where = f"{module.at(node)}: class {node.name}"
        lines, methods = lines_of(node), len(methods_of(node))
        if lines > CLASS_LINES:
            yield f"{where} has {lines} lines, at most {CLASS_LINES} may be"
        if methods > CLASS_METHODS:
            yield f"{where} has {methods} methods, at most {CLASS_METHODS} may be"


def _functions(module: Module) -> Iterator[str]:
    for node in module.functions:
        where = f"{module.at(node)}: {node.name}"
        lines, parameters = lines_of(node), len(parameters_of(node))
        if lines > FUNCTION_LINES:
            yield f"{where} has {lines} lines, at most {FUNCTION_LINES} may be"
        if parameters > FUNCTION_PARAMETERS:
            yield f"{where} has {parameters} parameters, at most {FUNCTION_PARAMETERS} may be"


def _inheritance(modules: Mapping[str, Module]) -> Iterator[str]:
    types = {name: module for name, module in modules.items() if ".resources." in f"{name}."}
    bases = {
        node.name: [base for base in map(_name, node.bases) if base]
        for module in types.values()
        for node in module.classes
    }
    for module in types.values():
        for node in module.classes:
            depth = depth_of(node.name, bases)
            if depth > INHERITANCE:
                where = f"{module.at(node)}: class {node.name}"
                yield f"{where} inherits {depth} deep, at most {INHERITANCE} may be"


def _cycle(modules: Mapping[str, Module]) -> Iterator[str]:
    """A cycle of imports, those by name included, which import-linter does not see."""
    imports = {name: module.imports(modules) & modules.keys() for name, module in modules.items()}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        yield f"import cycle: {' <- '.join(error.args[1])}"


def depth_of(name: str, bases: Mapping[str, list[str]]) -> int:
    """How many classes of ours are above a class."""
    above = [base for base in bases.get(name, ()) if base != name]
    return max((1 + depth_of(base, bases) for base in above if base in bases), default=0)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def main() -> int:
    """Check the sources of the project; the exit code."""
    found = list(violations(modules_under(*SOURCES)))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
