"""The compute service as the application mounts it."""

import importlib
import re

from starlette.routing import BaseRoute

from localcloud.compute.service import ComputeService
from localcloud.core.cloud import Cloud, Service
from localcloud.web.http import fixed, nova_error, public_paths, route, without_trailing_slash
from localcloud.web.microversions import COMPUTE

PREFIX = "/compute"
_PROJECT = re.compile(r"/v2\.1/[0-9a-f]{32}(?=/)")
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1"}


def service(cloud: Cloud) -> Service:
    """Return the compute service as the application mounts it."""
    compute = cloud.one(ComputeService)
    version = {
        "id": "v2.1",
        "status": "CURRENT",
        "version": COMPUTE.latest,
        "min_version": COMPUTE.first,
        "updated": "2013-07-23T11:33:21Z",
        "links": [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v2.1/"}],
    }

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.compute.api.endpoints")
        return [
            route("GET", "/", fixed({"versions": [version]})),
            route("GET", "/v2.1", fixed({"version": {**version, "media-types": [_MEDIA]}})),
            *endpoints.routes(compute.tools),
        ]

    return Service(
        type="compute",
        name="nova",
        prefix=PREFIX,
        endpoint=f"{PREFIX}/v2.1",
        render=nova_error,
        public=public_paths("/", "/v2.1"),
        versions=(version,),
        routes=routes,
        normalize=normalize,
        start=compute.start,
        stop=compute.stop,
    )


def normalize(path: str) -> str:
    """Return the path as routes are written; a project id after the version is left out."""
    return _PROJECT.sub("/v2.1", without_trailing_slash(path))
