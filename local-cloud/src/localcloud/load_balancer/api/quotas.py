"""The API of quotas."""

from localcloud.core.store import Document
from localcloud.load_balancer.api.call import Call
from localcloud.load_balancer.errors import bad_field, forbidden
from localcloud.load_balancer.model import quotas
from localcloud.network.model import checks
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError
from localcloud.web.permissions import Access

# Names of the API, and those that it had first and still understands.
_OTHER_NAMES = {"loadbalancer": "load_balancer", "healthmonitor": "health_monitor"}
_CHECK = checks.integer(-1, 2**31 - 1)


def _shown(limits: dict[str, int]) -> Document:
    return {**limits, **{new: limits[old] for new, old in _OTHER_NAMES.items()}}


def _project(call: Call) -> str:
    project = call.argument("id")
    if not call.context.is_admin and project != call.context.project_id:
        raise forbidden()
    return project


async def listed(call: Call) -> Document:
    """Return the quotas that differ from the default ones."""
    who = call.context
    found = [
        {"project_id": own["id"], **_shown(quotas.limits(call.state, own["id"]))}
        for own in call.state.quotas.values()
        if who.is_admin or own["id"] == who.project_id
    ]
    return {"quotas": found, "quotas_links": []}


async def show(call: Call) -> Document:
    """Return the quotas of a project."""
    return {"quota": _shown(quotas.limits(call.state, _project(call)))}


async def defaults(call: Call) -> Document:
    """Return the quotas of projects that have none of their own."""
    return {"quota": _shown(quotas.DEFAULTS)}


async def change(call: Call) -> Document:
    """Change quotas of a project."""
    project, given = _project(call), call.wrapped("quota")
    if not isinstance(given, dict):
        raise bad_field("quota", given, "It must be an object.")
    found: dict[str, int | None] = {}
    for name, value in given.items():
        known = _OTHER_NAMES.get(name, name)
        if known not in quotas.DEFAULTS:
            raise BadRequestError(f"Unknown attribute: {name}")
        try:
            found[known] = None if value is None else _CHECK(value)
        except ValueError as error:
            raise bad_field(name, value, f"{error}.") from None
    own = {**(call.state.quotas.get(project) or {}), **found, "id": project}
    own_quotas = {name: value for name, value in own.items() if value is not None}
    call.state.quotas.put(own_quotas)
    return {"quota": _shown(quotas.limits(call.state, project))}


async def reset(call: Call) -> None:
    """Give a project the default quotas."""
    call.state.quotas.delete(_project(call))


_ONE = "/lbaas/quotas/{id}"
ENDPOINTS = (
    Endpoint("GET", "/lbaas/quotas", listed),
    Endpoint("GET", "/lbaas/quotas/defaults", defaults),
    Endpoint("GET", f"{_ONE}/default", defaults),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change, Access.ADMIN, status=202),
    Endpoint("DELETE", _ONE, reset, Access.ADMIN, status=202),
)
