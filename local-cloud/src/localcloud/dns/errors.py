"""Errors as the DNS service shows them: a code, a type, a message and the id of the request."""

from collections.abc import Sequence
from typing import Any

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError


class DnsError(ApiError):
    """An error of a type that clients know."""

    def __init__(
        self, status: int, kind: str, message: str, errors: Sequence[dict[str, Any]] = ()
    ) -> None:
        super().__init__(message, status=status, type=kind)
        self.errors = errors


def bad_request(message: str, kind: str = "bad_request") -> DnsError:
    """Return the error for an invalid request."""
    return DnsError(400, kind, message)


def invalid(path: Sequence[str | int], message: str) -> DnsError:
    """Return the error for an invalid field."""
    errors = [{"path": list(path), "message": message}]
    return DnsError(400, "invalid_object", "Provided object does not match schema", errors)


def designate_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the DNS service shows it."""
    kind = error.type if isinstance(error, DnsError) else _KINDS.get(error.status, "unknown")
    body = {
        "code": error.status,
        "type": kind,
        "message": error.message,
        "request_id": request_id,
    }
    if isinstance(error, DnsError) and error.errors:
        body["errors"] = {"errors": list(error.errors)}
    return JSONResponse(body, error.status, error.headers)


_KINDS = {400: "bad_request", 403: "forbidden", 404: "not_found", 405: "method_not_allowed"}
