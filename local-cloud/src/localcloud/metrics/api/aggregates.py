"""The requests for several metrics together."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.metrics.aggregates import Evaluation, Line, answered, rows
from localcloud.metrics.api import call, views
from localcloud.metrics.errors import invalid
from localcloud.metrics.instance import Metrics
from localcloud.metrics.model import times
from localcloud.metrics.model.search import from_line
from localcloud.web.http import Answer, RequestContext, context, route

_MOST_GROUPS = 10


class Aggregates:
    """The requests on aggregates, and on aggregation as they were called before."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._state = metrics.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        by_name = "/v1/aggregation/resource/{type}/metric/{metric}"
        return [
            route("POST", "/v1/aggregates", self._aggregates),
            route("GET", "/v1/aggregation/metric", self._of_metrics),
            route("POST", "/v1/aggregation/metric", self._of_metrics),
            route("GET", by_name, self._of_resources),
            route("POST", by_name, self._of_resources),
        ]

    async def _aggregates(self, request: Request) -> Answer:
        given = await call.body(request)
        query = given.get("search")
        operations = given.get("operations")
        if query is None:
            return JSONResponse(_answer(self._run(request, operations), []))
        found = self._found(request, given.get("resource_type") or "generic", query)
        if not _groups(request):
            lines = self._run(request, operations, found)
            details = request.query_params.get("details", "").lower() in ("true", "1")
            shown = [views.resource(self._state, each) for each in found] if details else []
            return JSONResponse(_answer(lines, shown))
        return JSONResponse(
            [
                {"group": group, "measures": _answer(self._run(request, operations, members), [])}
                for group, members in self._grouped(request, found)
            ]
        )

    async def _of_metrics(self, request: Request) -> Answer:
        keys = request.query_params.getlist("metric") or await call.body(request, list)
        pairs = [["metric", *([str(key), self._method(request)] for key in keys)]]
        return JSONResponse(self._joined(request, pairs[0], None))

    async def _of_resources(self, request: Request) -> Answer:
        params: dict[str, Any] = request.path_params
        query = await call.query_of(request)
        found = self._found(request, params["type"], query)
        metric = ["metric", params["metric"], self._method(request)]
        if not _groups(request):
            return JSONResponse(self._joined(request, metric, found))
        return JSONResponse(
            [
                {"group": group, "measures": self._joined(request, metric, members)}
                for group, members in self._grouped(request, found)
            ]
        )

    def _method(self, request: Request) -> str:
        return request.query_params.get("aggregation", "mean")

    def _joined(
        self, request: Request, metric: list[Any], found: Sequence[Document] | None
    ) -> list[Any]:
        method = request.query_params.get("reaggregation") or self._method(request)
        operations = ["aggregate", method.removeprefix("rate:"), metric]
        return rows(self._run(request, operations, found)[0].grid, times.shown)

    def _found(self, request: Request, kind: str, query: Any) -> list[Document]:
        who: RequestContext = context(request)
        parsed = from_line(query) if isinstance(query, str) and query else query
        return self._metrics.found(who, kind, parsed)

    def _run(
        self, request: Request, operations: Any, found: Sequence[Document] | None = None
    ) -> list[Line]:
        self._state.sampler.wake()
        query = request.query_params
        evaluation = partial(
            Evaluation, overlap=_overlap(query.get("needed_overlap")), fill=_fill(query.get("fill"))
        )
        span, seconds = call.span(self._state, request), call.granularity(request)
        who = context(request)
        return self._metrics.evaluated(who, operations, span, seconds, found, evaluation)

    def _grouped(
        self, request: Request, found: Sequence[Document]
    ) -> list[tuple[Document, list[Document]]]:
        names = _groups(request)
        groups: dict[tuple[Any, ...], list[Document]] = {}
        for each in found:
            shown = views.resource(self._state, each)
            groups.setdefault(tuple(shown.get(name) for name in names), []).append(each)
        return [(dict(zip(names, key, strict=True)), groups[key]) for key in groups]


def _answer(lines: Sequence[Line], references: list[Document]) -> Document:
    measures = {"measures": answered(lines, times.shown)}
    return {**measures, "references": references} if references else measures


def _groups(request: Request) -> list[str]:
    names = request.query_params.getlist("groupby")
    if len(names) > _MOST_GROUPS:
        raise invalid(f"resources are grouped by at most {_MOST_GROUPS} attributes")
    return names


def _overlap(text: str | None) -> float:
    try:
        found = 100.0 if not text else float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found <= 100:
        raise invalid("needed_overlap must be a number from 0 to 100")
    return found


def _fill(text: str | None) -> float | None:
    if not text:
        return None
    try:
        return math.nan if text in ("null", "dropna") else float(text)
    except ValueError as error:
        raise invalid("fill must be a number, 'null' or 'dropna'") from error
