"""Error responses of the workflow service."""

from starlette.responses import JSONResponse, Response

from localcloud.web.http import ApiError, BadRequestError, ConflictError, NotFoundError

_SERVER = 500


def mistral_error(error: ApiError, request_id: str) -> Response:
    """Return an error response that names the party at fault and the reason."""
    fault = "Client" if error.status < _SERVER else "Server"
    body = {"faultcode": fault, "faultstring": error.message, "debuginfo": None}
    return JSONResponse(body, error.status, error.headers)


def invalid_language(message: str) -> BadRequestError:
    """Return the error for a document that violates the language."""
    return BadRequestError(f"Invalid DSL: {message}")


def invalid_input(name: str, missing: list[str], unexpected: list[str]) -> BadRequestError:
    """Return the error for missing or unexpected input of a workflow or action."""
    parts = [f"name={name}"]
    parts += [f"missing={missing}"] if missing else []
    parts += [f"unexpected={unexpected}"] if unexpected else []
    return BadRequestError(f"Invalid input [{', '.join(parts)}]")


def duplicate(kind: str, name: str) -> ConflictError:
    """Return the error for a name that is taken."""
    return ConflictError(f"Duplicate entry for {kind} ['name', 'project_id']: {name}")


def not_found(kind: str, what: str) -> NotFoundError:
    """Return the error for an object that does not exist, or is not the caller's."""
    return NotFoundError(f"{kind} not found [{what}]")
