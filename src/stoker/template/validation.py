"""All that can be said against a template before anything exists, in one go.

The order of the findings is the order in which a reader would meet them: parameters, conditions,
resources (form, references, circles, properties), outputs. The first error decides what kind of
refusal the API gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.kernel.graph import find_cycle
from stoker.schema.resource_type import Validates
from stoker.template.document import OutputBody, Template
from stoker.template.functions.failure import SHAPE, Failure
from stoker.template.functions.scope import Scope
from stoker.template.survey import Survey

STATIC = frozenset(
    {
        SHAPE,
        "bad-condition",
        "circular-condition",
        "unknown-attribute",
        "unknown-condition",
        "unknown-resource",
    }
)
"""Codes of findings that no value could mend: an output with one of these refuses a template."""

REFERENCES = frozenset({"unknown-resource", "unknown-reference"})


def resource_findings(
    template: Template, surveys: Mapping[str, Survey], needs: Mapping[str, frozenset[str]]
) -> list[Diagnostic]:
    """What is wrong with the resources: form first, then references and circles, then values."""
    form, references, values = [], [], []
    for survey in surveys.values():
        for diagnostic in survey.diagnostics:
            if diagnostic.code == SHAPE:
                form.append(diagnostic)
            elif diagnostic.code in REFERENCES:
                references.append(replace(diagnostic, error_type="InvalidTemplateReference"))
            else:
                values.append(diagnostic)
        values.extend(_of_type(template, survey))
    return [*form, *references, *_circle(template, needs), *values]


def _circle(template: Template, needs: Mapping[str, frozenset[str]]) -> list[Diagnostic]:
    circle = find_cycle(needs)
    if circle is None:
        return []
    return [
        Diagnostic(
            "circular-dependency",
            f"these resources need each other: {' -> '.join(circle)}",
            template.resources[circle[0]].path,
            error_type="CircularDependencyException",
        )
    ]


def _of_type(template: Template, survey: Survey) -> list[Diagnostic]:
    definition = survey.definition
    if definition is None or not isinstance(definition.type, Validates):
        return []
    base = (*template.resources[definition.name].path, template.version.dialect.properties)
    found = definition.type.validate(definition.properties)
    return [replace(diagnostic, path=(*base, *diagnostic.path)) for diagnostic in found]


def output_findings(body: OutputBody, scope: Scope) -> list[Diagnostic]:
    """What is wrong with an output: what depends on values is only a warning."""
    try:
        scope.resolve(body.value)
    except Failure as failure:
        path = (*body.path, scope.version.dialect.value)
        return [
            replace(d, error_type=_as_output(d.error_type))
            if d.code in STATIC
            else replace(d, severity=Severity.WARNING)
            for d in failure.inside(*path).diagnostics
        ]
    return []


def _as_output(error_type: str) -> str:
    """An unknown resource is a fault of the reference in a resource, of the value in an output."""
    return "StackValidationFailed" if error_type == "InvalidTemplateReference" else error_type
