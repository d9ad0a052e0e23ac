"""The requests for sharing an image with other projects."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.presentation import member_shown
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    TooLargeError,
    context,
    read_json,
    route,
)

_STATES = ("pending", "accepted", "rejected")
_MEMBER_LIMIT = 128


class ImageMembers:
    """The requests on the members of an image."""

    def __init__(self, cloud: Cloud, images: Images) -> None:
        self._cloud = cloud
        self._images = images

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many, one = "/v2/images/{id}/members", "/v2/images/{id}/members/{member_id}"
        return [
            route("GET", many, self._list),
            route("POST", many, self._add),
            route("GET", one, self._show),
            route("PUT", one, self._update),
            route("DELETE", one, self._remove),
        ]

    async def _list(self, request: Request) -> Document:
        who, image = context(request), self._image(request)
        members = [
            member_shown(member)
            for member in self._images.members.find(image_id=image["id"])
            if who.is_admin or who.project_id in {image["owner"], member["member_id"]}
        ]
        return {"members": members, "schema": "/v2/schemas/members"}

    async def _add(self, request: Request) -> Document:
        image = self._images.own(context(request), request.path_params["id"])
        member_id = (await read_json(request)).get("member")
        if not isinstance(member_id, str) or not 0 < len(member_id) <= 255:
            raise BadRequestError("'member' must be the id of a project.")
        if image["visibility"] != "shared":
            raise ForbiddenError("Only an image with visibility 'shared' can have members.")
        key = f"{image['id']}:{member_id}"
        if key in self._images.members:
            raise ConflictError(f"The project '{member_id}' is already a member of the image.")
        if sum(1 for _ in self._images.members.find(image_id=image["id"])) >= _MEMBER_LIMIT:
            raise TooLargeError(f"An image may have {_MEMBER_LIMIT} members.")
        now = self._cloud.now()
        member = {
            "id": key,
            "image_id": image["id"],
            "member_id": member_id,
            "status": "pending",
            "created_at": now,
            "updated_at": now,
        }
        self._images.members.put(member)
        return member_shown(member)

    async def _show(self, request: Request) -> Document:
        return member_shown(self._member(request))

    async def _update(self, request: Request) -> Document:
        who, member = context(request), self._member(request)
        status = (await read_json(request)).get("status")
        if status not in _STATES:
            raise BadRequestError(f"'status' must be one of {', '.join(_STATES)}.")
        if not (who.is_admin or who.project_id == member["member_id"]):
            raise ForbiddenError("Only the member itself may accept or reject an image.")
        changed = {**member, "status": status, "updated_at": self._cloud.now()}
        self._images.members.put(changed)
        return member_shown(changed)

    async def _remove(self, request: Request) -> None:
        self._images.own(context(request), request.path_params["id"])
        self._images.members.delete(self._member(request)["id"])

    def _image(self, request: Request) -> Document:
        image = self._images.visible(context(request), request.path_params["id"])
        if image["visibility"] == "public":
            raise ForbiddenError("A public image has no members.")
        return image

    def _member(self, request: Request) -> Document:
        who, image = context(request), self._image(request)
        member_id = request.path_params["member_id"]
        member = self._images.members.get(f"{image['id']}:{member_id}")
        visible = who.is_admin or who.project_id in {image["owner"], member_id}
        if member is None or not visible:
            raise NotFoundError(f"The project '{member_id}' is not a member of the image.")
        return member
