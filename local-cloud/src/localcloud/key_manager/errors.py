"""Errors as the key manager shows them."""

from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError


class KeyManagerError(ApiError):
    """An invalid part of a request. The message names the operation."""

    def __init__(self, status: int, operation: str, reason: str) -> None:
        super().__init__(f"{operation} issue seen - {reason}.", status=status)


def barbican_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the key manager shows it."""
    title = HTTPStatus(error.status).phrase
    body = {"code": error.status, "title": title, "description": error.message}
    return JSONResponse(body, error.status, error.headers)
