"""Outputs: their values, and their validation."""

from __future__ import annotations

from dataclasses import replace

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.kernel.errors import INVALID_REFERENCE, VALIDATION_FAILED
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Output
from stoker.template.document import OutputBody
from stoker.template.evaluate.validation import STATIC
from stoker.template.functions.budget import check_size
from stoker.template.functions.failure import Failure
from stoker.template.functions.scope import Scope


def output(body: OutputBody, scope: Scope) -> Output:
    """The value of an output, or why it has none; None as long as it is not known."""
    description = body.description if isinstance(body.description, str) else ""
    try:
        value = scope.resolve(body.value)
        check_size(value)
    except Failure as failure:
        error = "; ".join(str(diagnostic) for diagnostic in failure.diagnostics)
        return Output(body.name, None, description, error)
    return Output(body.name, None if unknown_in(value) else value, description)


def output_diagnostics(body: OutputBody, scope: Scope) -> list[Diagnostic]:
    """What is wrong with an output: what depends on values is only a warning."""
    try:
        scope.resolve(body.value)
    except Failure as failure:
        found = failure.inside(*body.path, scope.version.dialect.value).diagnostics
        return list(map(_in_output, found))
    return []


def _in_output(found: Diagnostic) -> Diagnostic:
    if found.code not in STATIC:
        return replace(found, severity=Severity.WARNING)
    # an unknown resource is a fault of the reference in a resource, of the value in an output
    wrong_value = found.error_type == INVALID_REFERENCE
    return replace(found, error_type=VALIDATION_FAILED) if wrong_value else found
