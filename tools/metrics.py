"""``python tools/metrics.py``: figures of this code as a table, beside Heat's.

Heat's figures are those of release 27.0.1, counted in the same way.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.prose import Survey
from tools.source import (
    ROOT,
    SOURCES,
    Function,
    Module,
    lines_of,
    methods_of,
    modules_under,
    parameters_of,
)

SERVER = "stoker.resources.nova.server.server"


def largest(entries: Iterable[tuple[int, str]], unit: str) -> str:
    """The largest of many figures, and what it is of."""
    figure, name = max(entries)
    return f"{figure:,} {unit} ({name})"


def annotated(modules: Iterable[Module]) -> str:
    """Share of parameters and results that have an annotation."""
    functions = [function for module in modules for function in module.functions]
    wanted = sum(len(parameters_of(function)) + 1 for function in functions)
    given = sum(
        sum(argument.annotation is not None for argument in parameters_of(function))
        + (function.returns is not None)
        for function in functions
    )
    return f"{100 * given / wanted:.1f} %"


def cycle(modules: Mapping[str, Module]) -> str:
    """The largest set of modules that import each other, imports inside functions included."""
    targets = {name: module.imports(modules) & modules.keys() for name, module in modules.items()}
    components = strongly_connected(targets)
    size = max(map(len, components))
    return "none" if size == 1 else f"{size} modules"


def strongly_connected(targets: Mapping[str, set[str]]) -> list[set[str]]:
    """The sets of nodes that reach each other."""
    reached = {name: set(_reach(name, targets)) for name in targets}
    return [{b for b in reached[a] if a in reached[b]} | {a} for a in targets]


def _reach(start: str, targets: Mapping[str, set[str]]) -> Iterator[str]:
    seen: set[str] = set()
    frontier = [start]
    while frontier:
        for name in targets[frontier.pop()] - seen:
            seen.add(name)
            frontier.append(name)
            yield name


def server(modules: Mapping[str, Module]) -> str:
    """Methods and lines of the class of a server and of all classes above it."""
    classes = {node.name: (module, node) for module in modules.values() for node in module.classes}
    frontier = [node.name for node in modules[SERVER].classes if _is_type(node)]
    seen: dict[str, ast.ClassDef] = {}
    while frontier:
        name = frontier.pop()
        if name in classes and name not in seen:
            seen[name] = classes[name][1]
            frontier += [ast.unparse(base).partition("[")[0] for base in seen[name].bases]
    methods = sum(len(methods_of(node)) for node in seen.values())
    lines = sum(lines_of(node) for node in seen.values())
    return f"{methods} methods, {lines:,} lines"


def _is_type(node: ast.ClassDef) -> bool:
    return any(
        isinstance(entry, ast.Assign) and ast.unparse(entry.targets[0]) == "type_name"
        for entry in node.body
    )


def patches_per_test(modules: Iterable[Module]) -> tuple[str, int]:
    """Patches by test, and how many tests there are (a parametrized one is one)."""
    tests = patches = 0
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, Function) and node.name.startswith("test_"):
                tests += 1
            elif isinstance(node, ast.Call):
                patches += _is_patch(node.func)
            elif isinstance(node, ast.Attribute | ast.Name):
                patches += ast.unparse(node) == "mock.patch"
    return f"{patches / tests:.2f}", tests


def _is_patch(called: ast.expr) -> bool:
    """A call that replaces something inside of what is tested; an environment variable is not."""
    return ast.unparse(called) in ("monkeypatch.setattr", "monkeypatch.delattr", "patch")


ClassName = tuple[str, str]  # module and class


class Classes:
    """All classes, with the members that they have or inherit."""

    def __init__(self, modules: Iterable[Module]) -> None:
        modules = list(modules)
        self.nodes: dict[ClassName, ast.ClassDef] = {
            (module.name, node.name): node for module in modules for node in module.classes
        }
        self._imported = {module.name: dict(_imported(module)) for module in modules}

    def members(self, name: ClassName) -> set[str]:
        """Return the names of methods and attributes of a class."""
        node = self.nodes[name]
        found = {method.name for method in methods_of(node)}
        for entry in node.body:
            if isinstance(entry, ast.Assign):
                found |= {target.id for target in entry.targets if isinstance(target, ast.Name)}
        for part in ast.walk(node):
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                found.add(part.target.id)
            elif isinstance(part, ast.Attribute) and _is_self(part.value):
                found.add(part.attr)
        for base in node.bases:
            parent = self._named(name[0], ast.unparse(base).partition("[")[0])
            if parent in self.nodes and parent != name:
                found |= self.members(parent)
        return found

    def _named(self, module: str, name: str) -> ClassName:
        """Return the class of a name in a module, which may import it, also through others."""
        while (module, name) not in self.nodes and name in self._imported.get(module, {}):
            module, name = self._imported[module][name]
        return module, name


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _imported(module: Module) -> Iterator[tuple[str, ClassName]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def protocols(modules: Iterable[Module]) -> str:
    """Protocols, and those whose methods a single class of the sources has.

    A class implements a Protocol if it, or a class above it, has a member for each of the
    Protocol's. Other Protocols do not count as implementations, nor do doubles in tests.
    """
    classes = Classes(modules)
    members = {name: classes.members(name) for name in classes.nodes}
    ours = {name for name, node in classes.nodes.items() if _is_protocol(node)}
    asked = {name: {m for m in members[name] if not m.startswith("__")} for name in ours}
    single = sum(
        sum(asked[name] <= members[other] for other in members.keys() - ours) == 1
        for name in ours
        if asked[name]
    )
    return f"{len(ours)}; {single}"


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).partition("[")[0] == "Protocol" for base in node.bases)


def rows() -> Iterator[tuple[str, str, str]]:
    """Figure, ours, Heat's."""
    modules = modules_under(*SOURCES)
    tests = modules_under(ROOT / "tests", ROOT / "local-cloud/tests")
    every = modules.values()
    yield (
        "largest module",
        largest(((m.lines, m.name) for m in every), "lines"),
        "2,674 lines",
    )
    yield (
        "largest class",
        largest(((len(methods_of(c)), c.name) for m in every for c in m.classes), "methods"),
        "144 methods",
    )
    yield "server resource with its ancestors", server(modules), "265 methods, 5,609 lines"
    parts = [module for module in every if module.name.startswith(SERVER)]
    functions = sum(1 for module in parts for _ in module.functions)
    yield (
        "all files of the server resource",
        f"{functions} functions, {sum(module.lines for module in parts):,} lines",
        "",
    )
    yield (
        "most parameters of a function",
        largest(
            ((len(parameters_of(f)), f.name) for m in every for f in m.functions), "parameters"
        ),
        "30 (a constructor)",
    )
    yield (
        "longest function",
        largest(
            ((lines_of(f), f"{m.name}: {f.name}") for m in every for f in m.functions), "lines"
        ),
        "",
    )
    yield "import cycle, hidden ones included", cycle(modules), "45 modules"
    yield "annotated", annotated(every), "0 %"
    patches, count = patches_per_test(tests.values())
    yield "patches per test", patches, "0.50"
    survey = Survey()
    for source, name in zip(SOURCES, ("service", "local cloud"), strict=True):
        yield from prose(survey, source.relative_to(ROOT).as_posix(), name)
    # A process of its own: the trace imports the service and its tests.
    trace = [sys.executable, "-m", "tests.path_trace"]
    traced = subprocess.run(trace, cwd=ROOT, check=True, capture_output=True, text=True)
    create, commits = traced.stdout.splitlines()
    yield "create of one resource enters", create, ""
    yield "each of its commits", commits, ""
    yield "Protocols; with one implementation", protocols(every), ""
    yield "modules; lines", f"{len(modules):,}; {sum(m.lines for m in every):,}", ""
    yield "test functions", f"{count:,}", ""


def prose(survey: Survey, folder: str, name: str) -> Iterator[tuple[str, str, str]]:
    """Figures of the language in a folder."""
    total = Counter[str]()
    for file, figures in survey.figures.items():
        if file.startswith(f"{folder}/"):
            total.update(figures)
    whats = 1000 * total["whats"] / total["words"]
    openings = 100 * total["openings"] / total["docstrings"]
    comments = 1000 * total["comments"] / total["lines"]
    yield f'"what" per 1,000 words of docstrings, {name}', f"{whats:.1f}", ""
    yield f"docstrings that start with What, How, Who ..., {name}", f"{openings:.0f} %", ""
    yield f"comments per 1,000 lines, {name}", f"{comments:.1f}", ""


def main() -> None:
    """Print the table."""
    lines = [("", "Stoker", "Heat 27.0.1"), *rows()]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    main()
