"""The errors of the load balancing API, in the words that clients know."""

from typing import Any

from starlette.responses import JSONResponse, Response

from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
)


def octavia_error(error: ApiError, request_id: str) -> Response:
    """Return an error as the load balancing API shows it."""
    side = "Client" if error.status < 500 else "Server"
    body = {"faultcode": side, "faultstring": error.message, "debuginfo": None}
    return JSONResponse(body, error.status, error.headers)


def not_found(words: str, object_id: str) -> ApiError:
    """Return the 404 for an object in the path."""
    return NotFoundError(f"{words} {object_id} not found.")


def no_such(words: str, object_id: str) -> ApiError:
    """Return the 400 for a missing object in the body."""
    return BadRequestError(f"{words} {object_id} not found.")


def invalid(detail: str) -> ApiError:
    """Return the 400 for values that do not go together."""
    return BadRequestError(f"Validation failure: {detail}")


def bad_option(value: Any, option: str) -> ApiError:
    """Return the 400 for a value that an option cannot have."""
    return BadRequestError(f"{value} is not a valid option for {option}")


def bad_field(name: str, value: Any, reason: str) -> ApiError:
    """Return the 400 for one invalid field."""
    return BadRequestError(
        f"Invalid input for field/attribute {name}. Value: '{str(value)[:200]}'. {reason}"
    )


def immutable(words: str, object_id: str) -> ApiError:
    """Return the 409 for an object with a change in progress."""
    return ConflictError(f"{words} {object_id} is immutable and cannot be updated.")


def forbidden() -> ApiError:
    """Return the 403 for a caller without permission."""
    return ForbiddenError("Policy does not allow this request to be performed.")


def over_quota(words: str) -> ApiError:
    """Return the 403 for a project that has as much as it may have."""
    return ForbiddenError(f"Quota has been met for resources: {words}")
