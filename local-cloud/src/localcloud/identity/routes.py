"""The identity API, as the application mounts it."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.cloud import Cloud, ServiceDescriptor
from localcloud.http import context, keystone_error, route
from localcloud.identity import policy
from localcloud.identity.bootstrap import bootstrap
from localcloud.identity.identity import identity_of
from localcloud.identity.requests import resource_routes

_OPEN = frozenset({("GET", "/"), ("HEAD", "/"), ("GET", "/v3"), ("HEAD", "/v3")})
_OPEN_POSTS = frozenset({"/v3/auth/tokens", "/v3/ec2tokens", "/v3/s3tokens"})


def service(cloud: Cloud) -> "IdentityService":
    """Return the identity service of the cloud."""
    return IdentityService(cloud)


class IdentityService:
    """Identity API version 3."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._identity = identity_of(cloud.store, cloud.clock, cloud.settings)
        self._version = _version(cloud.settings.url)
        self.descriptor = ServiceDescriptor(
            type="identity",
            name="keystone",
            prefix="/identity",
            endpoint="/identity",
            render=keystone_error,
            public=_is_public,
            versions=(self._version,),
        )

    def routes(self) -> Sequence[BaseRoute]:
        """Return all routes, the busiest first."""
        return [
            route("GET", "/", self._versions, 300),
            route("GET", "/v3", self._show_version),
            *resource_routes(self._identity),
            route("GET", "/v3/limits/model", self._limit_model),
            route("GET", "/v3/limits", self._limits),
            route("GET", "/v3/registered_limits", self._registered_limits),
        ]

    async def start(self) -> None:
        """Make what a cloud has at least, and the catalog of its services."""
        bootstrap(self._identity.directory, [s.descriptor for s in self._cloud.services])

    async def stop(self) -> None:
        """Nothing runs."""

    async def _versions(self, request: Request) -> dict[str, Any]:
        return {"versions": {"values": [self._version]}}

    async def _show_version(self, request: Request) -> dict[str, Any]:
        return {"version": self._version}

    async def _limit_model(self, request: Request) -> dict[str, Any]:
        context(request)
        description = "Limits are not nested: each project has its own."
        return {"model": {"name": "flat", "description": description}}

    async def _limits(self, request: Request) -> dict[str, Any]:
        return self._nothing("limits", request)

    async def _registered_limits(self, request: Request) -> dict[str, Any]:
        return self._nothing("registered_limits", request)

    def _nothing(self, plural: str, request: Request) -> dict[str, Any]:
        policy.require(bool(context(request).roles), f"list_{plural}")
        return {plural: [], "links": self._identity.directory.links(plural)}


def _is_public(method: str, path: str) -> bool:
    if method == "POST":
        own_password = path.startswith("/v3/users/") and path.endswith("/password")
        return path in _OPEN_POSTS or own_password
    return (method, path) in _OPEN


def _version(url: str) -> dict[str, Any]:
    return {
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": f"{url}/identity/v3/"}],
        "media-types": [
            {
                "base": "application/json",
                "type": "application/vnd.openstack.identity-v3+json",
            }
        ],
    }
