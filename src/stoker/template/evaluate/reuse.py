"""Finds the analyses of an earlier evaluation that stay valid.

Takes two evaluators: of the template as it is now, and of an earlier version or another stack.
Returns the analyses that an evaluation from scratch would compute again with the same result. An
analysis depends on the text of its resource and on the types of the resources that it refers to. It
also depends on the parameters, files and conditions that its functions have read. Everything else
that functions can read is compared as a whole. An analysis that has read the time, or chance, is
made again.

Invariant: an analysis is reused only if all of that is unchanged.
:class:`stoker.template.evaluate.evaluation.Evaluation` calls it. Tested by
 tests/language/test_incremental_evaluation.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.kernel.json.tree import same
from stoker.template.document import ResourceBody
from stoker.template.evaluate.static_analysis import Evaluator, StaticAnalysis
from stoker.template.functions.budget import Budget, Cost
from stoker.template.functions.scope import OF_STACK, Facade, ParameterValues
from stoker.template.source.source import find_file

_ABSENT = object()


def reusable_analyses(
    now: Evaluator,
    before: Evaluator,
    analyses: Mapping[str, StaticAnalysis],
    condition_parameters: ParameterValues,
) -> dict[str, StaticAnalysis]:
    """Return the analyses of ``before`` that are valid for ``now``, by resource.

    ``condition_parameters`` are those of ``before``, with the names that its conditions have read.
    """
    if not _has_same_surroundings(now, before):
        return {}
    changes = _Changes.between(now, before, condition_parameters)
    found = {name: analysis for name, analysis in analyses.items() if changes.spare(name, analysis)}
    if _are_of_one_stack(now.scope.parameters, before.scope.parameters):
        return found
    if not OF_STACK.isdisjoint(condition_parameters.reads.parameters):
        return {}
    return {
        name: analysis.elsewhere
        for name, analysis in found.items()
        if OF_STACK.isdisjoint(analysis.parameters)
    }


class Work:
    """The work for one evaluation. Its ``cost`` counts again where the results are reused."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._before: list[Cost] = []
        self.cost = Cost()

    def __enter__(self) -> None:
        self._before.append(self._budget.left)

    def __exit__(self, *_: object) -> None:
        self.cost = self.cost.with_more(self._budget.used_since(self._before.pop()))


class _Changes(Struct, frozen=True):
    """The differences between two evaluations with the same surroundings."""

    now: Evaluator
    before: Evaluator
    # Resources with another type; also those that are enabled in only one of both.
    types: frozenset[str]
    # Names that ``depends_on`` finds in only one of both.
    names: frozenset[str]
    parameters: frozenset[str]
    files: bool
    conditions: bool
    written: Mapping[str, Any]  # the resources of the template, and those of the earlier one
    formerly_written: Mapping[str, Any]

    @classmethod
    def between(
        cls, now: Evaluator, before: Evaluator, condition_parameters: ParameterValues
    ) -> _Changes:
        types, earlier = now.scope.resources, before.scope.resources
        section = now.template.version.dialect.resources
        written = now.template.resources.keys()
        parameters = _changed(now.scope.parameters, before.scope.parameters)
        return cls(
            now,
            before,
            frozenset(
                name
                for name in (*types, *(earlier.keys() - types.keys()))
                if types.get(name, _ABSENT) is not earlier.get(name, _ABSENT)
            ),
            frozenset(types.keys() - earlier.keys()) | (before.template.resources.keys() - written),
            parameters,
            now.scope.files != before.scope.files,
            condition_parameters.reads.may_change
            or not condition_parameters.reads.parameters.isdisjoint(parameters),
            now.template.data.get(section) or {},
            before.template.data.get(section) or {},
        )

    def spare(self, name: str, analysis: StaticAnalysis) -> bool:
        """Return whether nothing that an analysis depends on has changed."""
        return (
            not analysis.diagnostics
            and not analysis.may_change
            and name not in self.types
            and name in self.now.scope.resources
            and self.types.isdisjoint(analysis.dependencies)
            and self.parameters.isdisjoint(analysis.parameters)
            and not (self.conditions and analysis.has_conditions)
            and (body := self.now.template.resources.get(name)) is not None
            and self._spare_text(body)
            and not (self.names and self._touch_dependencies(body))
            and not (self.files and self._touch_files(analysis))
            and self.now.restricted.get(name) == self.before.restricted.get(name)
        )

    def _spare_text(self, body: ResourceBody) -> bool:
        if body is self.before.template.resources.get(body.name):
            return True
        return same(self.written.get(body.name), self.formerly_written.get(body.name))

    def _touch_dependencies(self, body: ResourceBody) -> bool:
        """Return whether ``depends_on`` names a resource that is new, or one that is gone."""
        names = [body.depends_on] if isinstance(body.depends_on, str) else body.depends_on
        return any(isinstance(name, str) and name in self.names for name in names)

    def _touch_files(self, analysis: StaticAnalysis) -> bool:
        """Return whether a file that functions have read is another one now."""
        files, earlier = self.now.scope.files, self.before.scope.files
        return any(
            find_file(name, files, self.now.scope.url) != full_name
            or files[full_name] != earlier.get(full_name)
            for name, full_name in analysis.files.items()
        )


def _has_same_surroundings(now: Evaluator, before: Evaluator) -> bool:
    """Return whether everything is the same that functions read without a record of it."""
    scope, other = now.scope, before.scope
    return (
        scope.version == other.version
        and scope.url == other.url
        and same(now.template.conditions, before.template.conditions)
        and same(scope.mappings, other.mappings)
        and same(_parts_of(scope.facade), _parts_of(other.facade))
        and same(scope.imports.values, other.imports.values)
    )


def _parts_of(facade: Facade | None) -> list[Any]:
    return [] if facade is None else [facade.metadata, facade.deletion_policy, facade.update_policy]


def _changed(values: ParameterValues, others: ParameterValues) -> frozenset[str]:
    """Return the parameters that have other values, or exist only here or there."""
    now, before = values.values, others.values
    return frozenset(
        name
        for name in now.keys() | before.keys()
        if name not in OF_STACK and not same(now.get(name, _ABSENT), before.get(name, _ABSENT))
    )


def _are_of_one_stack(values: ParameterValues, others: ParameterValues) -> bool:
    return all(values.values.get(name) == others.values.get(name) for name in OF_STACK)
