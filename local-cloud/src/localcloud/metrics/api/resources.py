"""The requests on resources and their metrics."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.metrics.api import call, views
from localcloud.metrics.errors import missing
from localcloud.metrics.instance import Metrics
from localcloud.metrics.model import creation
from localcloud.metrics.model.state import changes
from localcloud.web.http import Answer, ForbiddenError, context, route


class Resources:
    """The requests on resources."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._state = metrics.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many, one = "/v1/resource/{type}", "/v1/resource/{type}/{id}"
        return [
            route("GET", "/v1/resource", self._types),
            route("GET", many, self._list),
            route("POST", many, self._add, 201),
            route("DELETE", many, self._remove_found),
            route("GET", one, self._show),
            route("PATCH", one, self._change),
            route("DELETE", one, self._remove),
            route("GET", f"{one}/history", self._history),
            route("GET", f"{one}/metric", self._list_metrics),
            route("POST", f"{one}/metric", self._add_metrics),
            route("POST", "/v1/search/resource/{type}", self._search),
        ]

    async def _types(self, request: Request) -> Document:
        url = f"{self._state.cloud.settings.url}/metric/v1/resource"
        return {name: f"{url}/{name}" for name in self._state.type_names()}

    async def _list(self, request: Request) -> Answer:
        found = self._state.of_type(context(request), request.path_params["type"])
        return views.page(request, [views.resource(self._state, each) for each in found])

    async def _search(self, request: Request) -> Answer:
        query = await call.query_of(request)
        found = self._metrics.found(context(request), request.path_params["type"], query)
        return views.page(request, [views.resource(self._state, each) for each in found])

    async def _add(self, request: Request) -> Answer:
        kind = request.path_params["type"]
        self._state.attributes(kind)
        given = await call.body(request)
        made = creation.add_resource(self._state, context(request), kind, given)
        where = f"{self._state.cloud.settings.url}/metric/v1/resource/{kind}/{made['id']}"
        shown = views.resource(self._state, made)
        return JSONResponse(shown, 201, headers={"Location": where})

    async def _show(self, request: Request) -> Document:
        return views.resource(self._state, self._found(request))

    async def _history(self, request: Request) -> Answer:
        return JSONResponse([views.resource(self._state, self._found(request))])

    async def _change(self, request: Request) -> Document:
        given, found = await call.body(request), self._own(request)
        fields = creation.checked(self._state, found["type"], given)
        changed = {**found, **fields, "revision_start": self._state.cloud.now()}
        with self._state.cloud.store.transaction():
            self._state.resources.put(changed)
            if "metrics" in given:
                new = creation.named(given["metrics"], self._state.metrics_of(found))
                creation.add_metrics(self._state, context(request), changed, new)
        return views.resource(self._state, changed)

    async def _remove(self, request: Request) -> None:
        self._erase(self._own(request))

    async def _remove_found(self, request: Request) -> Document:
        who, kind = context(request), request.path_params["type"]
        found = self._metrics.found(who, kind, await call.query_of(request))
        own = [each for each in found if changes(who, each)]
        with self._state.cloud.store.transaction():
            for each in own:
                self._erase(each)
        return {"deleted": len(own)}

    def _erase(self, found: Document) -> None:
        with self._state.cloud.store.transaction():
            for metric in self._state.metrics_of(found).values():
                self._state.remove_metric(metric)
            self._state.resources.delete(found["id"])

    async def _list_metrics(self, request: Request) -> Answer:
        found = self._state.metrics_of(self._found(request))
        return JSONResponse([views.metric(self._state, each) for each in found.values()])

    async def _add_metrics(self, request: Request) -> Answer:
        given, found = await call.body(request), self._own(request)
        with self._state.cloud.store.transaction():
            made = creation.add_metrics(self._state, context(request), found, given)
        return JSONResponse([views.new_metric(each) for each in made])

    def _found(self, request: Request) -> Document:
        kind, key = request.path_params["type"], request.path_params["id"]
        return self._state.resource(context(request), kind, key)

    def _own(self, request: Request) -> Document:
        found = self._found(request)
        if not changes(context(request), found):
            raise ForbiddenError("Insufficient privileges")
        return found


def metric_of(metrics: Metrics, request: Request) -> Document:
    """Return the metric of a resource that a path names; raises NotFoundError."""
    params: dict[str, Any] = request.path_params
    resource = metrics.state.resource(context(request), params["type"], params["id"])
    found = metrics.state.metrics_of(resource).get(params["metric"])
    if found is None:
        raise missing("Metric", params["metric"])
    return found
