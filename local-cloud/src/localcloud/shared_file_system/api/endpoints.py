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
from localcloud.shared_file_system.api.call import endpoint_route
from localcloud.shared_file_system.service import SharedFileSystems

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
    """Return the routes of all endpoints; this module is loaded when they are first asked for."""
    return [endpoint_route(endpoint, service) for endpoint in ENDPOINTS]
