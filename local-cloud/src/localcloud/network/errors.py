"""The errors of the network API under the type names that clients know."""

from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
)

# Kinds in the names of error types, where it is not just their words put together.
_NAMES = {"floatingip": "FloatingIP", "subnetpool": "SubnetPool"}
# What the network service says of a missing object, where it is not the usual sentence.
_MISSING = {
    "router": "Router {} could not be found",
    "floatingip": "Floating IP {} could not be found",
    "security_group": "Security group {} does not exist",
    "security_group_rule": "Security group rule {} does not exist",
    "subnetpool": "Subnet pool {} could not be found.",
}


def not_found(kind: str, object_id: str) -> ApiError:
    """Return the 404 for an object that is not there, or that the caller may not see."""
    words = _MISSING.get(kind) or f"{kind.replace('_', ' ').capitalize()} {{}} could not be found."
    name = _NAMES.get(kind) or kind.title().replace("_", "")
    return NotFoundError(words.format(object_id), type=f"{name}NotFound")


def invalid(message: str) -> ApiError:
    """Return the 400 for a value that makes no sense."""
    return BadRequestError(f"Invalid input for operation: {message}", type="InvalidInput")


def malformed(message: str) -> ApiError:
    """Return the 400 for a body or a query that is not understood."""
    return BadRequestError(message, type="HTTPBadRequest")


def bad_request(message: str, type_name: str = "BadRequest") -> ApiError:
    """Return the 400 with the given type name."""
    return BadRequestError(message, type=type_name)


def conflict(type_name: str, message: str) -> ApiError:
    """Return the 409 with the given type name."""
    return ConflictError(message, type=type_name)


def denied(action: str) -> ApiError:
    """Return the 403 for an action that the caller's roles do not allow."""
    whole, _, _ = action.partition(":")
    rule = f"rule:{action}" if whole == action else f"(rule:{whole} and rule:{action})"
    return ForbiddenError(f"{rule} is disallowed by policy", type="PolicyNotAuthorized")


def bad_router(message: str) -> ApiError:
    """Return the 400 for an impossible change of a router."""
    return BadRequestError(f"Bad router request: {message}", type="BadRequest")


def bad_floating_ip(message: str) -> ApiError:
    """Return the 400 for an impossible change of a floating IP."""
    return BadRequestError(f"Bad floatingip request: {message}", type="BadRequest")


def over_quota(kinds: str) -> ApiError:
    """Return the 409 for a project that has as much as it may have."""
    return ConflictError(f"Quota exceeded for resources: ['{kinds}'].", type="OverQuota")
