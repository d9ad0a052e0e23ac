"""Answers of the signal endpoint: XML in AWS's envelope, or JSON of the same structure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from starlette.responses import Response

from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import Refused

_XML = "application/xml; charset=UTF-8"

_CODES: Mapping[str, tuple[str, int]] = {
    "AccessDenied": ("AccessDenied", 403),
    "ActionInProgress": ("InvalidAction", 400),
    "Forbidden": ("AccessDenied", 403),
    "HTTPMethodNotAllowed": ("InvalidAction", 405),
    "HTTPNotFound": ("InvalidAction", 404),
    "IncompleteSignature": ("IncompleteSignature", 400),
    "InvalidClientTokenId": ("InvalidClientTokenId", 403),
    "InvalidTenant": ("AccessDenied", 403),
    "MissingAuthenticationToken": ("MissingAuthenticationToken", 403),
    "RequestLimitExceeded": ("RequestLimitExceeded", 400),
    "ServiceUnavailable": ("ServiceUnavailable", 503),
    "SignatureDoesNotMatch": ("SignatureDoesNotMatch", 403),
    "StackExists": ("AlreadyExists", 400),
}
_INVALID = ("InvalidParameterValue", 400)
_FAILED = ("InternalFailure", 500)


def resource_answer(name: str, metadata: Mapping[str, Any], *, as_json: bool) -> Response:
    """The answer to a signal of a wait condition: the resource that was signalled."""
    if as_json:
        content = json.dumps({"resource": name, "metadata": dict(metadata)})
        return Response(content, media_type="application/json")
    return Response(f"<resource>{escape(name)}</resource>", headers={"Content-Type": _XML})


def error_answer(error: Exception) -> Response:
    """The answer to a request that ended with ``error``."""
    code, status = _code_of(error)
    kind = "Server" if status >= 500 else "Sender"
    message = escape(_message_of(error))
    content = (
        f"<ErrorResponse><Error><Type>{kind}</Type><Code>{code}</Code>"
        f"<Message>{message}</Message></Error></ErrorResponse>"
    )
    return Response(content, status, headers={"Content-Type": _XML})


def _code_of(error: Exception) -> tuple[str, int]:
    if isinstance(error, DiagnosticError):
        return _CODES.get(error.first.error_type, _INVALID)
    if isinstance(error, Refused):
        return _CODES.get(error.error_type, _INVALID)
    return _FAILED


def _message_of(error: Exception) -> str:
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, DiagnosticError):
        return str(error)
    return "The service failed to handle the request."
