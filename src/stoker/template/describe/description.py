"""Describes a template for the API's validation: its parameters, groups and nested templates."""

from __future__ import annotations

from typing import Any

from stoker.kernel.diagnostics import Diagnostics
from stoker.schema.unknown import unknown_in
from stoker.template.describe.parameters import described_parameters, environment_of_validation
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.type_resolver import TemplateType
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import ParameterType


def describe_template(evaluation: Evaluation, *, show_nested: bool) -> dict[str, Any]:
    """Return description, parameters, groups and environment, with nested templates on demand."""
    described = _describe(evaluation, show_nested=show_nested)
    view = environment_of_validation(evaluation.inputs.environment, evaluation.inputs.parameters)
    view["resource_registry"] |= learned_types(evaluation)
    return {**described, "Environment": view}


def _describe(evaluation: Evaluation, *, show_nested: bool) -> dict[str, Any]:
    template, inputs = evaluation.template, evaluation.inputs
    described: dict[str, Any] = {
        "Description": template.description or "",
        "Parameters": described_parameters(
            evaluation.resolved.declarations,
            _specified(evaluation),
            inputs.parameter_defaults,
        ),
    }
    if template.parameter_groups:
        described["ParameterGroups"] = template.parameter_groups
    nested = _describe_nested(evaluation) if show_nested else {}
    if nested:
        described["NestedParameters"] = nested
    return described


def _specified(evaluation: Evaluation) -> dict[str, Any]:
    """Return the known values; lists from a parent template are shown as text."""
    inputs, declared = evaluation.inputs, evaluation.resolved.declarations
    specified = inputs.specified(declared)
    known = {name: value for name, value in specified.items() if unknown_in(value) is None}
    if not inputs.depth:
        return known
    return {
        name: ",".join(map(str, value))
        if isinstance(value, list) and declared[name].type is ParameterType.LIST
        else value
        for name, value in known.items()
        if name in declared
    }


def _describe_nested(evaluation: Evaluation) -> dict[str, Any]:
    """Return the nested templates by resource, also those that cannot be evaluated."""
    described: dict[str, Any] = {}
    for name, type_ in evaluation.types.items():
        child = evaluation.children.get(name)
        if child is not None:
            found = _describe(child, show_nested=True)
        elif isinstance(type_, TemplateType):
            template = type_.template
            budget = evaluation.inputs.budget.patterns
            declared = declare(template.parameters, template.version, Diagnostics(), budget)
            found = {
                "Description": str(template.description or ""),
                "Parameters": described_parameters(declared, {}, {}),
            }
        else:
            continue
        described[name] = {"Type": evaluation.template.resources[name].type_name, **found}
    return described


def learned_types(evaluation: Evaluation) -> dict[str, str]:
    """Return the types that globs and entries for single resources name, by type name."""
    learned: dict[str, str] = {}
    for name in evaluation.types:
        type_name = evaluation.template.resources[name].type_name
        found = evaluation.resolver.registry.learned(type_name, name)
        if found is not None:
            learned[type_name] = found
    return learned
