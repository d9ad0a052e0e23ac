"""The messaging service as the application mounts it."""

import importlib
from contextlib import AsyncExitStack

from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.core.store import Document
from localcloud.messaging.errors import zaqar_error
from localcloud.messaging.state import State
from localcloud.web.http import fixed, route

_PREFIX = "/messaging"
_MEDIA = {"base": "application/json", "type": "application/vnd.openstack.messaging-v2+json"}


def service(cloud: Cloud) -> Service:
    """Return the messaging API, version 2.

    It looks at tokens by itself: a signature is as good as one.
    """
    begun = AsyncExitStack()
    version: Document = {
        "id": "2",
        "status": "CURRENT",
        "updated": "2014-9-24T04:06:47Z",
        "media-types": [_MEDIA],
        "links": [{"rel": "self", "href": f"{cloud.settings.url}{_PREFIX}/v2/"}],
    }

    def routes() -> list[BaseRoute]:
        endpoints = importlib.import_module("localcloud.messaging.endpoints")
        versions = fixed({"versions": [version]})
        return [
            route("GET", "/", versions, 300),
            route("GET", "/v2", versions),
            *endpoints.routes(State(cloud), begun),
        ]

    return Service(
        type="messaging",
        name="zaqar",
        prefix=_PREFIX,
        endpoint=_PREFIX,
        render=zaqar_error,
        public=lambda method, path: True,
        versions=(version,),
        routes=routes,
        stop=begun.aclose,
    )
