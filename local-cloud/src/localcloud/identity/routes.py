"""The identity API, as the application mounts it."""

import importlib

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, Service
from localcloud.core.store import Document
from localcloud.identity import policy
from localcloud.identity.bootstrap import bootstrap
from localcloud.identity.directory import Directory
from localcloud.identity.identity import identity_of
from localcloud.web.http import Handler, context, fixed, keystone_error, route

_OPEN = frozenset({("GET", "/"), ("HEAD", "/"), ("GET", "/v3"), ("HEAD", "/v3")})
_LIMIT_MODEL = {"name": "flat", "description": "Limits are not nested: each project has its own."}


def service(cloud: Cloud) -> Service:
    """Return identity API version 3."""
    identity = identity_of(cloud.store, cloud.clock, cloud.settings)
    version = _version(cloud.settings.url)

    async def start() -> None:
        bootstrap(identity.directory, cloud.services)

    def routes() -> list[BaseRoute]:
        requests = importlib.import_module("localcloud.identity.requests")
        return [
            route("GET", "/", fixed({"versions": {"values": [version]}}), 300),
            route("GET", "/v3", fixed({"version": version})),
            *requests.resource_routes(identity),
            route("GET", "/v3/limits/model", fixed({"model": _LIMIT_MODEL})),
            route("GET", "/v3/limits", _no(identity.directory, "limits")),
            route("GET", "/v3/registered_limits", _no(identity.directory, "registered_limits")),
        ]

    return Service(
        type="identity",
        name="keystone",
        prefix="/identity",
        endpoint="/identity",
        render=keystone_error,
        public=_is_public,
        versions=(version,),
        routes=routes,
        permit=policy.refuse_guests(identity.assignments),
        start=start,
    )


def _no(directory: Directory, plural: str) -> Handler:
    """Return the handler of a list that is always empty."""

    async def handle(request: Request) -> Document:
        policy.require(bool(context(request).roles), f"list_{plural}")
        return {plural: [], "links": directory.links(plural)}

    return handle


def _is_public(method: str, path: str) -> bool:
    if method == "POST":
        own_password = path.startswith("/v3/users/") and path.endswith("/password")
        return path == "/v3/auth/tokens" or own_password
    return (method, path) in _OPEN


def _version(url: str) -> Document:
    media = {"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}
    return {
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": f"{url}/identity/v3/"}],
        "media-types": [media],
    }
