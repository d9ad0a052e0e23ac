"""Outputs: their values, and their validation."""

from __future__ import annotations

from collections.abc import Iterable

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.kernel.errors import INVALID_REFERENCE, VALIDATION_FAILED
from stoker.kernel.values import replace
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Output
from stoker.template.document import OutputBody
from stoker.template.evaluate.validation import STATIC
from stoker.template.functions.budget import check_size
from stoker.template.functions.failure import FunctionError
from stoker.template.functions.scope import Scope


def output(body: OutputBody, scope: Scope) -> Output:
    """Return an output with its value, or with the error; the value is None while unknown."""
    description = body.description if isinstance(body.description, str) else ""
    try:
        value = scope.resolve(body.value)
        check_size(value)
    except FunctionError as failure:
        error = "; ".join(map(_text_of, failure.diagnostics))
        return Output(body.name, None, description, error)
    export = None if export_diagnostics(body, scope) else _export(body, scope)
    known = unknown_in(value) is None
    return Output(body.name, value if known else None, description, export=export, known=known)


def _export(body: OutputBody, scope: Scope) -> str | None:
    return None if body.export is None else str(scope.resolve(body.export))


def _text_of(diagnostic: Diagnostic) -> str:
    """Return a diagnostic in the words of Heat, which clients match on."""
    # A path that is only the name of a function adds nothing to the message.
    is_function = len(diagnostic.path) == 1 and isinstance(diagnostic.path[0], str)
    return str(replace(diagnostic, suggestion=None, path=() if is_function else diagnostic.path))


def diagnostics_of_output(body: OutputBody, scope: Scope) -> list[Diagnostic]:
    """Return diagnostics about an output; those that depend on values are warnings."""
    try:
        scope.resolve(body.value)
    except FunctionError as failure:
        found = failure.inside(*body.path, scope.version.dialect.value).diagnostics
        return list(map(_in_output, found))
    return []


MAX_EXPORT_CHARACTERS = 255  # of the name; the limit of CloudFormation


def exports_diagnostics(bodies: Iterable[OutputBody], scope: Scope) -> list[Diagnostic]:
    """Return diagnostics about the export names of outputs."""
    found: list[Diagnostic] = []
    names: set[str | None] = set()
    for body in bodies:
        if body.export is None:
            continue
        wrong = export_diagnostics(body, scope)
        name = None if wrong else _export(body, scope)
        if name is not None and name in names:
            path = (*body.path, scope.version.dialect.export, "Name")
            wrong = [Diagnostic("bad-export", f'"{name}" is exported twice', path)]
        names.add(name)
        found += wrong
    return found


def export_diagnostics(body: OutputBody, scope: Scope) -> list[Diagnostic]:
    """Return diagnostics about the export name of an output."""
    if body.export is None:
        return []
    path = (*body.path, scope.version.dialect.export, "Name")
    try:
        name = scope.resolve(body.export)
    except FunctionError as failure:
        return list(failure.inside(*path).diagnostics)
    if not isinstance(name, str) or not 0 < len(name) <= MAX_EXPORT_CHARACTERS or "\0" in name:
        message = (
            f"the name of an export must have 1 to {MAX_EXPORT_CHARACTERS} characters, none of them"
            " NUL, and cannot depend on a resource"
        )
        return [Diagnostic("bad-export", message, path)]
    return []


def _in_output(found: Diagnostic) -> Diagnostic:
    if found.code not in STATIC:
        return replace(found, severity=Severity.WARNING)
    # An unknown resource is an invalid reference in a resource, but an invalid value in an output.
    wrong_value = found.error_type == INVALID_REFERENCE
    return replace(found, error_type=VALIDATION_FAILED) if wrong_value else found
