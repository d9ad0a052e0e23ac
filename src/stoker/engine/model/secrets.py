"""Keeps the values of hidden parameters out of diagnostics, reasons and events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stoker.engine.model.records import Event
from stoker.kernel.diagnostics import Diagnostic, Diagnostics
from stoker.kernel.masking import Masking
from stoker.template.evaluate.evaluation import Evaluation


def masking_of(*evaluations: Evaluation) -> Masking:
    """A mask over the values of all hidden parameters, those of nested stacks included."""
    return Masking(value for evaluation in evaluations for value in _hidden(evaluation))


def _hidden(evaluation: Evaluation) -> Iterator[Any]:
    for name, parameter in evaluation.declarations.items():
        if parameter.hidden and name in evaluation.parameters:
            yield evaluation.parameters[name]
    for child in evaluation.children.values():
        yield from _hidden(child)


def findings_of(evaluation: Evaluation) -> Diagnostics:
    """What is wrong with a template, with the values masked."""
    found, masking = evaluation.validate(), masking_of(evaluation)
    return Diagnostics([_masked_finding(each, masking) for each in found]) if masking else found


def _masked_finding(finding: Diagnostic, masking: Masking) -> Diagnostic:
    """A finding with the values masked."""
    suggestion = finding.suggestion
    return replace(
        finding,
        message=masking.text(finding.message),
        suggestion=None if suggestion is None else masking.text(suggestion),
    )


def masked_event(event: Event, masking: Masking) -> Event:
    """An event with the values masked, in its reason and in the properties that it shows."""
    return replace(
        event, reason=masking.text(event.reason), properties=masking.data(event.properties)
    )
