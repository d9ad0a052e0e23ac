"""The compute service as the application mounts it."""

import re
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from localcloud.cloud import Cloud, ServiceDescriptor
from localcloud.compute.api.call import route
from localcloud.compute.api.endpoints import ENDPOINTS
from localcloud.compute.microversion import MAXIMUM, MINIMUM
from localcloud.compute.service import ComputeService
from localcloud.http import nova_error, public_paths, without_trailing_slash

PREFIX = "/compute"
_PROJECT = re.compile(r"/v2\.1/[0-9a-f]{32}(?=/)")


def service(cloud: Cloud) -> "ComputeApi":
    """Return the compute service as the application mounts it."""
    return ComputeApi(cloud)


def normalize(path: str) -> str:
    """Return the path as routes are written; a project id after the version is left out."""
    return _PROJECT.sub("/v2.1", without_trailing_slash(path))


class ComputeApi:
    """The compute service with its routes and its version documents."""

    def __init__(self, cloud: Cloud) -> None:
        self._service = cloud.one(ComputeService)
        self._url = f"{cloud.settings.url}{PREFIX}"

    @property
    def descriptor(self) -> ServiceDescriptor:
        """What it is and where it lives."""
        return ServiceDescriptor(
            type="compute",
            name="nova",
            prefix=PREFIX,
            endpoint=f"{PREFIX}/v2.1",
            render=nova_error,
            public=public_paths("/", "/v2.1"),
            versions=(self._version(),),
            normalize=normalize,
        )

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes below the prefix."""
        documents = [Route("/", self._versions), Route("/v2.1", self._one_version)]
        return [*documents, *(route(e, self._service.tools) for e in ENDPOINTS)]

    async def start(self) -> None:
        """Take up what the last process left undone."""
        await self._service.start()

    async def stop(self) -> None:
        """End the background work."""
        await self._service.stop()

    def _version(self) -> dict[str, object]:
        return {
            "id": "v2.1",
            "status": "CURRENT",
            "version": f"2.{MAXIMUM}",
            "min_version": f"2.{MINIMUM}",
            "updated": "2013-07-23T11:33:21Z",
            "links": [{"rel": "self", "href": f"{self._url}/v2.1/"}],
        }

    async def _versions(self, request: Request) -> Response:
        return JSONResponse({"versions": [self._version()]})

    async def _one_version(self, request: Request) -> Response:
        media = {
            "base": "application/json",
            "type": "application/vnd.openstack.compute+json;version=2.1",
        }
        return JSONResponse({"version": {**self._version(), "media-types": [media]}})
