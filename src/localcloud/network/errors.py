"""The errors of the network API under the type names that clients know."""

from localcloud.http import ApiError, BadRequest, Conflict, Forbidden, NotFound

_NOT_FOUND = {
    "network": "NetworkNotFound",
    "subnet": "SubnetNotFound",
    "port": "PortNotFound",
    "router": "RouterNotFound",
    "floatingip": "FloatingIPNotFound",
    "security_group": "SecurityGroupNotFound",
    "security_group_rule": "SecurityGroupRuleNotFound",
    "subnetpool": "SubnetPoolNotFound",
    "address_scope": "AddressScopeNotFound",
    "address_group": "AddressGroupNotFound",
    "rbac_policy": "RbacPolicyNotFound",
    "agent": "AgentNotFound",
    "extension": "ExtensionNotFound",
    "tag": "TagNotFound",
}


def not_found(kind: str, object_id: str) -> ApiError:
    """Return the 404 for an object that is not there, or that the caller may not see."""
    return NotFound(
        f"No {kind.replace('_', ' ')} {object_id} could be found.", type=_NOT_FOUND[kind]
    )


def invalid(message: str) -> ApiError:
    """Return the 400 for a value that makes no sense."""
    return BadRequest(message, type="InvalidInput")


def malformed(message: str) -> ApiError:
    """Return the 400 for a body or a query that is not understood."""
    return BadRequest(message, type="HTTPBadRequest")


def bad_request(message: str, type_name: str = "BadRequest") -> ApiError:
    """Return the 400 with the given type name."""
    return BadRequest(message, type=type_name)


def conflict(type_name: str, message: str) -> ApiError:
    """Return the 409 with the given type name."""
    return Conflict(message, type=type_name)


def denied(action: str) -> ApiError:
    """Return the 403 for an action that the caller's roles do not allow."""
    return Forbidden(f"The policy does not allow {action}.", type="PolicyNotAuthorized")


def over_quota(kinds: str) -> ApiError:
    """Return the 409 for a project that has as much as it may have."""
    return Conflict(f"Quota exceeded for resources: ['{kinds}'].", type="OverQuota")
