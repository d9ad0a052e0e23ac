"""One template with its inputs: the entry point of the engine, the commands and the API.

Takes a parsed template, its inputs and the known types. Produces, each on demand and once, the
enabled resources, their types, dependencies and analyses; with facts of live resources also their
definitions and the outputs; and all diagnostics that can be known before anything exists.

Invariant: evaluation is pure. It reads no file, clock or network, so the same inputs give the same
definitions. Parts that an earlier version of the template shares are not analysed again.

Tested by tests/language, tests/bad_input and tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    first_of,
    renew_suggestions,
)
from stoker.kernel.freeing import drop
from stoker.kernel.lazy import lazy
from stoker.schema.resource_type import MakesStack, NestingType, ResourceType, can
from stoker.template.definition import CustomCheck, Definition, Facts, Output, TypeRegistry
from stoker.template.document import Template
from stoker.template.evaluate.inputs import Inputs, mean_same_types
from stoker.template.evaluate.loops import written_out
from stoker.template.evaluate.nested_stacks import (
    diagnostic_in,
    found_in_nested,
    found_in_separate,
    nested_in,
    separate_in,
    without_repetitions,
)
from stoker.template.evaluate.outputs import exports_diagnostics, output, output_diagnostics
from stoker.template.evaluate.static_analysis import (
    Attributes,
    Evaluator,
    RecordedReferences,
    StaticAnalysis,
    dependencies_of,
)
from stoker.template.evaluate.type_resolver import TypeResolver
from stoker.template.evaluate.validation import as_template_diagnostics, resource_diagnostics
from stoker.template.functions.registry import functions_of
from stoker.template.functions.scope import ParameterValues, Scope

_FREED_AT_ONCE = 50  # resources of an evaluation that is freed without a helper thread


def moves(evaluation: Evaluation) -> Mapping[str, str]:
    """Return the earlier name of each enabled resource that declares one."""
    bodies = evaluation.resolved.resources
    return {body.name: body.moved_from for body in bodies if body.moved_from is not None}


def imports(evaluation: Evaluation) -> Mapping[str, str]:
    """Return the id of the object to import, for each enabled resource that declares one."""
    bodies = evaluation.resolved.resources
    found = {}
    for name in (body.name for body in bodies if body.import_id):
        definition = evaluation.analyses[name].definition
        if definition is not None and isinstance(definition.import_id, str):
            found[name] = definition.import_id
    return found


class Evaluation:
    """One template with its inputs.

    ``earlier`` is an evaluation for the same stack, or for another stack of the same template.
    """

    def __init__(
        self,
        template: Template,
        inputs: Inputs,
        types: TypeRegistry,
        earlier: Evaluation | None = None,
    ) -> None:
        self.template = template
        self.template, self.resolved = written_out(template, inputs)
        if inputs.facade is None:
            renew_suggestions()
        self.inputs = inputs
        self.known_types = types
        self._earlier = earlier
        self._references = RecordedReferences()
        self._without_type: dict[str, Sequence[Diagnostic]] = {}  # why resources have no type

    def __del__(self) -> None:
        if len(self.template.resources) > _FREED_AT_ONCE or vars(self).get("children"):
            drop(vars(self))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the values of all parameters and pseudo parameters; Unknown for a wrong one."""
        return self.resolved.parameters.values

    @lazy
    def names(self) -> tuple[str, ...]:
        """The names of the enabled resources, in the order of the template."""
        return tuple(body.name for body in self.resolved.resources)

    @lazy
    def type_names(self) -> Mapping[str, str]:
        """The type name of each enabled resource in the template."""
        return {body.name: body.type_name for body in self.resolved.resources}

    moves = lazy(moves)
    imports = lazy(imports)

    @lazy
    def types(self) -> Mapping[str, ResourceType]:
        """The type of each enabled resource, without those of unknown type."""
        found: dict[str, ResourceType] = {}
        for body in self.resolved.resources:
            try:
                found[body.name] = self.resolver.type_of(body)
            except DiagnosticError as error:
                self._without_type[body.name] = error.diagnostics
                self.resolved.note(error, (*body.path, self.template.version.dialect.type))
        return found

    @lazy
    def resolver(self) -> TypeResolver:
        """The resolver of the types of the resources."""
        earlier = self._earlier
        if earlier is not None and mean_same_types(earlier.inputs, self.inputs):
            return earlier.resolver
        return TypeResolver(self.inputs, self.known_types)

    def hooks_of(self, name: str) -> frozenset[str]:
        """Return the hooks of a resource."""
        return self.resolver.hooks.of(name)

    @lazy
    def evaluator(self) -> Evaluator:
        """The evaluator of the resources of this template."""
        restricted = self.resolver.restricted(self.names)
        return Evaluator(self.template, self.scope, self.types, restricted)

    @lazy
    def scope(self) -> Scope:
        """Everything that functions of the template may use; references are unknown."""
        self.inputs.budget.widen(len(self.names))
        return Scope(
            version=self.template.version,
            table=functions_of(self.template.version),
            parameters=ParameterValues(self.parameters),
            facts=self._references,
            conditions=self.resolved,
            resources={name: self.types.get(name) for name in self.names},
            mappings=self.template.mappings,
            files=self.inputs.files,
            facade=self.inputs.facade,
            budget=self.inputs.budget,
            url=self.inputs.url,
            imports=self.inputs.imports,
        )

    @lazy
    def analyses(self) -> Mapping[str, StaticAnalysis]:
        """The static analysis of each enabled resource."""
        evaluator, earlier = self.evaluator, self._earlier
        # Release it. A chain of earlier evaluations would otherwise stay in memory.
        self._earlier = None
        known = {}
        if earlier is not None:
            tell_of_stack = earlier.resolved.condition_parameters.tells_of_stack
            known = evaluator.reusable(
                earlier.evaluator, earlier.analyses, conditions_tell_of_stack=tell_of_stack
            )
        return {
            body.name: known.get(body.name) or evaluator.analyse(body)
            for body in self.resolved.resources
        }

    @lazy
    def dependencies(self) -> Mapping[str, frozenset[str]]:
        """For each enabled resource the enabled resources that it depends on."""
        return dependencies_of(self.analyses)

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Return one resource with the facts known now. Raises :class:`DiagnosticError`.

        A light one takes no more than a millisecond, or raises
        :class:`stoker.template.definition.TooMuchWorkError`.
        """
        analysis, body = self.analyses[name], self.template.resources[name]
        if name not in self.types:
            path = (*body.path, self.template.version.dialect.type)
            found = [diagnostic_in(each, path) for each in self._without_type[name]]
            found += analysis.diagnostics
            raise DiagnosticError(self.template.source.all_located(found))
        return self.evaluator.definition(body, analysis, facts, light=light)

    def outputs(self, facts: Facts) -> list[Output]:
        """Return the outputs; disabled ones are None. Never raises: failed ones have an error."""
        scope = self.scope.with_facts(facts)
        enabled = {body.name for body in self.resolved.outputs}
        return [
            output(body, scope) if body.name in enabled else Output(body.name, None)
            for body in self.template.outputs.values()
        ]

    def custom_checks(self) -> list[CustomCheck]:
        """Return the constraints on parameters and known properties that only a cloud can check."""
        checks = list(self.resolved.parameters.custom_checks)
        for analysis in self.analyses.values():
            checks.extend(analysis.custom_checks)
        return checks

    @lazy
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """For each resource the attributes that other resources and outputs refer to."""
        used: Attributes = {}
        for analysis in self.analyses.values():
            _merge(used, analysis.attributes)
        _ = self._output_diagnostics  # which records what outputs refer to
        _merge(used, self._references.attributes)
        return {name: frozenset(attributes) for name, attributes in used.items()}

    def validate(self) -> Diagnostics:
        """Return all diagnostics known in advance, with positions, errors first."""
        nested = [*_nested_diagnostics(self), *_separate_diagnostics(self)]
        resources = resource_diagnostics(self.template, self.analyses, self.dependencies)
        outputs = self._output_diagnostics
        sections = self.resolved.section_diagnostics()  # Last: by now each used condition is known.
        own = self.template.source.warnings
        warnings = self.inputs.environment.warnings if self.inputs.facade is None else ()
        found = [
            *self.resolved.diagnostics,
            *sections,
            *resources,
            *nested,
            *outputs,
            *own,
            *warnings,
        ]
        return Diagnostics(self.template.source.all_located(first_of(found)))

    @lazy
    def _output_diagnostics(self) -> list[Diagnostic]:
        """Return diagnostics about the outputs; their references are recorded, too."""
        outputs, scope = self.resolved.outputs, self.scope
        found = [diagnostic for body in outputs for diagnostic in output_diagnostics(body, scope)]
        return [*found, *exports_diagnostics(outputs, scope)]

    @lazy
    def children(self) -> Mapping[str, Evaluation]:
        """The nested stacks that are known in advance, by resource."""
        found: dict[str, Evaluation] = {}
        # The first evaluation of each template. The others reuse its analyses.
        alike: dict[int, Evaluation] = {}
        for name, analysis in self.analyses.items():
            if analysis.definition is None or self.inputs.budget.nested < 0:
                continue
            if not isinstance(analysis.definition.type, NestingType):
                continue
            try:
                child = nested_in(
                    analysis.definition, self.inputs, self.resolver, lambda: self.attributes_used
                )
            except DiagnosticError as error:
                self.resolved.note(error, self.template.resources[name].path)
                continue
            if child is not None:
                template = id(child[0])
                found[name] = Evaluation(*child, self.known_types, alike.get(template))
                alike.setdefault(template, found[name])
        return found

    @property
    def missing(self) -> frozenset[str]:
        """Addresses of templates that did not come with the request, including nested ones."""
        _ = self.types
        nested = [child.missing for child in self.children.values()]
        return frozenset(self.resolved.missing).union(*nested)


def in_tree(evaluation: Evaluation) -> Iterator[Evaluation]:
    """Yield an evaluation, and those of all nested stacks that are known in advance."""
    yield evaluation
    for child in evaluation.children.values():
        yield from in_tree(child)


def in_nested(
    evaluation: Evaluation, name: str, found: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Yield diagnostics about the nested stack of a resource, at their causes in the template."""
    type_, template = evaluation.types[name], evaluation.template
    assert isinstance(type_, NestingType)
    path, properties = template.resources[name].path, template.version.dialect.properties
    for each in without_repetitions(type_, found):
        yield found_in_nested(each, type_, path, properties)


def _nested_diagnostics(evaluation: Evaluation) -> Iterator[Diagnostic]:
    """Yield diagnostics about the nested stacks that are known in advance."""
    for name, child in evaluation.children.items():
        yield from in_nested(evaluation, name, child.validate())


def _separate_diagnostics(evaluation: Evaluation) -> list[Diagnostic]:
    """Return diagnostics about the templates of stacks that resources create elsewhere."""
    found: list[Diagnostic] = []
    for name, analysis in evaluation.analyses.items():
        if analysis.definition is None or not can(analysis.definition.type, MakesStack):
            continue
        version = evaluation.template.version
        path = (*evaluation.template.resources[name].path, version.dialect.properties)
        try:
            separate = separate_in(analysis.definition, evaluation.inputs)
            if separate is not None:
                inner = Evaluation(*separate, evaluation.known_types)
                errors = as_template_diagnostics(
                    inner.validate(), inner.template.source.file
                ).errors
                found += (found_in_separate(each, path) for each in errors)
        except DiagnosticError as error:
            found += (found_in_separate(each, path) for each in error.diagnostics)
    return found


def _merge(used: Attributes, more: Attributes) -> None:
    for name, attributes in more.items():
        used.setdefault(name, set()).update(attributes)
