"""The metric service as the application mounts it."""

import importlib
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.metrics.errors import gnocchi_error
from localcloud.web.http import fixed, public_paths, route
from localcloud.web.permissions import by_role

PREFIX = "/metric"


def service(cloud: Cloud) -> Service:
    """Return the metric API, version 1. Servers are measured once somebody has asked."""
    begun = list[Any]()
    links = [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v1/"}]
    version = {"id": "v1.0", "status": "CURRENT", "updated": "2015-03-19", "links": links}

    def routes() -> list[BaseRoute]:
        module: Any = importlib.import_module("localcloud.metrics.service")
        endpoints = importlib.import_module("localcloud.metrics.api.endpoints")
        begun.append(cloud.one(module.Metrics))
        begun[0].state.sampler.wake()
        return [
            route("GET", "/", fixed({"versions": [version], "build": "localcloud"})),
            route("GET", "/v1", fixed({"version": "1.0", "links": links})),
            *endpoints.routes(begun[0]),
        ]

    async def stop() -> None:
        if begun:
            await begun[0].stop()

    return Service(
        type="metric",
        name="gnocchi",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=gnocchi_error,
        public=public_paths("/", "/v1"),
        versions=(version,),
        routes=routes,
        permit=by_role("/v1/search/", "/v1/aggregates", "/v1/aggregation/"),
        stop=stop,
    )
