"""Builds the request that creates a server, with the lowest microversion that it needs."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.base.rest import marker_text, rename_fields
from stoker.resources.nova.server.ports import Nic, allocation
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call

_BASE = (2, 1)
_NETWORKS_REQUIRED = (2, 37)
_TAGGED_NICS = (2, 42)
_TAGS = (2, 52)
_VOLUME_TYPES = (2, 67)

# Fields of a block device that Nova calls the same.
_PLAIN = (
    "device_name", "device_type", "disk_bus", "volume_size", "volume_type", "boot_index",
    "delete_on_termination",
)  # fmt: skip


def request_body(
    call: Call, desired: Sequence[Nic], ports: Sequence[str], user_data: str
) -> tuple[Object, str]:
    """Return the request body and its microversion."""
    properties = call.properties
    version = _version(properties)
    server: Object = {
        "name": properties.get("name") or call.physical_name,
        "flavorRef": properties["flavor"],
        "metadata": as_texts(properties.get("metadata")),
    }
    plain = (
        ("imageRef", properties.get("image")),
        ("key_name", properties.get("key_name")),
        ("availability_zone", properties.get("availability_zone")),
        ("config_drive", properties.get("config_drive")),
        ("adminPass", properties.get("admin_pass")),
        ("OS-DCF:diskConfig", properties.get("diskConfig")),
        (
            "block_device_mapping",
            [rename_fields(e) for e in properties.get("block_device_mapping") or ()],
        ),
        ("block_device_mapping_v2", _devices(properties)),
        ("user_data", base64.b64encode(user_data.encode()).decode() if user_data else None),
        ("personality", _files(properties.get("personality"))),
        ("tags", tags_with_marker(call)),
        ("networks", _networks(properties.get("networks"), desired, ports, version)),
    )
    server.update({field: value for field, value in plain if value not in (None, [], "")})
    # With ports, the security groups are on the ports. Nova would ignore them here.
    if not desired and properties.get("security_groups"):
        names = dict.fromkeys(map(str, properties["security_groups"]))
        server["security_groups"] = [{"name": name} for name in names]
    body: Object = {"server": server}
    hints = dict(properties.get("scheduler_hints") or {})
    if properties.get("reservation_id"):
        hints["reservation"] = properties["reservation_id"]
    if hints:
        body["os:scheduler_hints"] = hints
    return body, ".".join(map(str, version))


def tags_with_marker(call: Call) -> list[str]:
    """Return the user's tags, and the marker if the user chose the name."""
    tags = [str(tag) for tag in call.properties.get("tags") or []]
    return [*tags, marker_text(call)] if call.properties.get("name") else tags


def _version(properties: Mapping[str, Any]) -> tuple[int, int]:
    networks = properties.get("networks")
    version = _BASE
    if allocation(networks) is not None:
        version = max(version, _NETWORKS_REQUIRED)
    if any(entry.get("tag") for entry in networks or ()):
        version = max(version, _TAGGED_NICS)
    if properties.get("tags") or properties.get("name"):
        version = max(version, _TAGS)
    if any(device.get("volume_type") for device in properties.get("block_device_mapping_v2") or ()):
        version = max(version, _VOLUME_TYPES)
    return version


def _networks(
    networks: Sequence[Mapping[str, Any]] | None,
    desired: Sequence[Nic],
    ports: Sequence[str],
    version: tuple[int, int],
) -> Any:
    word = allocation(networks)
    if word is not None:
        return word
    if not desired:
        # Since 2.37, Nova requires an explicit value.
        return "auto" if version >= _NETWORKS_REQUIRED else None
    return [
        {"port": port, **({"tag": nic.entry["tag"]} if nic.entry.get("tag") else {})}
        for nic, port in zip(desired, ports, strict=True)
    ]


def _files(personality: Mapping[str, Any] | None) -> list[Object]:
    return [
        {"path": path, "contents": base64.b64encode(str(text).encode()).decode()}
        for path, text in (personality or {}).items()
    ]


def _devices(properties: Mapping[str, Any]) -> list[Object]:
    entries = properties.get("block_device_mapping_v2") or []
    devices = [_device(entry) for entry in entries]
    # Nova wants the image as a boot device, too, as soon as any block device is given.
    if devices and properties.get("image"):
        root = {
            "source_type": "image",
            "destination_type": "local",
            "uuid": properties["image"],
            "boot_index": 0,
            "delete_on_termination": True,
        }
        devices.insert(0, root)
    return devices


def _device(entry: Mapping[str, Any]) -> Object:
    device = rename_fields({name: entry.get(name) for name in _PLAIN})
    for name, source in (("volume_id", "volume"), ("snapshot_id", "snapshot"), ("image", "image")):
        if entry.get(name):
            return {
                **device,
                "source_type": source,
                "destination_type": "volume",
                "uuid": entry[name],
            }
    size = entry.get("swap_size") or entry.get("ephemeral_size")
    kind = "swap" if entry.get("swap_size") else entry.get("ephemeral_format")
    blank: Object = {
        "source_type": "blank",
        "destination_type": "local",
        "boot_index": -1,
        "delete_on_termination": True,
        "volume_size": size,
    }
    return {**device, **blank, **({"guest_format": kind} if kind else {})}
