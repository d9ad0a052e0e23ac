"""Masks secrets in all texts for users: hidden parameters, and secrets that types generate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoker.engine.model.records import Event, Resource
from stoker.engine.model.views import ResourceView
from stoker.kernel.diagnostics import Diagnostic, Diagnostics
from stoker.kernel.logs.masking import Masking
from stoker.kernel.values import replace
from stoker.schema.resource_type import ResourceType
from stoker.template.evaluate.evaluation import Evaluation, in_tree


def masking_of(*evaluations: Evaluation) -> Masking:
    """Return a mask over the values of all hidden parameters, including nested stacks."""
    return Masking(value for evaluation in evaluations for value in hidden_values(evaluation))


def generated_secrets(row: Resource, type_: ResourceType) -> list[Any]:
    """Return the secrets that the type has generated for a resource."""
    values_of_secrets = (
        values.get(name) for name in type_.secrets for values in (row.data, row.attributes)
    )
    return [value for value in values_of_secrets if value is not None]


def hidden_values(evaluation: Evaluation) -> Iterator[Any]:
    """Yield the values of all hidden parameters, including nested stacks."""
    for each in in_tree(evaluation):
        for name, parameter in each.resolved.declarations.items():
            if parameter.hidden and name in each.parameters:
                yield each.parameters[name]


def findings_of(evaluation: Evaluation) -> Diagnostics:
    """Return the diagnostics of a template, with the values masked."""
    found, masking = evaluation.validate(), masking_of(evaluation)
    return Diagnostics([_masked_finding(each, masking) for each in found]) if masking else found


def _masked_finding(finding: Diagnostic, masking: Masking) -> Diagnostic:
    """Return a diagnostic with the values masked."""
    suggestion = finding.suggestion
    return replace(
        finding,
        message=masking.text(finding.message),
        suggestion=None if suggestion is None else masking.text(suggestion),
    )


def masked_properties(view: ResourceView, masking: Masking) -> ResourceView:
    """Return a resource with the values masked in its properties."""
    return replace(view, properties=masking.data(view.properties)) if masking else view


def masked_event(event: Event, masking: Masking) -> Event:
    """Return an event with the values masked, in its reason and its properties."""
    return replace(
        event, reason=masking.text(event.reason), properties=masking.data(event.properties)
    )
