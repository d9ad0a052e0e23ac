"""All requests of the load balancing API; literal paths come before those with variables."""

from starlette.routing import Route

from localcloud.load_balancer.api import choices, load_balancers, parts, quotas
from localcloud.load_balancer.api.call import Call
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.web.api_request import routes_of

ENDPOINTS = (
    *load_balancers.ENDPOINTS,
    *parts.ENDPOINTS,
    *choices.ENDPOINTS,
    *quotas.ENDPOINTS,
)


def routes(service: LoadBalancingService) -> list[Route]:
    """Return the routes of all endpoints."""
    return routes_of(Call, ENDPOINTS, service)
