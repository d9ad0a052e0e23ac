"""Validation of a template, as far as possible before its resources exist.

The diagnostics are in the order of a reader: parameters, conditions, resources (form, references,
cycles, properties), outputs. The first error decides the error type of the response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.kernel.diagnostics import Diagnostic, Diagnostics, Path, Severity, did_you_mean
from stoker.kernel.errors import (
    BAD_REQUEST,
    INVALID_REFERENCE,
    LIMIT_EXCEEDED,
    TYPE_UNAVAILABLE,
    VALIDATION_FAILED,
)
from stoker.kernel.time_limit import check
from stoker.kernel.values import replace
from stoker.schema.resource_type import NamesResources, ResourceType, Validates, can
from stoker.schema.support import Support
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of, shown
from stoker.template.document import Template, unknown_keys
from stoker.template.evaluate.circles import circle_findings
from stoker.template.evaluate.fixed_addresses import fixed_address_findings
from stoker.template.evaluate.misspelled_functions import MisspelledFunctions
from stoker.template.evaluate.policies import UNSUPPORTED, policy_diagnostics
from stoker.template.evaluate.static_analysis import StaticAnalysis
from stoker.template.functions.failure import SHAPE
from stoker.template.versions import CFN, HOT

# Codes of diagnostics that hold for any values. An output with one of them rejects a template.
STATIC = frozenset(
    {
        SHAPE,
        "bad-condition",
        "circular-condition",
        "nested-too-deep",
        "nested-too-large",
        "unknown-attribute",
        "unknown-condition",
        "unknown-resource",
    }
)

REFERENCES = frozenset({"unknown-resource", "unknown-reference"})


def resource_diagnostics(
    template: Template,
    analyses: Mapping[str, StaticAnalysis],
    circle: Sequence[str] | None,
) -> list[Diagnostic]:
    """Return diagnostics about resources: form first, then references and cycles, then values."""
    form, references, values = [], [], []
    for analysis in analyses.values():
        for diagnostic in analysis.diagnostics:
            if diagnostic.code == SHAPE:
                form.append(diagnostic)
            elif diagnostic.code in REFERENCES:
                references.append(replace(diagnostic, error_type=INVALID_REFERENCE))
            else:
                values.append(diagnostic)
        if analysis.objections is None:
            analysis.objections = _of_type(template, analysis)
        values.extend(analysis.objections)
        values.extend(_unknown_names(template, analysis, analyses))
    warnings = [*_ignored_keys(template), *_misspelled(template, analyses)]
    warnings += fixed_address_findings(template, analyses)
    return [*form, *references, *circle_findings(template, circle), *values, *warnings]


def _unknown_names(
    template: Template, analysis: StaticAnalysis, analyses: Mapping[str, StaticAnalysis]
) -> list[Diagnostic]:
    """Return diagnostics about properties that name a resource that the stack does not have."""
    definition = analysis.definition
    if definition is None or not can(definition.type, NamesResources):
        return []
    base = (*template.resources[definition.name].path, template.version.dialect.properties)
    return [
        Diagnostic(
            "no-such-resource",
            f"{shown(name)} is not a resource of this stack",
            (*base, *path),
            suggestion=did_you_mean(str(name), analyses),
        )
        for path, name in definition.type.named(definition.properties)
        if unknown_in(name) is None and not (isinstance(name, str) and name in analyses)
    ]


def _ignored_keys(template: Template) -> list[Diagnostic]:
    """Return warnings for unknown keys, which templates for AWS often have."""
    if template.version.dialect is not CFN:
        return []
    written = template.data[CFN.resources] if template.resources else {}
    return [
        replace(found, message=f"{found.message}: it is ignored", severity=Severity.WARNING)
        for name, body in template.resources.items()
        for found in unknown_keys(written[name], template.version, body.path)
    ]


def _misspelled(template: Template, analyses: Mapping[str, StaticAnalysis]) -> list[Diagnostic]:
    found = Diagnostics()
    misspelled = MisspelledFunctions(template.version)
    for name, body in template.resources.items():
        analysis = analyses.get(name)
        if analysis is None:
            found += misspelled.of(body)
            continue
        if analysis.misspelled_functions is None:
            analysis.misspelled_functions = misspelled.of(body)
        found += analysis.misspelled_functions
    for output in template.outputs.values():
        found += misspelled.of(output)
    return found


def _of_type(template: Template, analysis: StaticAnalysis) -> list[Diagnostic]:
    check()
    definition = analysis.definition
    if definition is None:
        return []
    path = template.resources[definition.name].path
    found = policy_diagnostics(definition, template.version, path)
    if not isinstance(definition.external_id, str | Unknown | None):
        key = template.version.dialect.external_id
        message = f"{key} is text, not {kind_of(definition.external_id)}"
        found.append(Diagnostic("bad-shape", message, (*path, key)))
    if definition.type.undeployable:
        found.append(undeployable(template, definition.name, definition.type))
    elif definition.type.support.status in (Support.DEPRECATED, Support.HIDDEN):
        found.append(_deprecated(definition.type, (*path, template.version.dialect.type)))
    is_made = definition.external_id is None
    if is_made and can(definition.type, Validates):
        base = (*path, template.version.dialect.properties)
        own = definition.type.validate(definition.properties)
        found.extend(replace(diagnostic, path=(*base, *diagnostic.path)) for diagnostic in own)
    return found


def _deprecated(type_: ResourceType, path: Path) -> Diagnostic:
    substitute, hint = type_.support.substitute, type_.support.message
    advice = f'use "{substitute}"' if substitute else None
    if advice is None and hint:
        advice = f"{hint[0].lower()}{hint[1:].rstrip('.')}"
    return Diagnostic(
        "deprecated-type",
        f"The Resource Type ({type_.type_name}) is deprecated",
        path,
        severity=Severity.WARNING,
        suggestion=advice,
    )


def undeployable(template: Template, name: str, type_: ResourceType) -> Diagnostic:
    """Return the diagnostic about a resource of a type that cannot be deployed.

    It is an error only if that will never change; a create refuses any.
    """
    gone = type_.support.status is Support.HIDDEN
    return Diagnostic(
        "withdrawn-type" if gone else "undeployable-type",
        f"The Resource Type ({type_.type_name}) is not available: {type_.undeployable}",
        (*template.resources[name].path, template.version.dialect.type),
        error_type=TYPE_UNAVAILABLE,
        severity=Severity.ERROR if gone else Severity.WARNING,
    )


# Codes of diagnostics on properties as a whole, independent of values.
FORM = frozenset({"unknown-property", "unimplemented-property"})
# Codes of diagnostics on types, including member types in properties of groups.
OF_TYPES = frozenset({"unknown-type", "circular-type", "withdrawn-type", "unknown-file"})
# Codes of diagnostics on the values of parameters.
OF_VALUES = frozenset({"broken-rule", "missing-parameter", "invalid-parameter-value"})


def as_template_diagnostics(diagnostics: Diagnostics, file: str | None = None) -> Diagnostics:
    """Return the diagnostics in the form of a request to validate a template, from this file.

    The request is about the template, not about a stack: faults of values of parameters and
    properties are warnings, and policies without effect are errors.
    """
    return Diagnostics([_as_template_diagnostic(found, file) for found in diagnostics])


def _as_template_diagnostic(found: Diagnostic, file: str | None) -> Diagnostic:
    if found.code in UNSUPPORTED:
        return replace(found, severity=Severity.ERROR, error_type=BAD_REQUEST)
    if found.severity is not Severity.ERROR:
        return found
    if found.code in OF_VALUES or (_is_value(found, file) and found.code not in STATIC):
        return replace(found, severity=Severity.WARNING)
    if found.code == "nested-too-deep":
        return replace(found, error_type=LIMIT_EXCEEDED)
    if found.error_type == VALIDATION_FAILED:
        return replace(found, error_type=BAD_REQUEST)
    return found


def _is_value(found: Diagnostic, file: str | None) -> bool:
    """Return whether a diagnostic is about a property's value, and not about the property.

    In a nested stack the properties as a whole are such values, as its parent sets them.
    """
    if found.code in OF_TYPES and found.path[-1:] != ("get_file",):
        return False
    path, nested = found.path, found.file not in (None, file)
    while len(path) > 3 and path[0] == path[2] == HOT.resources:
        path, nested = path[2:], True
    if not any(path[:1] == (d.resources,) and path[2:3] == (d.properties,) for d in (HOT, CFN)):
        return False
    of_form = found.code in FORM and len(path) == 4 and not nested
    return not of_form and found.code not in REFERENCES
