"""All that can be said against a template before anything exists, in one go.

The order of the findings is the order in which a reader would meet them: parameters, conditions,
resources (form, references, circles, properties), outputs. The first error decides what kind of
refusal the API gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from stoker.kernel.diagnostics import Diagnostic, Findings, Severity
from stoker.kernel.graph import find_cycle
from stoker.schema.resource_type import Validates
from stoker.template.document import OutputBody, Template
from stoker.template.functions.failure import SHAPE, Failure
from stoker.template.functions.scope import Scope
from stoker.template.policies import UNSUPPORTED, policy_findings
from stoker.template.survey import Survey
from stoker.template.versions import Version

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
    if definition is None:
        return []
    path = template.resources[definition.name].path
    found = policy_findings(definition, template.version, path)
    if isinstance(definition.type, Validates):
        base = (*path, template.version.dialect.properties)
        own = definition.type.validate(definition.properties)
        found.extend(replace(diagnostic, path=(*base, *diagnostic.path)) for diagnostic in own)
    return found


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


FORM = frozenset({"unknown-property", "unimplemented-property"})
"""Codes of findings on properties as a whole that hold whatever the values are."""
OF_VALUES = frozenset({"missing-parameter", "invalid-parameter-value"})
"""Codes of findings on the values of parameters."""


def as_template_findings(findings: Findings, version: Version) -> Findings:
    """The findings as the request to validate a template reports them.

    It is asked about the template, not about a stack: values of parameters and properties are
    only warned about, policies without effect are refused. Errors have the type of a bad request.
    """
    return Findings([_as_template_finding(found, version) for found in findings])


def _as_template_finding(found: Diagnostic, version: Version) -> Diagnostic:
    if found.code in UNSUPPORTED:
        return replace(found, severity=Severity.ERROR, error_type="HTTPBadRequest")
    if found.severity is not Severity.ERROR:
        return found
    if found.code in OF_VALUES or (_is_value(found, version) and found.code not in STATIC):
        return replace(found, severity=Severity.WARNING)
    if found.code == "nested-too-deep":
        return replace(found, error_type="RequestLimitExceeded")
    if found.error_type == "StackValidationFailed":
        return replace(found, error_type="HTTPBadRequest")
    return found


def _is_value(found: Diagnostic, version: Version) -> bool:
    """Whether a finding is about the value of a property, and not about the property itself."""
    path, dialect = found.path, version.dialect
    if path[:1] != (dialect.resources,) or path[2:3] != (dialect.properties,):
        return False
    return not (found.code in FORM and len(path) == 4) and found.code not in REFERENCES
