"""Responses for all errors.

Clients distinguish errors by status and ``error.type``. The body has the shape that clients know,
and one more field: ``error.diagnostics``, all findings with their positions.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import json_response
from stoker.kernel.diagnostics import (
    MORE_DIAGNOSTICS,
    Diagnostic,
    DiagnosticError,
    format_path,
    type_of,
)
from stoker.kernel.errors import (
    BAD_REQUEST,
    HTTP_FORBIDDEN,
    HTTP_NOT_FOUND,
    METHOD_NOT_ALLOWED,
    ForbiddenError,
    NotFoundError,
    RequestError,
    ValidationError,
)
from stoker.kernel.values import replace
from stoker.template.functions.registry import NAMES

# Explanation in every fault, by status.
EXPLANATIONS: Mapping[int, str] = {
    400: "The request is malformed or asks for something that cannot be done.",
    403: "The request is not allowed with these credentials.",
    404: "What the request names does not exist here.",
    405: "This address does not take requests with this method.",
    409: "The request conflicts with the present state.",
    500: "The service failed to handle the request; the fault is not in the request.",
    503: "The service, or one that it depends on, does not answer at present.",
}


class Finding(TypedDict):
    """A fault of a document, with its position."""

    severity: str
    code: str
    message: str
    path: str
    file: str | None
    line: int | None
    column: int | None
    suggestion: str | None


class FaultDetail(TypedDict):
    """An error; without a message for internal ones."""

    type: str
    message: NotRequired[str]
    diagnostics: NotRequired[list[Finding]]
    traceback: str | None


class Fault(TypedDict):
    """The response to a request that was rejected."""

    code: int
    title: str
    explanation: str
    error: FaultDetail


def bad_request(message: str) -> RequestError:
    """Return the error (400) for a malformed request, before the engine gets it."""
    return ValidationError(message, BAD_REQUEST)


def not_found(message: str) -> RequestError:
    """Return the error (404) for an address whose last part does not exist."""
    return NotFoundError(message, HTTP_NOT_FOUND)


def forbidden(message: str) -> RequestError:
    """Return the error (403) for an address outside the caller's project."""
    return ForbiddenError(message, HTTP_FORBIDDEN)


def method_not_allowed(method: str, allowed: str) -> RequestError:
    """Return the error (405) for a method."""
    return RequestError(f"{method} is not possible here, only {allowed}.", METHOD_NOT_ALLOWED)


_RESOURCES = ("resources", "Resources")
_PROPERTIES = ("properties", "Properties")
_PROPERTY = 3  # parts of the shortest path to the properties of a resource
# Findings on an undeclared name; their paths end with it.
_UNKNOWN = ("unknown-property", "unknown-key")

_MOST_FINDINGS = 100  # limit on findings in one response


def answer(error: Exception, *, debug: bool = False) -> Response:
    """Return the response to a request that ended with ``error``."""
    kind = type_of(error)
    status = kind.status if kind else 500
    name = kind.name if kind else type(error).__name__
    detail: FaultDetail = {"type": name, "traceback": None}
    if isinstance(error, DiagnosticError):
        lines = [_line(d) for d in _errors(error)]
        if len(lines) > _MOST_FINDINGS:
            counted = (d.message for d in error.diagnostics if d.code == MORE_DIAGNOSTICS)
            lines[_MOST_FINDINGS:] = [next(counted, f"and {len(lines) - _MOST_FINDINGS} more")]
        detail["message"] = "\n".join(lines) or str(error)
        detail["diagnostics"] = findings(error.diagnostics[:_MOST_FINDINGS])
    elif isinstance(error, RequestError):
        detail["message"] = error.message
        detail["diagnostics"] = []
    if debug:
        detail["traceback"] = "".join(traceback.format_exception(error))
    body: Fault = {
        "code": status,
        "title": HTTPStatus(status).phrase,
        "explanation": EXPLANATIONS[status],
        "error": detail,
    }
    return json_response(body, status)


def findings(diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    """Return findings in the API's form."""
    return [_finding(diagnostic) for diagnostic in diagnostics]


def _errors(error: DiagnosticError) -> list[Diagnostic]:
    return [d for d in error.diagnostics if d.severity == "error"]


def _line(diagnostic: Diagnostic) -> str:
    """Return a finding as a line of text; one about a property has a form that programs parse."""
    path = diagnostic.path
    if diagnostic.code in _UNKNOWN:
        path = path[:-1]  # the message has the name
    if len(path) < _PROPERTY or path[0] not in _RESOURCES or path[2] not in _PROPERTIES:
        return str(diagnostic)
    if path[-1] in NAMES:
        path = path[:-1]  # programs expect only the property
    place, inside = format_path(path), ""
    if diagnostic.above:
        # Heat names the resources that lead to a nested template, and not the property.
        above = "".join(f"resources.{each}." for each in diagnostic.above)
        place, inside = above + format_path(path[:2]), f" (at {format_path(path[2:])})"
    message = f"Property error: : {place}: : {diagnostic.message}{inside}"
    return str(replace(diagnostic, path=(), message=message))


def _finding(diagnostic: Diagnostic) -> Finding:
    position = diagnostic.position
    return {
        "severity": str(diagnostic.severity),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "path": diagnostic.place,
        "file": position.file if position and position.file else diagnostic.file,
        "line": position.line if position else None,
        "column": position.column if position else None,
        "suggestion": diagnostic.suggestion,
    }
