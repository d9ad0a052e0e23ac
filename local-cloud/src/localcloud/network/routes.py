"""The network service as the application mounts it."""

import importlib

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.network.service import NetworkService
from localcloud.web.http import fixed, neutron_error, public_paths, route

PREFIX = "/network"


def service(cloud: Cloud) -> Service:
    """Return the network service as the application mounts it."""
    network = cloud.one(NetworkService)
    url = cloud.settings.url + PREFIX
    links = [{"rel": "self", "href": f"{url}/v2.0/"}]
    version = {"id": "v2.0", "status": "CURRENT", "links": links}

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.network.endpoints")
        return [
            route("GET", "/", fixed({"versions": [version]})),
            *endpoints.routes(cloud, network, url),
        ]

    return Service(
        type="network",
        name="neutron",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=neutron_error,
        public=public_paths("/", "/v2.0"),
        versions=(version,),
        routes=routes,
        start=network.start,
        stop=network.stop,
    )
