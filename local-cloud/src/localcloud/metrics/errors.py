"""Errors as the metric service shows them."""

from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError, BadRequestError, NotFoundError


def invalid(message: str) -> BadRequestError:
    """Return the error for an unintelligible value."""
    return BadRequestError(f"Invalid input: {message}")


def missing(word: str, key: str) -> NotFoundError:
    """Return the error for an object that is missing or not visible."""
    return NotFoundError(f"{word} {key} does not exist")


def gnocchi_error(error: ApiError, request_id: str) -> Response:
    """Return an error with code, title and description."""
    title = HTTPStatus(error.status).phrase
    body = {"code": error.status, "title": title, "description": error.message}
    return JSONResponse(body, error.status, error.headers)
