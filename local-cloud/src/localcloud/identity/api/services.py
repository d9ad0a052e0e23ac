"""Services, endpoints and regions: the content of the catalog."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.resource import Kind, Resource, Rules
from localcloud.identity.model import policy
from localcloud.identity.model.directory import Directory
from localcloud.identity.model.fields import DESCRIPTION, ENABLED, Field, checked
from localcloud.identity.model.removal import Removal
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    context,
    read_object,
    route,
)

INTERFACES = ("public", "internal", "admin")
SERVICE = Kind(
    "service",
    "services",
    fields=(Field("type", required=True), Field("name"), DESCRIPTION, ENABLED),
    filters=("type", "name"),
)
ENDPOINT = Kind(
    "endpoint",
    "endpoints",
    fields=(
        Field("service_id", required=True),
        Field("interface", required=True, choices=INTERFACES),
        Field("url", required=True, longest=2048),
        Field("region"),
        Field("region_id"),
        Field("name"),
        ENABLED,
    ),
    filters=("service_id", "interface", "region_id", "enabled"),
)
REGION = Kind(
    "region",
    "regions",
    fields=(Field("id"), Field("parent_region_id"), DESCRIPTION),
    filters=("parent_region_id",),
    refuses_others=True,
)


class Services:
    """The requests on services, endpoints and regions."""

    def __init__(self, directory: Directory, removal: Removal) -> None:
        self._directory = directory
        self._services = Resource(
            directory,
            directory.services,
            SERVICE,
            Rules(
                complete=lambda who, body: {"name": "", "enabled": True, **body},
                remove=removal.service,
            ),
        )
        self._endpoints = Resource(
            directory,
            directory.endpoints,
            ENDPOINT,
            Rules(
                complete=lambda who, body: self._endpoint({"enabled": True, **body}, body),
                change=lambda who, old, changes: self._endpoint({**old, **changes}, changes),
                present=lambda endpoint: {**endpoint, "region": endpoint["region_id"]},
            ),
        )
        self._regions = Resource(
            directory,
            directory.regions,
            REGION,
            Rules(
                lists=lambda who: True,
                reads=lambda who, region: True,
                complete=lambda who, body: self._new_region(body),
                change=lambda who, old, changes: self._region({**old, **changes}),
                remove=self._remove_region,
            ),
        )

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            *self._services.routes(),
            *self._endpoints.routes(),
            *self._regions.routes(),
            route("PUT", "/v3/regions/{id}", self._put_region, 201),
        ]

    def _endpoint(self, endpoint: Document, given: Document) -> Document:
        if endpoint["service_id"] not in self._directory.services:
            raise BadRequestError(f"There is no service '{endpoint['service_id']}'.")
        region_id = given.get("region_id", given.get("region", endpoint.get("region_id")))
        if region_id is not None and region_id not in self._directory.regions:
            if "region_id" in given:
                raise BadRequestError(f"There is no region '{region_id}'.")
            self._directory.regions.put(self._region({"id": region_id}))
        fields = {name: value for name, value in endpoint.items() if name != "region"}
        return {**fields, "region_id": region_id}

    async def _put_region(self, request: Request) -> Document:
        policy.require(context(request).is_admin, "create_region")
        key = request.path_params["id"]
        body = checked(await read_object(request, "region"), REGION.fields)
        if body.get("id", key) != key:
            raise BadRequestError("The id in the body is not the one in the path.")
        region = self._new_region({**body, "id": key})
        self._directory.regions.put(region)
        return {"region": self._regions.presented(region)}

    def _new_region(self, body: Document) -> Document:
        if body["id"] in self._directory.regions:
            raise ConflictError(f"There is already a region '{body['id']}'.")
        return self._region(body)

    def _region(self, body: Document) -> Document:
        parent = body.get("parent_region_id")
        if parent is not None and parent not in self._directory.regions:
            raise BadRequestError(f"There is no region '{parent}'.")
        return {"description": "", "parent_region_id": None, **body}

    def _remove_region(self, region: Document) -> None:
        used = any(e["region_id"] == region["id"] for e in self._directory.endpoints.values())
        if used or list(self._directory.regions.find(parent_region_id=region["id"])):
            raise ForbiddenError("A region with endpoints or regions in it cannot be deleted.")
        self._directory.regions.delete(region["id"])
