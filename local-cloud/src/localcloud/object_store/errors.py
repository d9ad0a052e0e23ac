"""Errors as the object storage API shows them: a page of HTML, or a sentence."""

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import HTMLResponse, PlainTextResponse, Response

from localcloud.web.http import ApiError

_TEXTS = {
    202: "The request is accepted for processing.",
    400: "The server could not comply with the request since it is either malformed or otherwise"
    " incorrect.",
    401: "This server could not verify that you are authorized to access the document you"
    " requested.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    405: "The method is not allowed for this resource.",
    406: "The resource is not available in a format acceptable to your browser.",
    409: "There was a conflict when trying to complete your request.",
    411: "Content-Length header required.",
    412: "A precondition for this request was not met.",
    413: "The body of your request was too large for this server.",
    416: "The Range requested is not available.",
    422: "Unable to process the contained instructions",
    500: "The server has either erred or is incapable of performing the requested operation.",
    507: "There was not enough space to save the resource.",
}
_TITLES = {
    416: "Requested Range Not Satisfiable",
    500: "Internal Error",
    413: "Request Entity Too Large",
}


class ObjectStoreError(ApiError):
    """A request that is refused: with a sentence, or with the page of its status."""

    def __init__(
        self, status: int, message: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message, status=status, headers=dict(headers or {}))


def page(status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer that has nothing to say but its status."""
    if status == HTTPStatus.NOT_MODIFIED:
        return Response(status_code=status, headers=headers)
    text = f"<html><h1>{title(status)}</h1><p>{_TEXTS.get(status, '')}</p></html>"
    return HTMLResponse(text, status, headers)


def title(status: int) -> str:
    """Return the title of a status."""
    return _TITLES.get(status) or HTTPStatus(status).phrase


def swift_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the object storage API shows it."""
    headers = {**error.headers, "X-Trans-Id": transaction(request_id)}
    if isinstance(error, ObjectStoreError) and error.message:
        return PlainTextResponse(error.message, error.status, headers)
    return page(error.status, headers)


def transaction(request_id: str) -> str:
    """Return a request id as Swift and its clients name it."""
    return "tx" + request_id.removeprefix("req-").replace("-", "")
