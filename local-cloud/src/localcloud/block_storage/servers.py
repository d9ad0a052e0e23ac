"""Volumes in servers, as the compute service uses them in the same process."""

import string
from pathlib import Path
from typing import Any
from uuid import uuid4

from msgspec import Struct

from localcloud.block_storage import jobs
from localcloud.block_storage.context import ServiceContext
from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError, Volume
from localcloud.web.http import (
    ApiError,
    BadRequestError,
    ConflictError,
    NotFoundError,
    RequestContext,
)

_DEVICE = "/dev/vd"
_LETTERS = string.ascii_lowercase
SHARED = frozenset({"in-use", "attaching"})  # in which a volume for several servers takes one more


class BootVolume(Struct, frozen=True):
    """The volume that a server boots from."""

    disk: Path  # the directory that is the server's disk; it outlives the server
    image_id: str  # the image that the volume was made of


class ServerVolumes:
    """The volumes of servers."""

    def __init__(self, tools: ServiceContext) -> None:
        self._tools = tools
        self._state = tools.state
        self._fabric = tools.state.cloud.fabric

    def attachments(self, server_id: str) -> list[Document]:
        """Return the attachments of a server, in the order in which they were made."""
        found = self._state.attachments.find(server_id=server_id)
        return [each for each in found if each["device"] is not None]

    def attach(
        self, who: RequestContext, server: Document, spec: Document, *, boots: bool = False
    ) -> Document:
        """Attach the volume ``spec["volume_id"]``; whether the server sees it shows later.

        Raises ApiError where it cannot be attached.
        """
        volume = self._state.volume(who, spec["volume_id"])
        self._check_free(volume, server["id"])
        taken = {each["device"] for each in self.attachments(server["id"])}
        attachment = {
            "id": str(uuid4()),
            "volume_id": volume["id"],
            "server_id": server["id"],
            "project_id": volume["project_id"],
            "device": _device(spec.get("device"), taken, boots, bool(server["image_id"])),
            "mode": "ro" if volume["readonly"] else "rw",
            "status": "attaching",
            "delete_on_termination": bool(spec.get("delete_on_termination")),
            "tag": spec.get("tag"),
            "boots": boots,
            "number": spec.get("number"),
            "connector": {"host": "localhost"},
            "attached_at": None,
        }
        with self._state.cloud.store.transaction():
            self._state.attachments.put(attachment)
            self._state.change(self._state.volumes, volume["id"], status="attaching")
        self._begin(attachment["id"])
        return attachment

    def _check_free(self, volume: Document, server_id: str) -> None:
        attached = self._state.attached(volume["id"])
        if any(each["server_id"] == server_id for each in attached):
            raise BadRequestError(
                f"Invalid volume: Volume {volume['id']} is already attached to this instance."
            )
        shared = volume["multiattach"] and volume["status"] in SHARED
        if volume["status"] != "available" and not shared:
            raise BadRequestError(
                f"Invalid volume: Volume {volume['id']} status must be available or downloading "
                f"to reserve, but the current status is {volume['status']}."
            )

    def _begin(self, attachment_id: str) -> None:
        found = self._state.attachments.get(attachment_id)
        if found is not None:
            self._tools.work.begin(found["volume_id"], lambda: self._bring(attachment_id))

    def resume(self) -> None:
        """Resume the attachments and detachments that the last process left."""
        for attachment in self._state.attachments.values():
            if attachment["status"] in {"attaching", "detaching"} and attachment["server_id"]:
                self._begin(attachment["id"])

    async def _bring(self, attachment_id: str) -> None:
        attachment = self._state.attachments.get(attachment_id)
        if attachment is None:
            return
        if attachment["status"] == "detaching":
            await self._take_away(attachment)
        elif attachment["status"] == "attaching":
            await self._show(attachment)

    async def _show(self, attachment: Document) -> None:
        state, server_id = self._state, attachment["server_id"]
        volume = state.volumes.get(attachment["volume_id"])
        if volume is None:
            return
        try:
            if server_id in self._fabric.running() and not attachment["boots"]:
                shown = await self._tools.content.shown(volume, attachment)
                await self._fabric.storage.attach(server_id, shown)
        except (FabricError, ApiError, OSError):
            self._forget(attachment)
            raise
        if state.attachments.get(attachment["id"]) == attachment:
            with state.cloud.store.transaction():
                now = state.now()
                state.attachments.put({**attachment, "status": "attached", "attached_at": now})
                state.change(state.volumes, volume["id"], status="in-use")

    def _forget(self, attachment: Document) -> None:
        state, volume_id = self._state, attachment["volume_id"]
        with state.cloud.store.transaction():
            state.attachments.delete(attachment["id"])
            state.change(state.volumes, volume_id, status=jobs.settled(self._tools, volume_id))

    def detach(self, server: Document, volume_id: str) -> None:
        """Start to detach a volume. Raises NotFoundError if it is not attached, and
        BadRequestError.
        """
        attachment = self.attachment(server["id"], volume_id)
        if attachment["boots"]:
            raise BadRequestError("Cannot detach a root device volume")
        self._let_go(attachment)

    def attachment(self, server_id: str, volume_id: str) -> Document:
        """Return the attachment of a volume to a server; raises NotFoundError."""
        for attachment in self.attachments(server_id):
            if attachment["volume_id"] == volume_id:
                return attachment
        raise NotFoundError(f"volume_id not found: {volume_id}")

    def _let_go(self, attachment: Document) -> None:
        with self._state.cloud.store.transaction():
            self._state.attachments.put({**attachment, "status": "detaching"})
            self._state.change(self._state.volumes, attachment["volume_id"], status="detaching")
        self._begin(attachment["id"])

    async def _take_away(self, attachment: Document) -> None:
        await self._fabric.storage.detach(attachment["server_id"], attachment["volume_id"])
        self._forget(attachment)

    def keep_on_termination(self, server_id: str, volume_id: str, deleted: bool) -> None:
        """Say whether a volume is deleted with the server; raises NotFoundError."""
        attachment = self.attachment(server_id, volume_id)
        self._state.attachments.put({**attachment, "delete_on_termination": deleted})

    async def shown(self, server_id: str) -> tuple[Volume, ...]:
        """Return the volumes of a server that is about to boot, without the one it boots from."""
        found = []
        for attachment in self.attachments(server_id):
            volume = self._state.volumes.get(attachment["volume_id"])
            if volume is None or attachment["boots"] or attachment["status"] == "detaching":
                continue
            found.append(await self._tools.content.shown(volume, attachment))
        return tuple(found)

    def boot_volume(self, server_id: str) -> BootVolume:
        """Return the volume that a server without an image of its own boots from.

        Raises :class:`BadRequestError` where it holds no root file system.
        """
        for attachment in self.attachments(server_id):
            volume = self._state.volumes.get(attachment["volume_id"])
            if attachment["boots"] and volume is not None:
                if volume["base"] is None:
                    raise BadRequestError(
                        f"Volume {volume['id']} holds no root file system that could be booted: "
                        "make it of an image that is one."
                    )
                return BootVolume(self._state.directory(volume["id"]), volume["base"])
        raise ConflictError(f"Instance {server_id} has no volume to boot from.")

    def release(self, server_id: str) -> None:
        """Detach all volumes of a deleted server, and delete those that end with it."""
        for attachment in list(self._state.attachments.find(server_id=server_id)):
            self._forget(attachment)
            volume = self._state.volumes.get(attachment["volume_id"])
            if volume is None or not attachment["delete_on_termination"]:
                continue
            if volume["status"] == "available":
                task = {"kind": "delete"}
                self._state.change(self._state.volumes, volume["id"], status="deleting", task=task)
                jobs.begin(self._tools, self._state.volumes, volume["id"])


def _device(device: Any, taken: set[Any], boots: bool, has_disk: bool) -> str:
    if boots:
        return f"{_DEVICE}a"
    free = [f"{_DEVICE}{letter}" for letter in _LETTERS[1:] if f"{_DEVICE}{letter}" not in taken]
    if not free:
        raise BadRequestError("The maximum number of disk devices (26) has been attached.")
    if not device:
        return free[0]
    name = f"{_DEVICE}{str(device)[-1]}"
    if name in taken or (name == f"{_DEVICE}a" and has_disk):
        raise ConflictError(f"The supplied device path ({device}) is in use.")
    if name not in free:
        raise BadRequestError(f"The supplied device path ({device}) is invalid.")
    return name
