"""A template as the API's validation answers it: its parameters, groups and nested templates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.schema.unknown import unknown_in
from stoker.schema.values import STRUCTURAL_CODES
from stoker.template.evaluation import Evaluation
from stoker.template.parameter_groups import group_findings
from stoker.template.parameter_views import described_parameters, environment_of_validation
from stoker.template.registry import ResourceRegistry
from stoker.template.validation import STATIC

_VALUES_OF_PARAMETERS = frozenset({"missing-parameter", "invalid-parameter-value"})
_PLACE_OF_PROPERTIES = 2
"""Index of ``properties`` in the path of a property: section, name of the resource, properties."""


def describe_template(evaluation: Evaluation, *, show_nested: bool) -> dict[str, Any]:
    """Description, parameters, groups and environment, with those of nested templates on demand."""
    described = _describe(evaluation, show_nested=show_nested)
    view = environment_of_validation(evaluation.inputs.environment, evaluation.inputs.parameters)
    view["resource_registry"] |= learned_types(evaluation)
    return {**described, "Environment": view}


def _describe(evaluation: Evaluation, *, show_nested: bool) -> dict[str, Any]:
    template, inputs = evaluation.template, evaluation.inputs
    given = {**inputs.environment.parameters, **inputs.parameters}
    known = {name: value for name, value in given.items() if unknown_in(value) is None}
    described: dict[str, Any] = {
        "Description": template.description,
        "Parameters": described_parameters(
            evaluation.declarations, known, inputs.environment.parameter_defaults
        ),
    }
    if template.parameter_groups:
        described["ParameterGroups"] = template.parameter_groups
    if show_nested and evaluation.children:
        described["NestedParameters"] = {
            name: {
                "Type": template.resources[name].type_name,
                **_describe(child, show_nested=True),
            }
            for name, child in evaluation.children.items()
        }
    return described


def learned_types(evaluation: Evaluation) -> dict[str, str]:
    """The types that globs and entries for single resources led to, by the name that led there."""
    registry = ResourceRegistry(
        evaluation.inputs.environment.resource_registry,
        evaluation.known_types,
        evaluation.inputs.files,
    )
    learned: dict[str, str] = {}
    for name in evaluation.types:
        type_name = evaluation.template.resources[name].type_name
        found = registry.learned(type_name, name)
        if found is not None:
            learned[type_name] = found
    return learned


def split_findings(
    evaluation: Evaluation, findings: Iterable[Diagnostic]
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """What refuses the template as such, and the rest.

    The rest are warnings and whatever depends on values: those of parameters need not be given
    when a template is only described, and with them the values of properties are open.
    """
    properties = evaluation.template.version.dialect.properties
    refusing: list[Diagnostic] = []
    others: list[Diagnostic] = []
    for finding in findings:
        open_ = _depends_on_values(finding, properties)
        (others if open_ or finding.severity is not Severity.ERROR else refusing).append(finding)
    refusing.extend(group_findings(evaluation.template.parameter_groups, evaluation.declarations))
    return refusing, others


def _depends_on_values(finding: Diagnostic, properties: str) -> bool:
    if finding.code in _VALUES_OF_PARAMETERS:
        return True
    inside = finding.path[_PLACE_OF_PROPERTIES : _PLACE_OF_PROPERTIES + 1] == (properties,)
    return inside and finding.code not in STATIC | STRUCTURAL_CODES
