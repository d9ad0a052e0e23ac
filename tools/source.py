"""Python files as what is counted in them: lines, classes, functions, imports.

Everything is read with ``ast``; nothing is imported, so that a broken module is measured as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ("stoker", "localcloud")
BY_NAME = ("import_module", "LazyModule")  # import a module by its name
SOURCES = (ROOT / "src", ROOT / "local-cloud/src")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(node: ast.AST) -> int:
    """How many lines a definition takes, decorators aside."""
    assert isinstance(node, ast.stmt)
    return (node.end_lineno or node.lineno) - node.lineno + 1


def parameters_of(function: Function) -> list[ast.arg]:
    """The parameters of a function, the receiver of a method aside."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    if named and named[0].arg in ("self", "cls"):
        named = named[1:]
    rest = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*named, *arguments.kwonlyargs, *rest]


def methods_of(node: ast.ClassDef) -> list[Function]:
    """The functions in the body of a class."""
    return [entry for entry in node.body if isinstance(entry, Function)]


@dataclass(frozen=True)
class Module:
    """One file."""

    path: Path
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, str(self.path))

    @cached_property
    def lines(self) -> int:
        """Lines of the file."""
        return len(self.text.splitlines())

    @property
    def classes(self) -> Iterator[ast.ClassDef]:
        """Every class, nested ones included."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))

    @property
    def functions(self) -> Iterator[Function]:
        """Every function and method, nested ones included."""
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def imports(self, names: Mapping[str, Module]) -> set[str]:
        """The modules of ours that this one imports, wherever and however it does."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                submodules = {f"{node.module}.{alias.name}" for alias in node.names} & names.keys()
                found |= submodules or {node.module}
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(BY_NAME):
                found |= {ast.literal_eval(a) for a in node.args if isinstance(a, ast.Constant)}
        return {name for name in found if name.partition(".")[0] in OURS}

    def at(self, node: ast.AST) -> str:
        """``file:line`` of a node, as an editor understands it."""
        return f"{self.path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def modules_under(*directories: Path) -> dict[str, Module]:
    """Every Python file under directories that have top-level packages, by module name."""
    found = {}
    for directory in directories:
        for path in sorted(directory.rglob("*.py")):
            parts = path.relative_to(directory).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = Module(path, name, path.read_text(encoding="utf-8"))
    return found
