"""Parameters, conditions and enabled parts, which are resolved before any resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Path
from stoker.kernel.lazy import lazy
from stoker.schema.unknown import Unknown
from stoker.template.document import NO_CONDITION, OutputBody, ResourceBody, Template
from stoker.template.evaluate.conditions import NamedConditions
from stoker.template.evaluate.inputs import Inputs, pseudo_parameters
from stoker.template.evaluate.nested_stacks import diagnostic_in
from stoker.template.evaluate.rules import parameter_findings
from stoker.template.evaluate.static_analysis import RecordedReferences
from stoker.template.evaluate.type_resolver import MissingTemplateError
from stoker.template.functions.failure import FunctionError, UnknownValueError
from stoker.template.functions.registry import condition_functions_of
from stoker.template.functions.scope import Function, ParameterValues, Scope
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import Parameter, Resolved, resolve

Body = TypeVar("Body", ResourceBody, OutputBody)


class ResolvedInputs:
    """Parameters and conditions of one template with its inputs; computed on demand, once."""

    def __init__(self, template: Template, inputs: Inputs) -> None:
        self._template = template
        self._inputs = inputs
        self.diagnostics = Diagnostics()  # faults found when a part was needed
        self.missing: set[str] = set()  # URLs of templates that did not arrive with the request

    def note(self, error: DiagnosticError, path: Path) -> None:
        """Record why a resource has no type, or no nested stack."""
        self.diagnostics.extend(diagnostic_in(each, path) for each in error.diagnostics)
        if isinstance(error, MissingTemplateError):
            self.missing.add(error.address)

    @lazy
    def declarations(self) -> Mapping[str, Parameter]:
        """The declared parameters."""
        template, inputs = self._template, self._inputs
        return declare(
            template.parameters,
            template.version,
            self.diagnostics,
            inputs.budget.patterns,
            inputs.parameter_defaults,
        )

    @property
    def _declared_names(self) -> frozenset[str]:
        """Return the names with a declaration, including wrong ones."""
        written = self._template.parameters
        return frozenset(written if isinstance(written, Mapping) else ())

    @lazy
    def parameters(self) -> Resolved:
        """The values of all parameters, including pseudo parameters; Unknown for a wrong one."""
        inputs = self._inputs
        wrong = self._declared_names - self.declarations.keys()
        specified = inputs.specified(self._declared_names)
        resolved = resolve(
            self.declarations,
            {name: value for name, value in specified.items() if name not in wrong},
            inputs.parameter_defaults,
            pseudo_parameters(self._template.version, inputs.identity),
            self._template.version.dialect.parameters,
        )
        self.diagnostics.extend(resolved.diagnostics)
        for name in (*wrong, *self.declarations):
            resolved.values.setdefault(name, Unknown(frozenset()))
        return resolved

    @lazy
    def condition_parameters(self) -> ParameterValues:
        """A copy of the values for conditions. It records whether they depend on the stack."""
        return ParameterValues(self.parameters.values)

    @lazy
    def conditions(self) -> NamedConditions:
        """The conditions section."""
        return self._conditions(condition_functions_of(self._template.version))

    def _conditions(self, table: Mapping[str, Function]) -> NamedConditions:
        """Return the evaluation of conditions with these functions."""
        template = self._template
        scope = partial(
            Scope,
            template.version,
            table,
            self.condition_parameters,
            RecordedReferences(),
            mappings=template.mappings,
            files=self._inputs.files,
            budget=self._inputs.budget,
            url=self._inputs.url,
        )
        section = template.version.dialect.conditions
        return NamedConditions(section, template.conditions, scope, self._inputs.assumed_conditions)

    def holds(self, condition: Any) -> bool:
        """Return whether a condition holds. Raises the errors of :class:`NamedConditions`."""
        return self.conditions.holds(condition)

    @lazy
    def resources(self) -> tuple[ResourceBody, ...]:
        """The resources that are enabled, or may be, in the template's order."""
        return tuple(self._enabled(self._template.resources.values()))

    @lazy
    def disabled(self) -> frozenset[str]:
        """The names of resources that are disabled by their conditions."""
        return frozenset(
            body.name
            for body in self._template.resources.values()
            if body.condition is not NO_CONDITION and self._fails(body.condition)
        )

    def _fails(self, condition: Any) -> bool:
        try:
            return not self.holds(condition)
        except (FunctionError, UnknownValueError):
            return False

    @lazy
    def outputs(self) -> tuple[OutputBody, ...]:
        """The outputs that are enabled, or may be."""
        return tuple(self._enabled(self._template.outputs.values()))

    def _enabled(self, bodies: Iterable[Body]) -> list[Body]:
        enabled = []
        for body in bodies:
            try:
                if body.condition is NO_CONDITION or self.holds(body.condition):
                    enabled.append(body)
            except UnknownValueError:
                enabled.append(body)
            except FunctionError as failure:
                key = self._template.version.dialect.condition
                self.diagnostics.extend(failure.inside(*body.path, key).diagnostics)
        return enabled

    def section_diagnostics(self) -> list[Diagnostic]:
        """Return diagnostics about the parameter groups, the conditions section and the rules."""
        template = self._template
        if template.parameter_groups is None and not template.rules and not template.conditions:
            return []
        found = parameter_findings(
            template, self._declared_names, self.declarations, self._conditions
        )
        return [*found, *self.conditions.check()]
