"""Detaches and attaches volumes of a server for its replacement.

The boot volume stays: Nova cannot detach it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collections import SERVERS, VOLUMES
from stoker.resources.shared.storage.volumes import attach_to, detach_from
from stoker.schema.resource_type import Call

_ROOT_DEVICES = frozenset({"vda", "sda", "hda"})


def held_volumes(call: Call) -> dict[str, str | None]:
    """Return the attached volumes that the user named -> device."""
    named = _named(call.properties)
    if call.physical_id is None or not named:
        return {}
    path = SERVERS.at(call.physical_id, "/os-volume_attachments")
    with gone_is_fine():
        answer = SERVERS.ask(call.cloud, "GET", path)
        found = answer.get("volumeAttachments") or ()
        return {each["volumeId"]: each["device"] for each in found if each["volumeId"] in named}
    return {}


def let_go_of(call: Call, volumes: Mapping[str, Any]) -> list[str]:
    """Detach volumes; return those that are still attached."""
    left = [volume for volume in volumes if _state(call, volume)[1]]
    for volume in left:
        if _state(call, volume)[0] == "in-use":
            detach_from(call, call.object_id, volume)
    return left


def take_again(call: Call, volumes: Mapping[str, Any]) -> list[str]:
    """Attach volumes again; return those that are not attached yet."""
    missing = []
    for volume, device in volumes.items():
        status, held = _state(call, volume)
        if status == "available":
            attach_to(call, call.object_id, volume, device)
        if status is not None and not (held and status == "in-use"):
            missing.append(volume)
    return missing


def _state(call: Call, volume_id: str) -> tuple[str | None, bool]:
    """Return the status of a volume (None if it is deleted), and whether this server has it."""
    volume = VOLUMES.find(call.cloud, volume_id)
    if volume is None:
        return None, False
    servers = {each.get("server_id") for each in volume.get("attachments") or ()}
    return str(volume.get("status")), call.physical_id in servers


def _named(properties: Mapping[str, Any]) -> set[str]:
    has_image = properties.get("image") is not None
    newer = properties.get("block_device_mapping_v2") or ()
    older = properties.get("block_device_mapping") or ()
    return {
        *(each["volume_id"] for each in newer if each.get("volume_id") and _is_data(each)),
        *(
            each["volume_id"]
            for each in older
            if each.get("volume_id") and (has_image or not _is_root(each))
        ),
    }


def _is_data(device: Mapping[str, Any]) -> bool:
    return device.get("boot_index") != 0


def _is_root(device: Mapping[str, Any]) -> bool:
    return str(device.get("device_name")).removeprefix("/dev/") in _ROOT_DEVICES
