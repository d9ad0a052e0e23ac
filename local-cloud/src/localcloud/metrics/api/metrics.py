"""The requests on metrics and their measures."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.metrics.aggregates import rows
from localcloud.metrics.api import call, views
from localcloud.metrics.api.resources import metric_of
from localcloud.metrics.errors import invalid
from localcloud.metrics.instance import Metrics
from localcloud.metrics.model import creation, times
from localcloud.metrics.model.series import reduced
from localcloud.metrics.model.state import changes
from localcloud.web.http import Answer, BadRequestError, ForbiddenError, context, route

_MOST_IN_BATCH = 1000


class MetricRequests:
    """The requests on metrics, by their ids and as parts of resources."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._state = metrics.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        routes: list[BaseRoute] = [
            route("GET", "/v1/metric", self._list),
            route("POST", "/v1/metric", self._add, 201),
            route("POST", "/v1/batch/metrics/measures", self._add_batch),
            route("POST", "/v1/batch/resources/metrics/measures", self._add_batch_by_name),
        ]
        for one in ("/v1/metric/{metric}", "/v1/resource/{type}/{id}/metric/{metric}"):
            routes += [
                route("GET", one, self._show),
                route("DELETE", one, self._remove),
                route("GET", f"{one}/measures", self._measures),
                route("POST", f"{one}/measures", self._add_measures),
            ]
        return routes

    async def _list(self, request: Request) -> Answer:
        found = self._state.all_metrics(context(request))
        return views.page(request, [views.metric(self._state, each) for each in found])

    async def _add(self, request: Request) -> Document:
        given = await call.body(request)
        return views.new_metric(creation.add_metric(self._state, context(request), given))

    async def _show(self, request: Request) -> Document:
        found = self._found(request)
        shown = views.metric(self._state, found)
        del shown["resource_id"]
        owner = found["resource_id"]
        if owner is not None:
            resource = self._state.resource(context(request), "generic", owner)
            shown["resource"] = views.resource(self._state, resource)
        return {"resource": None, **shown}

    async def _remove(self, request: Request) -> None:
        self._state.remove_metric(self._own(request, self._found(request)))

    async def _measures(self, request: Request) -> Answer:
        self._state.sampler.wake()
        query = request.query_params
        method = query.get("aggregation", "mean")
        span, seconds = call.span(self._state, request), call.granularity(request)
        found = self._state.points(self._found(request), method, span, seconds)
        resample = query.get("resample")
        if resample and found:
            length = times.length(resample)
            finest = sorted(found[min(found)].items())
            found = {length: reduced(finest, method.removeprefix("rate:"), length, span)}
        return JSONResponse(rows(found, times.shown))

    async def _add_measures(self, request: Request) -> Response:
        given = await call.body(request, list)
        self._add_to(request, self._found(request), given)
        return Response(status_code=202)

    async def _add_batch(self, request: Request) -> Response:
        given = await call.body(request)
        who = context(request)
        found = [(self._state.metric(who, key), list_) for key, list_ in self._few(given)]
        self._add_all(request, found)
        return Response(status_code=202)

    async def _add_batch_by_name(self, request: Request) -> Response:
        given, who = await call.body(request), context(request)
        create = request.query_params.get("create_metrics", "").lower() in ("true", "1", "yes")
        found = []
        for key, by_name in self._few(given):
            resource = self._state.resource(who, "generic", key)
            if not isinstance(by_name, dict):
                raise invalid("each resource needs an object of metrics")
            have = self._state.metrics_of(resource)
            for name, measures in self._few(by_name):
                if name not in have and create and changes(who, resource):
                    made = creation.add_metric(self._state, who, {"name": name}, resource["id"])
                    have = {**have, name: made}
                if name not in have:
                    raise BadRequestError(f"Unknown metrics: {name[:100]}")
                found.append((have[name], _listed(measures)))
        self._add_all(request, found)
        return Response(status_code=202)

    def _few(self, given: Document) -> list[tuple[str, object]]:
        if len(given) > _MOST_IN_BATCH:
            raise invalid(f"a batch has at most {_MOST_IN_BATCH} entries")
        return list(given.items())

    def _add_all(self, request: Request, found: list[tuple[Document, object]]) -> None:
        with self._state.cloud.store.transaction():
            for metric, measures in found:
                self._add_to(request, metric, _listed(measures))

    def _add_to(self, request: Request, metric: Document, measures: object) -> None:
        own = self._own(request, metric)
        self._state.add_measures(own, call.measures(self._state, measures))

    def _found(self, request: Request) -> Document:
        if "type" in request.path_params:
            return metric_of(self._metrics, request)
        return self._state.metric(context(request), request.path_params["metric"])

    def _own(self, request: Request, metric: Document) -> Document:
        if not changes(context(request), metric):
            raise ForbiddenError("Insufficient privileges")
        return metric


def _listed(measures: object) -> object:
    """Return the measures in an object that also has the policy of a new metric."""
    return measures.get("measures") if isinstance(measures, dict) else measures
