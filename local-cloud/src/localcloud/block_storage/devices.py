"""The block devices that a new server asks for: checked, made, and attached before its first boot.

A device is an entry of ``block_device_mapping_v2`` as the compute service keeps it, without those
that are local disks.
"""

from typing import Any
from uuid import NAMESPACE_URL, uuid5

from localcloud.block_storage import volumes
from localcloud.block_storage.context import ServiceContext
from localcloud.block_storage.servers import ServerVolumes
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.web.http import ApiError, BadRequestError, NotFoundError, RequestContext

_INVALID = "Block Device Mapping is Invalid"
_BROKEN = frozenset({"error", "deleting", "error_deleting"})


def check(tools: ServiceContext, who: RequestContext, devices: list[Document]) -> None:
    """Raise :class:`BadRequestError` where a new server cannot have these devices."""
    for device in devices:
        source, key = device.get("source_type"), str(device.get("uuid"))
        try:
            if source == "volume":
                _check_volume(tools, who, key)
            elif source == "snapshot":
                tools.state.snapshot(who, key)
            elif source == "image":
                tools.state.cloud.one(Images).visible(who, key)
        except NotFoundError:
            raise BadRequestError(f"{_INVALID}: failed to get {source} {key}.") from None
        if source == "image" and not device.get("volume_size"):
            raise BadRequestError(
                f"{_INVALID}: Images with destination_type 'volume' need to have a non-zero size "
                "specified"
            )
        if source == "blank" and not device.get("volume_size"):
            raise BadRequestError(
                f"{_INVALID}: Blank volumes (source: 'blank', dest: 'volume') need to have "
                "non-zero size"
            )
        if source not in {"volume", "snapshot", "image", "blank"}:
            raise BadRequestError(f"{_INVALID}: Invalid source_type field.")


def _check_volume(tools: ServiceContext, who: RequestContext, volume_id: str) -> None:
    volume = tools.state.volume(who, volume_id)
    if volume["status"] != "available" and not volume["multiattach"]:
        raise BadRequestError(
            f"Invalid volume: Volume {volume_id} status must be available or downloading to "
            f"reserve, but the current status is {volume['status']}."
        )


async def prepare(
    tools: ServiceContext, attached: ServerVolumes, who: RequestContext, server: Document
) -> None:
    """Create and attach the volumes that a server requests. It may be called again after a crash.

    Raises ApiError if a volume cannot be created or attached.
    """
    known = {each["number"] for each in attached.attachments(server["id"])}
    for number, device in enumerate(server["block_devices"]):
        if number in known:
            continue
        volume_id = str(device.get("uuid"))
        if device["source_type"] != "volume":
            volume_id = str(uuid5(NAMESPACE_URL, f"{server['id']}/{number}"))
            if volume_id not in tools.state.volumes:
                volumes.make(tools, who, _wish(volume_id, device))
            await _wait(tools, volume_id)
        attachment = {
            "volume_id": volume_id,
            "device": device.get("device_name"),
            "delete_on_termination": _flag(device.get("delete_on_termination")),
            "tag": device.get("tag"),
            "number": number,
        }
        boots = not server["image_id"] and str(device.get("boot_index")) == "0"
        attached.attach(who, server, attachment, boots=boots)
    for each in attached.attachments(server["id"]):
        await tools.work.finished(each["volume_id"])


def _wish(volume_id: str, device: Document) -> volumes.CreateSpec:
    source, size = device["source_type"], device.get("volume_size")
    return volumes.CreateSpec(
        size=None if size is None else int(size),
        name="",
        type_name=device.get("volume_type"),
        snapshot_id=str(device["uuid"]) if source == "snapshot" else None,
        image_id=str(device["uuid"]) if source == "image" else None,
        volume_id=volume_id,
    )


async def _wait(tools: ServiceContext, volume_id: str) -> None:
    await tools.work.finished(volume_id)
    volume = tools.state.volumes.get(volume_id)
    if volume is None or volume["status"] in _BROKEN:
        why = "" if volume is None else volume["fail_reason"]
        raise ApiError(f"Volume {volume_id} did not finish being created: {why}")


def _flag(value: Any) -> bool:
    return str(value).lower() in {"true", "1"}
