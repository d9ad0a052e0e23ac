"""Masks secrets in all texts for users: hidden parameters, and secrets that types generate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from stoker.engine.model.records import Event, Input, Operation, Resource, Stack
from stoker.engine.model.views import ResourceView
from stoker.kernel.diagnostics import Diagnostic, Diagnostics
from stoker.kernel.json.text import dumps
from stoker.kernel.logs.masking import Masking
from stoker.kernel.values import replace
from stoker.schema.resource_type import ResourceType
from stoker.template.evaluate.evaluation import Evaluation, in_tree
from stoker.template.evaluate.type_resolver import TemplateType

Reasoned = TypeVar("Reasoned", Stack, Resource, Event, Operation)

_HIDDEN_KEYS = ("hidden", "NoEcho")
_ESCAPES = re.compile(r"\\[xuU\r\n]")  # those that may be a part of a key


def may_have_secrets(stack_input: Input) -> bool:
    """Return whether a template in an input may declare hidden parameters."""
    return may_have_own_secrets(stack_input) or any(map(_may_hide, stack_input.files.values()))


def may_have_own_secrets(stack_input: Input) -> bool:
    """Return whether the template of the stack itself may declare hidden parameters."""
    text = stack_input.text
    return _may_hide(dumps(stack_input.template) if text is None else text)


def _may_hide(text: str) -> bool:
    # A pattern for all of it would take ten times as long. Trees with large files have many inputs.
    is_escaped = "\\" in text and _ESCAPES.search(text) is not None
    return is_escaped or any(key in text for key in _HIDDEN_KEYS)


def masking_of(*evaluations: Evaluation, rows: Iterable[Resource] = ()) -> Masking:
    """Return a mask over the values of all hidden parameters, including nested stacks.

    ``rows`` have values that were known only during operations, as generated passwords.
    """
    hidden = (value for evaluation in evaluations for value in hidden_values(evaluation))
    nested = [row for row in rows if row.nested_id is not None]
    passed = (value for evaluation in evaluations for value in _passed_values(evaluation, nested))
    return Masking(chain(hidden, passed))


def own_masking_of(evaluation: Evaluation) -> Masking:
    """Return a mask over the values of hidden parameters, without those of nested stacks."""
    return Masking(_own_hidden_values(evaluation))


def generated_secrets(row: Resource, type_: ResourceType) -> list[Any]:
    """Return the secrets that the type has generated for a resource."""
    values_of_secrets = (
        values.get(name) for name in type_.secrets for values in (row.data, row.attributes)
    )
    return [value for value in values_of_secrets if value is not None]


def hidden_values(evaluation: Evaluation) -> Iterator[Any]:
    """Yield the values of all hidden parameters, including nested stacks."""
    for each in in_tree(evaluation):
        yield from _own_hidden_values(each)


def hidden_in(type_: ResourceType | None, properties: Mapping[str, Any]) -> list[Any]:
    """Return the values of properties that are hidden parameters of a nested template."""
    if not isinstance(type_, TemplateType):
        return []
    hidden = (name for name, declared in type_.properties.items() if declared.sensitive)
    return [properties[name] for name in hidden if name in properties]


def _passed_values(evaluation: Evaluation, rows: Iterable[Resource]) -> Iterator[Any]:
    for row in rows:
        yield from hidden_in(evaluation.types.get(row.name), row.properties)


def _own_hidden_values(evaluation: Evaluation) -> Iterator[Any]:
    for name, parameter in evaluation.resolved.declarations.items():
        if parameter.hidden and name in evaluation.parameters:
            yield evaluation.parameters[name]


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
    found = masked_reason(event, masking)
    return replace(found, properties=masking.data(found.properties)) if found.properties else found


def masked_reason(record: Reasoned, masking: Masking) -> Reasoned:
    """Return a record with the values masked in its reason; the same one if it has none."""
    reason = masking.text(record.reason)
    return record if reason == record.reason else replace(record, reason=reason)
