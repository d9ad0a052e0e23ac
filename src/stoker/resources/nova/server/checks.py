"""Checks that the properties of a server do not contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.resources.base.declare import records_in
from stoker.schema.unknown import Unknown

_SOURCES = ("volume_id", "snapshot_id", "image", "image_id", "swap_size", "ephemeral_size")
_MOST_FILES = 5


def findings(properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
    """Return the diagnostics for these properties; values may be Unknown."""
    return [
        *_networks(properties.get("networks")),
        *_boot(properties),
        *_devices(properties.get("block_device_mapping_v2")),
        *_files(properties.get("personality")),
    ]


def _finding(message: str, path: Path) -> Diagnostic:
    return Diagnostic("invalid-server", message, path)


def _networks(networks: Any) -> list[Diagnostic]:
    found = []
    entries = records_in(networks)
    for index, entry in entries:
        path: Path = ("networks", index)
        if entry.get("allocate_network") is not None:
            if len(entries) > 1:
                message = "allocate_network must be the only entry of networks"
                found.append(_finding(message, (*path, "allocate_network")))
            continue
        named = [name for name in ("network", "subnet", "port") if entry.get(name) is not None]
        if not named and entry.get("uuid") is None:
            found.append(_finding("one of network, subnet and port is required", path))
        if "port" in named:
            extra = [name for name in ("fixed_ip", "port_extra_properties") if entry.get(name)]
            found += [
                _finding(f"{name} cannot be given together with port", (*path, name))
                for name in extra
            ]
    return found


def _boot(properties: Mapping[str, Any]) -> list[Diagnostic]:
    if properties.get("image") is not None or properties.get("block_device_mapping") is not None:
        return []
    devices = properties.get("block_device_mapping_v2")
    if isinstance(devices, Unknown) or any(
        isinstance(entry, Unknown) for entry in devices or () if not isinstance(devices, str)
    ):
        return []
    bootable = ("volume_id", "snapshot_id", "image", "image_id")
    if any(entry.get(name) is not None for _, entry in records_in(devices) for name in bootable):
        return []
    message = "the server has nothing to boot from: give an image or a bootable volume"
    return [_finding(message, ())]


def _devices(devices: Any) -> list[Diagnostic]:
    found = []
    for index, entry in records_in(devices):
        sources = [name for name in _SOURCES if entry.get(name) is not None]
        path: Path = ("block_device_mapping_v2", index)
        if len(sources) != 1:
            message = "exactly one of volume_id, snapshot_id, image, swap_size and ephemeral_size"
            found.append(_finding(f"{message} must be given", path))
    return found


def _files(personality: Any) -> list[Diagnostic]:
    if not isinstance(personality, Mapping) or len(personality) <= _MOST_FILES:
        return []
    message = f"at most {_MOST_FILES} files can be given"
    return [_finding(message, ("personality",))]
