"""One template with its inputs: the entry point of the engine, the commands and the API.

Evaluation is pure. Everything is computed on demand and once: which resources there are, what
they need, and, with the facts of live resources, their definitions and the outputs. What an
earlier version of the template has in common with this one is taken over from its evaluation,
where that makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Findings, Path, first_of
from stoker.schema.neighbours import Neighbours
from stoker.schema.resource_type import DependsImplicitly, Nests, ResourceType, can
from stoker.template.definition import CustomCheck, Definition, Facts, Output, TypeRegistry
from stoker.template.document import OutputBody, Template, parse
from stoker.template.functions.registry import functions_of
from stoker.template.functions.scope import Scope
from stoker.template.inputs import Inputs
from stoker.template.nesting import (
    TemplateType,
    TypeResolver,
    child_inputs,
    preliminary_nested,
    without_repetitions,
)
from stoker.template.outputs import output, output_findings
from stoker.template.parameters import Parameter
from stoker.template.parsed import parsed
from stoker.template.reuse import Evaluated, Question, answered, noting_all, same
from stoker.template.settled import Settled
from stoker.template.survey import Attributes, Reader, RecordedReferences, Survey
from stoker.template.validation import as_template_findings, resource_findings


class Evaluation:
    """One template with its inputs. ``earlier`` is an evaluation for the same stack."""

    def __init__(
        self,
        template: Template,
        inputs: Inputs,
        types: TypeRegistry,
        earlier: Evaluation | None = None,
    ) -> None:
        self.template = template
        self.inputs = inputs
        self.known_types = types
        self._earlier = earlier
        self._settled = Settled(template, inputs)
        self._references = RecordedReferences()

    @property
    def declarations(self) -> Mapping[str, Parameter]:
        """The declared parameters."""
        return self._settled.declarations

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The values of all parameters, pseudo parameters included; Unknown where one is wrong."""
        return self._settled.resolved.values

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The resources that their conditions enable, in the order of the template."""
        return tuple(body.name for body in self._settled.resources)

    @property
    def enabled_outputs(self) -> tuple[OutputBody, ...]:
        """The outputs that their conditions enable."""
        return self._settled.outputs

    @cached_property
    def types(self) -> Mapping[str, ResourceType]:
        """The type of each enabled resource; those whose type is not known are missing."""
        found: dict[str, ResourceType] = {}
        for body in self._settled.resources:
            try:
                found[body.name] = self.resolver.type_of(body)
            except DiagnosticError as error:
                path = (*body.path, self.template.version.dialect.type)
                self._settled.findings.extend(_nested(d, path) for d in error.diagnostics)
        return found

    @cached_property
    def resolver(self) -> TypeResolver:
        """What finds the types of the resources."""
        earlier = self._earlier
        if earlier is not None and _mean_same_types(earlier.inputs, self.inputs):
            return earlier.resolver
        return TypeResolver(self.inputs, self.known_types)

    @cached_property
    def reader(self) -> Reader:
        """What reads the resources of this template."""
        restricted = self.resolver.restricted(self.names)
        return Reader(self.template, self._scope, self.types, restricted)

    @cached_property
    def _scope(self) -> Scope:
        self.inputs.allowance.widen(len(self.names))
        return Scope(
            version=self.template.version,
            table=functions_of(self.template.version),
            parameters=self.parameters,
            facts=self._references,
            conditions=self._settled,
            resources={name: self.types.get(name) for name in self.names},
            mappings=self.template.mappings,
            files=self.inputs.files,
            facade=self.inputs.facade,
            allowance=self.inputs.allowance,
            url=self.inputs.url,
        )

    @cached_property
    def surveys(self) -> Mapping[str, Survey]:
        """The first look at each enabled resource."""
        reader, earlier = self.reader, self._earlier
        self._earlier = None  # it must not live as long as this one
        known = {} if earlier is None else reader.taken_over(earlier.reader, earlier.surveys)
        return {
            body.name: known.get(body.name) or reader.survey(body)
            for body in self._settled.resources
        }

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """For each enabled resource the enabled resources that must come first."""
        return _needs(self.surveys)

    def definition(self, name: str, facts: Facts) -> Definition:
        """One resource with what is known now. Raises :class:`DiagnosticError`."""
        survey = self.surveys[name]
        if survey.final:
            return _checked(survey, self.template)
        latest = survey.latest
        if latest is not None and answered(latest.questions, self._scope, facts):
            return latest.definition
        questions: list[Question] = []
        scope = noting_all(self._scope, facts, questions)
        body = self.template.resources[name]
        definition = _checked(self.reader.definition(body, scope, survey), self.template)
        survey.latest = Evaluated(definition, questions)
        return definition

    def outputs(self, facts: Facts) -> list[Output]:
        """The outputs; disabled ones are None. Never raises: what cannot be computed says why."""
        scope = self._scope.with_facts(facts)
        enabled = {body.name for body in self.enabled_outputs}
        return [
            output(body, scope) if body.name in enabled else Output(body.name, None)
            for body in self.template.outputs.values()
        ]

    def custom_checks(self) -> list[CustomCheck]:
        """The constraints that only a cloud can answer, on parameters and known properties."""
        checks = list(self._settled.resolved.custom_checks)
        for survey in self.surveys.values():
            checks.extend(survey.custom_checks)
        return checks

    @cached_property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """For each resource the attributes that other resources and outputs refer to."""
        used: Attributes = {}
        for survey in self.surveys.values():
            _merge(used, survey.attributes)
        _ = self._output_findings  # which records what outputs refer to
        _merge(used, self._references.attributes)
        return {name: frozenset(attributes) for name, attributes in used.items()}

    def settle(self) -> None:
        """Compute what cannot be computed by two threads at once: the conditions."""
        self._settled.section_findings()

    def validate(self) -> Findings:
        """Everything that can be said in advance, with positions; what is wrong comes first."""
        sections = self._settled.section_findings()
        nested = [
            _nested(diagnostic, self.template.resources[name].path)
            for name, child in self.children.items()
            for diagnostic in without_repetitions(self.types[name], child.validate())
        ]
        resources = resource_findings(self.template, self.surveys, self.needs)
        outputs = self._output_findings
        found = [*self._settled.findings, *sections, *resources, *nested, *outputs]
        return Findings(self.located(first_of(found)))

    @cached_property
    def _output_findings(self) -> list[Diagnostic]:
        """What is wrong with the outputs; the look also records what they refer to."""
        return [
            diagnostic
            for body in self.enabled_outputs
            for diagnostic in output_findings(body, self._scope)
        ]

    def validate_template(self) -> Findings:
        """What is wrong with the template itself, whatever values it will get."""
        return as_template_findings(self.validate())

    @cached_property
    def children(self) -> Mapping[str, Evaluation]:
        """The nested stacks that are known in advance, by resource."""
        found: dict[str, Evaluation] = {}
        for name, survey in self.surveys.items():
            if survey.definition is None or self.inputs.allowance.nested < 0:
                continue
            if not can(survey.definition.type, Nests):
                continue
            try:
                child = _child(self, survey.definition)
            except DiagnosticError as error:
                path = self.template.resources[name].path
                self._settled.findings.extend(_nested(d, path) for d in error.diagnostics)
                continue
            if child is not None:
                found[name] = child
        return found

    def located(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Findings with their positions in the text of the template."""
        return self.template.source.all_located(diagnostics)


