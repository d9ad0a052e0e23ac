"""All requests of the API; literal paths come before those with variables."""

from starlette.routing import Route

from localcloud.shared_file_system.api import (
    access,
    actions,
    administration,
    locks,
    networks,
    security_services,
    shares,
    snapshots,
    transfers,
    types,
)
from localcloud.shared_file_system.api.call import Call
from localcloud.shared_file_system.instance import SharedFileSystems
from localcloud.web.api_request import routes_of

ENDPOINTS = (
    *shares.ENDPOINTS,
    *actions.ENDPOINTS,
    *access.ENDPOINTS,
    *snapshots.ENDPOINTS,
    *types.ENDPOINTS,
    *networks.ENDPOINTS,
    *security_services.ENDPOINTS,
    *transfers.ENDPOINTS,
    *locks.ENDPOINTS,
    *administration.ENDPOINTS,
)


def routes(service: SharedFileSystems) -> list[Route]:
    """Return the routes of all endpoints."""
    return routes_of(Call, ENDPOINTS, service)
