"""The DNS service as the application mounts it."""

import importlib
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.core.store import Document
from localcloud.dns.errors import designate_error
from localcloud.dns.state import PREFIX, State
from localcloud.web.http import fixed, public_paths, route


def service(cloud: Cloud) -> Service:
    """Return the DNS API, version 2.

    The name server starts with the first zone, and with a cloud that has zones.
    """
    state, begun = State(cloud), list[Any]()
    links = [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v2"}]
    version: Document = {"id": "v2", "status": "CURRENT", "links": links}

    def dns() -> Any:
        if not begun:
            endpoints = importlib.import_module("localcloud.dns.endpoints")
            begun.append(endpoints.Dns(state))
        return begun[0]

    def routes() -> list[BaseRoute]:
        return [
            route("GET", "/", fixed({"versions": [version]})),
            route("GET", "/v2", fixed({"version": version})),
            *dns().routes(),
        ]

    async def start() -> None:
        if len(state.zones) or len(state.pointers):
            await dns().start()

    async def stop() -> None:
        if begun:
            await dns().stop()

    return Service(
        type="dns",
        name="designate",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=designate_error,
        public=public_paths("/", "/v2"),
        versions=(version,),
        routes=routes,
        start=start,
        stop=stop,
    )
