"""The conditions and branches that tests have evaluated, by template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic, Path, format_path
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.functions.failure import FunctionError, UnknownValueError
from stoker.template.source.source import read

_IF = ("if", "Fn::If")


class Branch(Struct, frozen=True):
    """One of both outcomes of a condition, or of an ``if``."""

    path: Path
    holds: bool

    @property
    def name(self) -> str:
        """Return the branch in words."""
        outcome = "true" if self.holds else "false"
        if len(self.path) == 2:
            return f"condition {self.path[1]} is never {outcome}"
        return f"{format_path(self.path)} is never {outcome}"


@dataclass
class TemplateCoverage:
    """The branches of one template, and those that tests have evaluated."""

    file: str
    text: str
    branches: set[Branch]
    covered: set[Branch] = field(default_factory=set)

    @property
    def missing(self) -> list[tuple[int, Branch]]:
        """Return the branches that no test has evaluated, with their lines."""
        source = read(self.text)
        left = sorted(self.branches - self.covered, key=lambda each: (str(each.path), each.holds))
        placed = source.all_located([Diagnostic("", "", branch.path) for branch in left])
        lines = [each.position.line if each.position else 0 for each in placed]
        return sorted(zip(lines, left, strict=True), key=lambda each: each[0])


class Coverage:
    """Collects the evaluated branches of all templates of a run."""

    def __init__(self) -> None:
        self.templates: dict[str, TemplateCoverage] = {}

    @property
    def percent(self) -> float:
        """Return the share of the evaluated branches; 100 if there are none."""
        total = sum(len(each.branches) for each in self.templates.values())
        covered = sum(len(each.covered) for each in self.templates.values())
        return 100.0 * covered / total if total else 100.0

    def add(self, evaluations: Iterable[Evaluation], texts: Mapping[str, str]) -> None:
        """Add the branches that evaluations have used. ``texts`` are the user's files by name."""
        files = {text: file for file, text in texts.items()}
        for evaluation in evaluations:
            text = evaluation.template.source.text
            file = files.get(text) if text is not None else None
            if text is not None and file is not None:
                self._add(evaluation, file, text)

    def _add(self, evaluation: Evaluation, file: str, text: str) -> None:
        known = self.templates.get(file)
        if known is None:
            branches = {
                Branch(path, holds) for path, _ in _uses(evaluation) for holds in (True, False)
            }
            known = self.templates[file] = TemplateCoverage(file, text, branches)
        for path, condition in _uses(evaluation):
            if not _is_enabled(evaluation, path):
                continue
            try:
                holds = evaluation.resolved.conditions.holds(condition)
            except (FunctionError, UnknownValueError):
                continue
            known.covered.add(Branch(path, holds))


def _is_enabled(evaluation: Evaluation, path: Path) -> bool:
    """Return whether the resource around a path is part of the stack."""
    if path[0] != evaluation.template.version.dialect.resources:
        return True
    return path[1] in evaluation.names


def _uses(evaluation: Evaluation) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the condition of each condition and each ``if``."""
    template = evaluation.template
    dialect = template.version.dialect
    for name in template.conditions:
        yield (dialect.conditions, name), name
    for section in (dialect.resources, dialect.outputs):
        yield from _ifs(template.source.data.get(section), (section,))


def _ifs(data: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            if len(data) == 1 and key in _IF and isinstance(value, list) and len(value) in (2, 3):
                yield (*path, key), value[0]
            yield from _ifs(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _ifs(value, (*path, index))
