"""All requests of the metric API."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.metrics.aggregates import BINARY, UNARY
from localcloud.metrics.api.aggregates import Aggregates
from localcloud.metrics.api.archive_policies import Administration
from localcloud.metrics.api.metrics import MetricRequests
from localcloud.metrics.api.resources import Resources
from localcloud.metrics.instance import Metrics
from localcloud.metrics.model.series import METHODS
from localcloud.web.http import ForbiddenError, context, fixed, route


def routes(metrics: Metrics) -> list[BaseRoute]:
    """Return the routes."""
    dynamic = sorted({*UNARY, *BINARY, "aggregate", "resample", "rolling"})
    capabilities = {
        "aggregation_methods": sorted(METHODS),
        "dynamic_aggregation_methods": dynamic,
    }

    async def status(request: Request) -> Document:
        if not context(request).is_admin:
            raise ForbiddenError("Insufficient privileges")
        return {
            "storage": {"summary": {"metrics": 0, "measures": 0}},
            "metricd": {"processors": []},
        }

    return [
        route("GET", "/v1/capabilities", fixed(capabilities)),
        route("GET", "/v1/status", status),
        *Administration(metrics.state).routes(),
        *Resources(metrics).routes(),
        *MetricRequests(metrics).routes(),
        *Aggregates(metrics).routes(),
    ]
