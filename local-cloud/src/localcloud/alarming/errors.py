"""Errors as the alarm service shows them."""

from starlette.responses import JSONResponse, Response

from localcloud.http import ApiError, BadRequest, NotFound

_SERVER = 500


def invalid(name: str, value: object, reason: str) -> BadRequest:
    """Return the error for a field that is not what it must be."""
    told = f"Invalid input for field/attribute {name}. Value: '{str(value)[:200]}'. {reason}"
    return BadRequest(told)


def not_found(alarm_id: str) -> NotFound:
    """Return the error for an alarm that is not there, or not the caller's."""
    return NotFound(f"Alarm {alarm_id} not found")


def aodh_error(error: ApiError, request_id: str) -> Response:
    """Return an error with who is at fault, and why."""
    fault = "Client" if error.status < _SERVER else "Server"
    message = {"debuginfo": None, "faultcode": fault, "faultstring": error.message}
    return JSONResponse({"error_message": message}, error.status, error.headers)
