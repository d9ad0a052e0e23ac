"""A template as the API's validation answers it: its parameters, groups and nested templates."""

from __future__ import annotations

from typing import Any

from stoker.schema.unknown import unknown_in
from stoker.template.evaluation import Evaluation
from stoker.template.parameter_views import described_parameters, environment_of_validation
from stoker.template.registry import ResourceRegistry


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
        "Description": str(template.description or ""),
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
        evaluation.inputs.service_registry,
    )
    learned: dict[str, str] = {}
    for name in evaluation.types:
        type_name = evaluation.template.resources[name].type_name
        found = registry.learned(type_name, name)
        if found is not None:
            learned[type_name] = found
    return learned
