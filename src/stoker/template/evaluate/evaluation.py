"""One template with its inputs: the entry point of the engine, the commands and the API.

Takes a parsed template, its inputs and the known types. Produces, each on demand and once, the
enabled resources, their types, dependencies and analyses; with facts of live resources also their
definitions and the outputs; and all diagnostics that can be known before anything exists.

Invariant: evaluation is pure. It reads no file, clock or network, so the same inputs give the same
definitions. Parts that an earlier version of the template shares are not analysed again.

Tested by tests/language, tests/bad_input and tests/operations/test_evaluation_cache.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from stoker.template.definition import (
    CustomCheck,
    Definition,
    Dependencies,
    Facts,
    Output,
    TypeRegistry,
)
from stoker.template.document import Template
from stoker.template.evaluate.inputs import Inputs, are_same
from stoker.template.evaluate.loops import written_out
from stoker.template.evaluate.nested_stacks import (
    diagnostic_in,
    found_in_nested,
    found_in_separate,
    nested_in,
    separate_in,
    without_repetitions,
)
from stoker.template.evaluate.outputs import diagnostics_of_output, exports_diagnostics, output
from stoker.template.evaluate.reuse import Work, reusable_analyses
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


def has_hooks(evaluation: Evaluation) -> bool:
    """Return whether some resource may have hooks."""
    return bool(evaluation.resolver.hooks)


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


def _findings(evaluation: Evaluation) -> Diagnostics:
    """Return all diagnostics known in advance."""
    resolved, source = evaluation.resolved, evaluation.template.source
    nested = list(_nested_diagnostics(evaluation))
    with evaluation.work:
        nested += _separate_diagnostics(evaluation)
    resources = resource_diagnostics(
        evaluation.template, evaluation.analyses, evaluation.dependencies.cycle
    )
    outputs = evaluation.output_diagnostics
    sections = resolved.section_diagnostics()  # Last: by now each used condition is known.
    inputs = evaluation.inputs
    warnings = inputs.environment.warnings if inputs.facade is None else ()
    found = [
        *resolved.diagnostics,
        *sections,
        *resources,
        *nested,
        *outputs,
        *source.warnings,
        *warnings,
    ]
    return Diagnostics(source.all_located(first_of(found)))


def _charge(user: Evaluation, reused: Evaluation) -> None:
    """Count the work for an evaluation and those below it, as if its user did it again."""
    user.inputs.budget.charge(reused.work.cost)
    for child in vars(reused).get("children", {}).values():
        _charge(user, child)


class Evaluation:
    """One template with its inputs.

    ``earlier`` is an evaluation for the same stack, or for another stack of the same template; a
    ``sibling`` is one for another stack with the same parent, whose work the parent has counted.
    """

    def __init__(
        self,
        template: Template,
        inputs: Inputs,
        types: TypeRegistry,
        earlier: Evaluation | None = None,
        sibling: Evaluation | None = None,
    ) -> None:
        self.template = template
        self.template, self.resolved = written_out(template, inputs)
        if inputs.facade is None:
            renew_suggestions()
        self.inputs = inputs
        self.known_types = types
        self._earlier = earlier or sibling
        self._counts_reuse = earlier is not None
        self.work = Work(inputs.budget)  # without nested stacks
        self._former_dependencies: Dependencies | None = None
        self._former_children: Mapping[str, Evaluation] = {}
        # The attributes that outputs use, once they are known.
        self.used_by_outputs: Sequence[tuple[str, frozenset[str]]] = ()
        # Those and all used ones of a former evaluation whose resources use the same.
        self._former_attributes: tuple[Any, Mapping[str, frozenset[str]]] | None = None
        self._references = RecordedReferences()
        self._without_type: dict[str, Sequence[Diagnostic]] = {}  # why resources have no type
        self.outputs_may_change = False  # whether those found so far have read the time, or chance

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

    has_hooks = lazy(has_hooks)
    moves = lazy(moves)
    imports = lazy(imports)

    @lazy
    def types(self) -> Mapping[str, ResourceType]:
        """The type of each enabled resource, without those of unknown type."""
        found: dict[str, ResourceType] = {}
        with self.work:
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
        if self._earlier is None:
            return TypeResolver(self.inputs, self.known_types)
        return self._earlier.resolver.at(self.inputs)

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
            self._former_dependencies = earlier.dependencies
            self._former_children = vars(earlier).get("children", {})
            known = reusable_analyses(
                evaluator,
                earlier.evaluator,
                earlier.analyses,
                earlier.resolved.condition_parameters,
            )
        with self.work:
            if self._counts_reuse:
                for analysis in known.values():
                    self.inputs.budget.charge(analysis.cost)
            found = {
                body.name: known.get(body.name) or evaluator.analyse(body)
                for body in self.resolved.resources
            }
        if earlier is not None and _use_same(found, earlier, found.keys() - known):
            self._former_attributes = earlier.used_by_outputs, earlier.attributes_used
        return found

    @lazy
    def dependencies(self) -> Dependencies:
        """For each enabled resource the enabled resources that it depends on."""
        found, former = dependencies_of(self.analyses), self._former_dependencies
        self._former_dependencies = None
        if found == former and [*found] == [*former]:
            return former  # Its order is known.
        return found

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
        found = [
            output(body, scope) if body.name in enabled else Output(body.name, None)
            for body in self.template.outputs.values()
        ]
        self.outputs_may_change |= scope.parameters.reads.may_change
        return found

    def custom_checks(self) -> list[CustomCheck]:
        """Return the constraints on parameters and known properties that only a cloud can check."""
        checks = list(self.resolved.parameters.custom_checks)
        for analysis in self.analyses.values():
            checks.extend(analysis.custom_checks)
        return checks

    @lazy
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """For each resource the attributes that other resources and outputs refer to."""
        analyses = self.analyses  # which also sets the former attributes
        _ = self.output_diagnostics  # which records what outputs refer to
        by_outputs = self._references.attributes
        self.used_by_outputs = [(name, frozenset(used)) for name, used in by_outputs.items()]
        former, self._former_attributes = self._former_attributes, None
        if former is not None and former[0] == self.used_by_outputs:
            return former[1]
        used: Attributes = {}
        for analysis in analyses.values():
            _merge(used, analysis.attributes)
        _merge(used, by_outputs)
        return {name: frozenset(attributes) for name, attributes in used.items()}

    def validate(self) -> Diagnostics:
        """Return all diagnostics known in advance, with positions, errors first."""
        return Diagnostics(self._findings)

    _findings = lazy(_findings)

    @lazy
    def output_diagnostics(self) -> list[Diagnostic]:
        """The diagnostics about the outputs; their references are recorded, too."""
        outputs, scope = self.resolved.outputs, self.scope
        with self.work:
            found = [each for body in outputs for each in diagnostics_of_output(body, scope)]
            return [*found, *exports_diagnostics(outputs, scope)]

    @lazy
    def children(self) -> Mapping[str, Evaluation]:
        """The nested stacks that are known in advance, by resource."""
        found: dict[str, Evaluation] = {}
        # The first evaluation of each template. The others reuse its analyses.
        alike: dict[int, Evaluation] = {}
        analyses = self.analyses  # which also sets the former children
        former, self._former_children = self._former_children, {}
        for name, analysis in analyses.items():
            if analysis.definition is None or self.inputs.budget.nested < 0:
                continue
            if not isinstance(analysis.definition.type, NestingType):
                continue
            try:
                with self.work:
                    nested = nested_in(
                        analysis.definition,
                        self.inputs,
                        self.resolver,
                        lambda: self.attributes_used,
                    )
            except DiagnosticError as error:
                self.resolved.note(error, self.template.resources[name].path)
                continue
            if nested is None:
                continue
            template, inputs = nested
            earlier, sibling = _reusable(former.get(name), template), alike.get(id(template))
            if earlier is not None and evaluates(earlier, template, inputs):
                child = earlier
                _charge(self, child)
            else:
                child = Evaluation(template, inputs, self.known_types, earlier, sibling)
            found[name] = child
            alike.setdefault(id(template), child)
        return found

    @property
    def missing(self) -> frozenset[str]:
        """Addresses of templates that did not come with the request, including nested ones."""
        _ = self.types
        nested = [child.missing for child in self.children.values()]
        return frozenset(self.resolved.missing).union(*nested)


def evaluates(evaluation: Evaluation, template: Template, inputs: Inputs) -> bool:
    """Return whether this is the evaluation of a template with these inputs."""
    return (
        template is evaluation.template
        and are_same(inputs, evaluation.inputs)
        and not may_change(evaluation)
    )


def may_change(evaluation: Evaluation) -> bool:
    """Return whether an evaluation, or one below it, has read the time, or chance."""
    known = vars(evaluation)
    return (
        evaluation.resolved.condition_parameters.reads.may_change
        or evaluation.outputs_may_change
        or any(each.may_change for each in known.get("analyses", {}).values())
        or any(map(may_change, known.get("children", {}).values()))
    )


def _reusable(former: Evaluation | None, template: Template) -> Evaluation | None:
    """Return the former evaluation of a nested stack if its analyses can be reused."""
    # One without analyses would keep a still earlier one in memory, and save no work.
    if former is None or former.template is not template or "analyses" not in vars(former):
        return None
    return former


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


def _use_same(
    now: Mapping[str, StaticAnalysis], earlier: Evaluation, changed: Collection[str]
) -> bool:
    """Return whether the resources of an earlier evaluation are known to use the same attributes.

    Only those of ``changed`` resources may differ. The order is the same, too.
    """
    before = earlier.analyses
    return (
        "attributes_used" in vars(earlier)
        and [*now] == [*before]
        and all(
            [*now[name].attributes.items()] == [*before[name].attributes.items()]
            for name in changed
        )
    )


def _merge(used: Attributes, more: Attributes) -> None:
    for name, attributes in more.items():
        used.setdefault(name, set()).update(attributes)
