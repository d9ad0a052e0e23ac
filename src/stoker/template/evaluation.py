"""One template with its inputs: the entry point of the engine, the commands and the API.

Evaluation is pure. Everything is computed on demand and once: which resources there are, what
they need, and, with the facts of live resources, their definitions and the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Findings, Path
from stoker.schema.resource_type import DependsImplicitly, ResourceType
from stoker.schema.unknown import Unknown, unknown_in
from stoker.template.conditions import NamedConditions
from stoker.template.declarations import declare
from stoker.template.definition import CustomCheck, Definition, Facts, Output, TypeRegistry
from stoker.template.document import NO_CONDITION, OutputBody, ResourceBody, Template, parse
from stoker.template.functions.failure import Failure
from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.functions.scope import Scope
from stoker.template.functions.size import check_size
from stoker.template.inputs import Inputs, pseudo_parameters
from stoker.template.nesting import (
    TypeResolver,
    child_inputs,
    parsed,
    preliminary_nested,
)
from stoker.template.parameter_groups import group_findings
from stoker.template.parameters import Parameter, Resolved, resolve
from stoker.template.survey import Attributes, Reader, RecordedReferences, Survey
from stoker.template.validation import as_template_findings, output_findings, resource_findings


class Evaluation:
    """One template with its inputs."""

    def __init__(self, template: Template, inputs: Inputs, types: TypeRegistry) -> None:
        self.template = template
        self.inputs = inputs
        self.known_types = types
        self.findings = Findings()
        """What was wrong with parameters, types and conditions when they were needed."""

    @cached_property
    def declarations(self) -> Mapping[str, Parameter]:
        """The declared parameters."""
        return declare(self.template.parameters, self.template.version, self.findings)

    @cached_property
    def _resolved(self) -> Resolved:
        environment = self.inputs.environment
        resolved = resolve(
            self.declarations,
            {**environment.parameters, **self.inputs.parameters},
            environment.parameter_defaults,
            pseudo_parameters(self.template.version, self.inputs.identity),
        )
        self.findings.extend(resolved.findings)
        written = self.template.parameters
        for name in written if isinstance(written, Mapping) else ():
            resolved.values.setdefault(name, Unknown(frozenset()))
        return resolved

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The values of all parameters, pseudo parameters included; Unknown where one is wrong."""
        return self._resolved.values

    @cached_property
    def _conditions(self) -> NamedConditions:
        section = self.template.version.dialect.conditions
        return NamedConditions(section, self.template.conditions, self._condition_scope)

    @cached_property
    def _condition_scope(self) -> Scope:
        return Scope(
            version=self.template.version,
            table=condition_functions_of(self.template.version),
            parameters=self.parameters,
            facts=RecordedReferences(),
            conditions=_Later(self),
            mappings=self.template.mappings,
            files=self.inputs.files,
            url=self.inputs.url,
        )

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds. Raises :class:`Failure`."""
        return self._conditions.holds(condition)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The resources that their conditions enable, in the order of the template."""
        return tuple(body.name for body in self._enabled(self.template.resources))

    def _enabled(self, bodies: Mapping[str, Any]) -> list[Any]:
        key = self.template.version.dialect.condition
        enabled = []
        for body in bodies.values():
            try:
                if body.condition is NO_CONDITION or self.holds(body.condition):
                    enabled.append(body)
            except Failure as failure:
                self.findings.extend(failure.inside(*body.path, key).diagnostics)
        return enabled

    @cached_property
    def types(self) -> Mapping[str, ResourceType]:
        """The type of each enabled resource; those whose type is not known are missing."""
        found: dict[str, ResourceType] = {}
        resolver = TypeResolver(self.inputs, self.known_types)
        for name in self.names:
            body = self.template.resources[name]
            try:
                found[name] = resolver.type_of(body)
            except DiagnosticError as error:
                path = (*body.path, self.template.version.dialect.type)
                self.findings.extend(_nested(d, path) for d in error.diagnostics)
        return found

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.template, self._scope, self.types)

    @cached_property
    def _scope(self) -> Scope:
        return Scope(
            version=self.template.version,
            table=functions_of(self.template.version),
            parameters=self.parameters,
            facts=RecordedReferences(),
            conditions=self._conditions,
            resources={name: self.types.get(name) for name in self.names},
            mappings=self.template.mappings,
            files=self.inputs.files,
            facade=self.inputs.facade,
            url=self.inputs.url,
        )

    @cached_property
    def surveys(self) -> Mapping[str, Survey]:
        """The first look at each enabled resource."""
        reader = self._reader
        resources = self.template.resources
        return {name: reader.survey(resources[name]) for name in self.names}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """For each enabled resource the enabled resources that must come first."""
        needs = {name: survey.needs for name, survey in self.surveys.items()}
        implicit = {
            name: survey.definition
            for name, survey in self.surveys.items()
            if survey.definition is not None
            and isinstance(survey.definition.type, DependsImplicitly)
        }
        if implicit:
            self._add_implicit(needs, implicit)
        return needs

    def _add_implicit(
        self, needs: dict[str, frozenset[str]], implicit: Mapping[str, Definition]
    ) -> None:
        everything = {
            name: (survey.definition.type.type_name, survey.definition.properties)
            for name, survey in self.surveys.items()
            if survey.definition is not None
        }
        for name, definition in implicit.items():
            assert isinstance(definition.type, DependsImplicitly)
            others = {other: what for other, what in everything.items() if other != name}
            needs[name] |= definition.type.implicit_needs(definition.properties, others)

    def definition(self, name: str, facts: Facts) -> Definition:
        """One resource with what is known now. Raises :class:`DiagnosticError`."""
        survey = self.surveys[name]
        if not survey.final:
            body: ResourceBody = self.template.resources[name]
            survey = self._reader.definition(body, self._scope.with_facts(facts), survey)
        if survey.definition is None:
            raise DiagnosticError(self.located(survey.diagnostics))
        errors = Findings(survey.diagnostics).errors
        if errors:
            raise DiagnosticError(self.located(errors))
        return survey.definition

    def outputs(self, facts: Facts) -> list[Output]:
        """The outputs; disabled ones are None. Never raises: what cannot be computed says why."""
        scope = self._scope.with_facts(facts)
        enabled = {body.name for body in self.enabled_outputs}
        return [
            _output(body, scope) if body.name in enabled else Output(body.name, None)
            for body in self.template.outputs.values()
        ]

    @cached_property
    def enabled_outputs(self) -> tuple[OutputBody, ...]:
        """The outputs that their conditions enable."""
        return tuple(self._enabled(self.template.outputs))

    def custom_checks(self) -> list[CustomCheck]:
        """The constraints that only a cloud can answer, on parameters and known properties."""
        checks = list(self._resolved.custom_checks)
        for survey in self.surveys.values():
            checks.extend(survey.custom_checks)
        return checks

    @cached_property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """For each resource the attributes that other resources and outputs refer to."""
        used: Attributes = {}
        for survey in self.surveys.values():
            _merge(used, survey.attributes)
        facts = RecordedReferences()
        self.outputs(facts)
        _merge(used, facts.attributes)
        return {name: frozenset(attributes) for name, attributes in used.items()}

    def validate(self) -> Findings:
        """Everything that can be said in advance, with positions; what is wrong comes first."""
        conditions = self._conditions.check()
        children = self.children
        resources = resource_findings(self.template, self.surveys, self.needs)
        outputs = [
            diagnostic
            for body in self.enabled_outputs
            for diagnostic in output_findings(body, self._scope)
        ]
        nested = [
            _nested(diagnostic, self.template.resources[name].path)
            for name, child in children.items()
            for diagnostic in child.validate()
        ]
        groups = group_findings(self.template.parameter_groups, self.declarations)
        found = [*self.findings, *groups, *conditions, *resources, *nested, *outputs]
        return Findings(self.located(found))

    def validate_template(self) -> Findings:
        """What is wrong with the template itself, whatever values it will get."""
        return as_template_findings(self.validate(), self.template.version)

    @cached_property
    def children(self) -> Mapping[str, Evaluation]:
        """The nested stacks that are known in advance, by resource."""
        found: dict[str, Evaluation] = {}
        for name, survey in self.surveys.items():
            if survey.definition is None:
                continue
            try:
                child = self._child(survey.definition)
            except DiagnosticError as error:
                path = self.template.resources[name].path
                self.findings.extend(_nested(d, path) for d in error.diagnostics)
                continue
            if child is not None:
                found[name] = child
        return found

    def _child(self, definition: Definition) -> Evaluation | None:
        own = self.inputs.identity
        nested = preliminary_nested(definition, own)
        if nested is None:
            return None
        if self.inputs.depth >= self.inputs.max_depth:
            message = f"templates are nested deeper than {self.inputs.max_depth} levels"
            raise DiagnosticError([Diagnostic("nested-too-deep", message)])
        if isinstance(nested.template, str):
            template = parsed(nested.template, nested.url)
        else:
            template = parse(nested.template, nested.url)
        identity = replace(own, stack_name=f"{own.stack_name}-{definition.name}", arn=None)
        inputs = child_inputs(self.inputs, definition, nested, identity)
        return Evaluation(template, inputs, self.known_types)

    def located(self, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
        """Findings with their positions in the text of the template."""
        return self.template.source.all_located(diagnostics)


class _Later:
    """The conditions of an evaluation, for conditions that name others."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds."""
        return self._evaluation.holds(condition)


def _merge(used: Attributes, more: Attributes) -> None:
    for name, attributes in more.items():
        used.setdefault(name, set()).update(attributes)


def _output(body: OutputBody, scope: Scope) -> Output:
    description = body.description if isinstance(body.description, str) else ""
    try:
        value = scope.resolve(body.value)
        check_size(value)
    except Failure as failure:
        error = "; ".join(str(diagnostic) for diagnostic in failure.diagnostics)
        return Output(body.name, None, description, error)
    return Output(body.name, None if unknown_in(value) else value, description)


def _nested(diagnostic: Diagnostic, path: Path) -> Diagnostic:
    """A finding about what a resource stands for; without a document of its own it is here."""
    if diagnostic.file is None:
        diagnostic = replace(diagnostic, path=(*path, *diagnostic.path))
    return replace(diagnostic, error_type="StackValidationFailed")
