"""Errors in AWS's envelope, as the interfaces that clients of AWS use answer them."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from starlette.responses import Response

from stoker.kernel.diagnostics import DiagnosticError, type_of
from stoker.kernel.errors import (
    ACCESS_DENIED,
    ACTION_IN_PROGRESS,
    FORBIDDEN,
    HTTP_NOT_FOUND,
    INCOMPLETE_SIGNATURE,
    INVALID_ACTION,
    INVALID_COMBINATION,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    MISSING_PARAMETER,
    NOT_SIGNED,
    STACK_EXISTS,
    UNAVAILABLE,
    UNKNOWN_ACCESS_KEY,
    WRONG_SIGNATURE,
    ErrorType,
    Refused,
)

XML = "application/xml; charset=UTF-8"

_CODES: Mapping[ErrorType, ErrorType] = {
    ACTION_IN_PROGRESS: ErrorType("InvalidAction", 400),
    FORBIDDEN: ACCESS_DENIED,
    HTTP_NOT_FOUND: ErrorType("InvalidAction", 404),
    METHOD_NOT_ALLOWED: ErrorType("InvalidAction", 405),
    STACK_EXISTS: ErrorType("AlreadyExists", 400),
}
"""AWS's codes for errors that it has under another name."""
_OF_AWS = (
    ACCESS_DENIED, INCOMPLETE_SIGNATURE, INVALID_ACTION, INVALID_COMBINATION, LIMIT_EXCEEDED,
    MISSING_PARAMETER, NOT_SIGNED, UNAVAILABLE, UNKNOWN_ACCESS_KEY, WRONG_SIGNATURE,
)  # fmt: skip
_INVALID = ErrorType("InvalidParameterValue", 400)
_FAILED = ErrorType("InternalFailure", 500)


def error_answer(error: Exception) -> Response:
    """The answer to a request that ended with ``error``."""
    code = _code_of(error)
    kind = "Server" if code.status >= 500 else "Sender"
    message = escape(_message_of(error))
    content = (
        f"<ErrorResponse><Error><Type>{kind}</Type><Code>{code.name}</Code>"
        f"<Message>{message}</Message></Error></ErrorResponse>"
    )
    return Response(content, code.status, headers={"Content-Type": XML})


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
