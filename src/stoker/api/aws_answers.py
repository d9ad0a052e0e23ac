"""Errors in AWS's envelope, for the interfaces that clients of AWS use."""

from __future__ import annotations

import re
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
    INVALID_NEXT_TOKEN,
    INVALID_OPERATION,
    LIMIT_EXCEEDED,
    METHOD_NOT_ALLOWED,
    MISSING_PARAMETER,
    NOT_IMPLEMENTED,
    NOT_SIGNED,
    STACK_EXISTS,
    UNAVAILABLE,
    UNKNOWN_ACCESS_KEY,
    WATCH_NOT_FOUND,
    WRONG_SIGNATURE,
    ErrorType,
    RequestError,
)

XML = "application/xml; charset=UTF-8"
# The header in which AWS clients find the id of their request, to show it with errors.
REQUEST_ID = "x-amzn-RequestId"
_NO_TEXT = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# AWS's codes for errors that have another name at AWS.
_CODES: Mapping[ErrorType, ErrorType] = {
    ACTION_IN_PROGRESS: ErrorType("InvalidAction", 400),
    FORBIDDEN: ACCESS_DENIED,
    HTTP_NOT_FOUND: ErrorType("InvalidAction", 404),
    METHOD_NOT_ALLOWED: ErrorType("InvalidAction", 405),
    STACK_EXISTS: ErrorType("AlreadyExists", 400),
    WATCH_NOT_FOUND: ErrorType("ResourceNotFound", 404),
}
_OF_AWS = (
    ACCESS_DENIED, INCOMPLETE_SIGNATURE, INVALID_ACTION, INVALID_COMBINATION, INVALID_NEXT_TOKEN,
    INVALID_OPERATION, LIMIT_EXCEEDED, MISSING_PARAMETER, NOT_IMPLEMENTED, NOT_SIGNED, UNAVAILABLE,
    UNKNOWN_ACCESS_KEY, WRONG_SIGNATURE,
)  # fmt: skip
_INVALID = ErrorType("InvalidParameterValue", 400)
_FAILED = ErrorType("InternalFailure", 500)


def error_answer(
    error: Exception,
    codes: Mapping[ErrorType, ErrorType] = _CODES,
    invalid: ErrorType = _INVALID,
) -> Response:
    """Return the response to a request that ended with ``error``.

    ``codes`` contains an interface's names for errors, ``invalid`` is the code for all other errors
    of the sender.
    """
    code = code_of(error, codes, invalid)
    message = xml_text(message_of(error))
    content = (
        f"<ErrorResponse><Error><Type>{kind_of(code)}</Type><Code>{code.name}</Code>"
        f"<Message>{message}</Message></Error></ErrorResponse>"
    )
    return Response(content, code.status, headers={"Content-Type": XML})


def xml_text(text: str) -> str:
    """Return a text for XML, which cannot contain most control characters."""
    return _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", escape(text))


def kind_of(code: ErrorType) -> str:
    """Return the side at fault: ``Server`` or ``Sender``."""
    return "Server" if code.status >= 500 else "Sender"


def code_of(
    error: Exception,
    codes: Mapping[ErrorType, ErrorType] = _CODES,
    invalid: ErrorType = _INVALID,
) -> ErrorType:
    """Return AWS's code for an error, with its status; see :func:`error_answer`."""
    known = type_of(error)
    if known is None:
        return _FAILED
    return codes.get(known) or (known if known in _OF_AWS else invalid)


def message_of(error: Exception) -> str:
    """Return the message of an error for users."""
    if isinstance(error, RequestError):
        return error.message
    if isinstance(error, DiagnosticError):
        return str(error)
    return "The service failed to handle the request."
