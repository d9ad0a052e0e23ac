"""Answers of the signal endpoint: XML in AWS's envelope, or JSON of the same structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from starlette.responses import Response

from stoker.kernel.diagnostics import DiagnosticError, type_of
from stoker.kernel.errors import (
    ACCESS_DENIED,
    ACTION_IN_PROGRESS,
    FORBIDDEN,
    HTTP_NOT_FOUND,
    INCOMPLETE_SIGNATURE,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    NOT_SIGNED,
    UNAVAILABLE,
    UNKNOWN_ACCESS_KEY,
    WRONG_SIGNATURE,
    ErrorType,
    Refused,
)

_XML = "application/xml; charset=UTF-8"

_CODES: Mapping[ErrorType, ErrorType] = {
    ACTION_IN_PROGRESS: ErrorType("InvalidAction", 400),
    FORBIDDEN: ACCESS_DENIED,
    HTTP_NOT_FOUND: ErrorType("InvalidAction", 404),
    METHOD_NOT_ALLOWED: ErrorType("InvalidAction", 405),
}
"""AWS's codes for errors that it has under another name."""
_OF_AWS = (
    ACCESS_DENIED, INCOMPLETE_SIGNATURE, LIMIT_EXCEEDED, NOT_SIGNED, UNAVAILABLE,
    UNKNOWN_ACCESS_KEY, WRONG_SIGNATURE,
)  # fmt: skip
_INVALID = ErrorType("InvalidParameterValue", 400)
_FAILED = ErrorType("InternalFailure", 500)


def resource_answer(name: str, metadata: Mapping[str, Any], *, as_json: bool) -> Response:
    """The answer to a signal of a wait condition: the resource that was signalled."""
    if as_json:
        content = json.dumps({"resource": name, "metadata": dict(metadata)})
        return Response(content, media_type="application/json")
    return Response(f"<resource>{escape(name)}</resource>", headers={"Content-Type": _XML})


def error_answer(error: Exception) -> Response:
    """The answer to a request that ended with ``error``."""
    code = _code_of(error)
    kind = "Server" if code.status >= 500 else "Sender"
    message = escape(_message_of(error))
    content = (
        f"<ErrorResponse><Error><Type>{kind}</Type><Code>{code.name}</Code>"
        f"<Message>{message}</Message></Error></ErrorResponse>"
    )
    return Response(content, code.status, headers={"Content-Type": _XML})


def _code_of(error: Exception) -> ErrorType:
    known = type_of(error)
    if known is None:
        return _FAILED
    return known if known in _OF_AWS else _CODES.get(known, _INVALID)


def _message_of(error: Exception) -> str:
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, DiagnosticError):
        return str(error)
    return "The service failed to handle the request."
