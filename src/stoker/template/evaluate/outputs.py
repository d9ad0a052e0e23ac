"""Outputs: their values, and their validation."""

from __future__ import annotations

from dataclasses import replace

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.kernel.errors import INVALID_REFERENCE, VALIDATION_FAILED, ErrorType
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
        path = (*body.path, scope.version.dialect.value)
        return [
            replace(d, error_type=_as_output(d.error_type))
            if d.code in STATIC
            else replace(d, severity=Severity.WARNING)
            for d in failure.inside(*path).diagnostics
        ]
    return []


def _as_output(error_type: ErrorType) -> ErrorType:
    """An unknown resource is a fault of the reference in a resource, of the value in an output."""
    return VALIDATION_FAILED if error_type == INVALID_REFERENCE else error_type