def _checked(survey: Survey, template: Template) -> Definition:
    """The definition, if there is nothing against it. Raises :class:`DiagnosticError`."""
    if survey.definition is None:
        raise DiagnosticError(template.source.all_located(survey.diagnostics))
    errors = Findings(survey.diagnostics).errors
    if errors:
        raise DiagnosticError(template.source.all_located(errors))
    return survey.definition


def _child(parent: Evaluation, definition: Definition) -> Evaluation | None:
    """The evaluation of the nested stack of a resource, if it has one that is known."""
    own = parent.inputs.identity
    nested = preliminary_nested(definition, own, lambda: parent.attributes_used)
    if nested is None:
        return None
    if parent.inputs.depth >= parent.inputs.max_depth:
        message = f"templates are nested deeper than {parent.inputs.max_depth} levels"
        raise DiagnosticError([Diagnostic("nested-too-deep", message)])
    if isinstance(definition.type, TemplateType):
        template = definition.type.template
    elif isinstance(nested.template, str):
        parent.inputs.allowance.nest(len(nested.template) // 16)
        template = parsed(nested.template, nested.url)
    else:
        template = parse(nested.template, nested.url)
    parent.inputs.allowance.nest(template.size + 30 * len(template.resources) + 50)
    identity = replace(own, stack_name=f"{own.stack_name}-{definition.name}", arn=None)
    inputs = child_inputs(parent.inputs, definition, nested, identity)
    return Evaluation(template, inputs, parent.known_types)


def _mean_same_types(one: Inputs, other: Inputs) -> bool:
    """Whether every type name means the same with these inputs."""
    return (
        one.url == other.url
        and one.files == other.files
        and one.service_registry == other.service_registry
        and same(one.environment.resource_registry, other.environment.resource_registry)
    )


def _needs(surveys: Mapping[str, Survey]) -> dict[str, frozenset[str]]:
    """What each resource needs, by reference or because its type says so."""
    needs = {name: survey.needs for name, survey in surveys.items()}
    known = [survey.definition for survey in surveys.values() if survey.definition is not None]
    neighbours = Neighbours(
        {
            definition.name: (definition.type.type_name, definition.properties)
            for definition in known
        }
    )
    for definition in known:
        if can(definition.type, DependsImplicitly) and isinstance(
            definition.type, DependsImplicitly
        ):
            found = definition.type.implicit_needs(definition.properties, neighbours)
            needs[definition.name] |= found - {definition.name}
    return needs


def _merge(used: Attributes, more: Attributes) -> None:
    for name, attributes in more.items():
        used.setdefault(name, set()).update(attributes)


def _nested(diagnostic: Diagnostic, path: Path) -> Diagnostic:
    """A finding about what a resource stands for; without a document of its own it is here."""
    if diagnostic.file is None:
        diagnostic = replace(diagnostic, path=(*path, *diagnostic.path))
    return replace(diagnostic, error_type="StackValidationFailed")
