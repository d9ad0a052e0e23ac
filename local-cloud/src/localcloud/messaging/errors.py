"""Errors as the messaging service shows them: a title and a description."""

from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError


class MessagingError(ApiError):
    """A request that is refused."""

    def __init__(self, status: int, title: str, message: str) -> None:
        super().__init__(message, status=status)
        self.title = title


def bad_request(message: str) -> MessagingError:
    """Return the error for an invalid request."""
    return MessagingError(400, "Invalid API request", message)


def bad_body(message: str) -> MessagingError:
    """Return the error for a body that cannot be understood."""
    return MessagingError(400, "Invalid request body", message)


def not_found(message: str) -> MessagingError:
    """Return the error for a missing object."""
    return MessagingError(404, "Not found", message)


def conflict(message: str) -> MessagingError:
    """Return the error for a name that is taken, or for a change of a missing object."""
    return MessagingError(409, "Resource conflict", message)


def unavailable(message: str) -> MessagingError:
    """Return the error for an operation that is not possible now."""
    retry = "Please try again in a few seconds."
    return MessagingError(503, "Service temporarily unavailable", f"{message} {retry}")


def zaqar_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the messaging service shows it."""
    title = error.title if isinstance(error, MessagingError) else HTTPStatus(error.status).phrase
    body = {"title": title, "description": error.message}
    return JSONResponse(body, error.status, error.headers)
