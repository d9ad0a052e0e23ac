"""The alarm service as the application mounts it."""

import importlib
from typing import Any

from starlette.routing import BaseRoute

from localcloud.alarming.errors import aodh_error
from localcloud.core.cloud import Cloud, Service
from localcloud.web.http import fixed, public_paths, route
from localcloud.web.permissions import by_role

PREFIX = "/alarming"


def service(cloud: Cloud) -> Service:
    """Return the alarm API, version 2. A cloud that has alarms watches them from its start."""
    begun = list[Any]()
    links = [{"rel": "self", "href": f"{cloud.settings.url}{PREFIX}/v2"}]
    media = {"base": "application/json", "type": "application/vnd.openstack.telemetry-v2+json"}
    version = {
        "id": "v2",
        "status": "stable",
        "updated": "2013-02-13T00:00:00Z",
        "links": links,
        "media-types": [media],
    }
    alarms = cloud.store.collection("alarming.alarm")

    def alarming() -> Any:
        if not begun:
            module: Any = importlib.import_module("localcloud.alarming.service")
            begun.append(cloud.one(module.Alarming))
        return begun[0]

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.alarming.api.endpoints")
        alarming().begin()
        return [
            route("GET", "/", fixed({"versions": {"values": [version]}})),
            route("GET", "/v2", fixed({"version": version})),
            *endpoints.routes(alarming()),
        ]

    async def start() -> None:
        if len(alarms):
            alarming().begin()

    async def stop() -> None:
        if begun:
            await alarming().stop()

    return Service(
        type="alarming",
        name="aodh",
        prefix=PREFIX,
        endpoint=PREFIX,
        render=aodh_error,
        public=public_paths("/", "/v2"),
        versions=(version,),
        routes=routes,
        permit=by_role("/v2/query/"),
        start=start,
        stop=stop,
    )
