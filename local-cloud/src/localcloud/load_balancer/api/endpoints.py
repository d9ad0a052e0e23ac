"""All requests of the load balancing API; literal paths come before those with variables."""

from starlette.routing import Route

from localcloud.load_balancer.api import choices, load_balancers, parts, quotas
from localcloud.load_balancer.api.call import endpoint_route
from localcloud.load_balancer.service import LoadBalancing

ENDPOINTS = (
    *load_balancers.ENDPOINTS,
    *parts.ENDPOINTS,
    *choices.ENDPOINTS,
    *quotas.ENDPOINTS,
)


def routes(service: LoadBalancing) -> list[Route]:
    """Return the routes of all endpoints; this module is loaded when they are first asked for."""
    return [endpoint_route(endpoint, service) for endpoint in ENDPOINTS]
