"""Errors as the alarm service shows them."""

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError, BadRequestError, NotFoundError

_SERVER = 500


def invalid(name: str, value: object, reason: str) -> BadRequestError:
    """Return the error for a field with an invalid value."""
    message = f"Invalid input for field/attribute {name}. Value: '{str(value)[:200]}'. {reason}"
    return BadRequestError(message)


def not_found(alarm_id: str) -> NotFoundError:
    """Return the error for an alarm that is not there, or not the caller's."""
    return NotFoundError(f"Alarm {alarm_id} not found")


def aodh_error(error: ApiError, request_id: str) -> Response:
    """Return an error with who is at fault, and why."""
    fault = "Client" if error.status < _SERVER else "Server"
    message = {"debuginfo": None, "faultcode": fault, "faultstring": error.message}
    return JSONResponse({"error_message": message}, error.status, error.headers)
