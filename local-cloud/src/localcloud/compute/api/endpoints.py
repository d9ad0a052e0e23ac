"""All endpoints of the compute API."""

from starlette.routing import Route

from localcloud.compute.api import (
    administration,
    aggregates,
    attachments,
    flavors,
    instance_actions,
    keypairs,
    quotas,
    server_actions,
    server_details,
    server_groups,
    servers,
)
from localcloud.compute.api.call import Call
from localcloud.compute.service import ComputeService
from localcloud.web.api_request import Endpoint, routes_of

# In the order in which paths are tried.
ENDPOINTS: tuple[Endpoint, ...] = (
    *servers.ENDPOINTS,
    *server_actions.ENDPOINTS,
    *server_details.ENDPOINTS,
    *attachments.ENDPOINTS,
    *instance_actions.ENDPOINTS,
    *server_groups.ENDPOINTS,
    *flavors.ENDPOINTS,
    *keypairs.ENDPOINTS,
    *quotas.ENDPOINTS,
    *administration.ENDPOINTS,
    *aggregates.ENDPOINTS,
)


def routes(service: ComputeService) -> list[Route]:
    """Return the routes of all endpoints."""
    return routes_of(Call, ENDPOINTS, service)
