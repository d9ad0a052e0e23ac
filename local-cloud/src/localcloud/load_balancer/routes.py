"""The load balancing service as the application mounts it."""

import importlib
import re

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.load_balancer.errors import octavia_error
from localcloud.load_balancer.service import LoadBalancing
from localcloud.web.http import fixed, public_paths, route, without_trailing_slash

PREFIX = "/load-balancer"
_NEWEST = 27
"""The minor version of which the API is."""
_VERSION = re.compile(r"/v2\.0(?=/|$)")


def service(cloud: Cloud) -> Service:
    """Return the load balancing service as the application mounts it."""
    balancing = cloud.one(LoadBalancing)
    url = f"{cloud.settings.url}{PREFIX}/v2"
    versions = [
        {
            "id": f"v2.{minor}",
            "status": "CURRENT" if minor == _NEWEST else "SUPPORTED",
            "updated": "2023-05-04T00:00:00Z",
            "links": [{"href": url, "rel": "self"}],
        }
        for minor in range(_NEWEST + 1)
    ]

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.load_balancer.api.endpoints")
        return [
            route("GET", "/", fixed({"versions": versions})),
            route("GET", "/v2", fixed({"versions": versions[:1]})),
            *endpoints.routes(balancing),
        ]

    return Service(
        type="load-balancer",
        name="octavia",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=octavia_error,
        public=public_paths("/", "/v2"),
        versions=versions[-1:],
        routes=routes,
        normalize=lambda path: _VERSION.sub("/v2", without_trailing_slash(path)),
        start=balancing.start,
        stop=balancing.stop,
    )
