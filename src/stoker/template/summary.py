"""What the API's validate call answers: a template's parameters, and those of nested templates."""

from __future__ import annotations

from typing import Any

from stoker.template.evaluation import Evaluation
from stoker.template.parameter_views import described_parameters, environment_of_validation

OF_VALUES = frozenset({"missing-parameter", "invalid-parameter", "missing-property", "wrong-type"})
"""Codes of findings on values: a template as such can be valid before it is given any."""


def summary(evaluation: Evaluation, *, show_nested: bool) -> dict[str, Any]:
    """Description, parameters, groups and environment of a template, ready for JSON."""
    inputs = evaluation.inputs
    given = {**inputs.environment.parameters, **inputs.parameters}
    described: dict[str, Any] = {
        "Description": str(evaluation.template.description or ""),
        "Parameters": described_parameters(
            evaluation.declarations, given, inputs.environment.parameter_defaults
        ),
    }
    if evaluation.template.parameter_groups:
        described["ParameterGroups"] = list(evaluation.template.parameter_groups)
    if show_nested and evaluation.children:
        described["NestedParameters"] = _nested(evaluation)
    if inputs.depth == 0:
        described["Environment"] = environment_of_validation(inputs.environment, inputs.parameters)
    return described


def _nested(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, child in evaluation.children.items():
        type_name = evaluation.template.resources[name].type_name
        found[name] = {"Type": type_name, **summary(child, show_nested=True)}
    return found
