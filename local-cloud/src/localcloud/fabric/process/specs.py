"""Specifications as JSON and back, for the way from the cloud to its fabric process."""

from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from localcloud.fabric.interface import (
    Address,
    Direction,
    Port,
    Router,
    RouterLeg,
    Rule,
    Share,
    Volume,
)


def _address(data: dict[str, Any]) -> Address:
    routes = tuple((str(destination), str(hop)) for destination, hop in data["routes"])
    return Address(**{**data, "dns": tuple(data["dns"]), "routes": routes})


def _rule(data: dict[str, Any]) -> Rule:
    remotes = None if data["remotes"] is None else tuple(data["remotes"])
    return Rule(**{**data, "direction": Direction(data["direction"]), "remotes": remotes})


def _leg(data: dict[str, Any]) -> RouterLeg:
    return RouterLeg(**{**data, "addresses": tuple(map(_address, data["addresses"]))})


def port_from_json(data: dict[str, Any]) -> Port:
    """The port whose fields are this plain data."""
    rules = None if data["rules"] is None else tuple(map(_rule, data["rules"]))
    return Port(**{**data, "addresses": tuple(map(_address, data["addresses"])), "rules": rules})


def router_from_json(data: dict[str, Any]) -> Router:
    """The router whose fields are this plain data."""
    return Router(
        **{
            **data,
            "legs": tuple(map(_leg, data["legs"])),
            "gateway": None if data["gateway"] is None else _leg(data["gateway"]),
            "routes": tuple((str(destination), str(hop)) for destination, hop in data["routes"]),
        }
    )


def volume_to_json(volume: Volume) -> dict[str, Any]:
    """The fields of a volume as plain data; its paths hold in another process too."""
    image = None if volume.image is None else str(volume.image.resolve())
    return {**asdict(volume), "disk": str(volume.disk.resolve()), "image": image}


def volume_from_json(data: dict[str, Any]) -> Volume:
    """The volume whose fields are this plain data."""
    image = None if data["image"] is None else Path(data["image"])
    return Volume(**{**data, "disk": Path(data["disk"]), "image": image})


def share_to_json(share: Share) -> dict[str, Any]:
    """The fields of a share as plain data; its path holds in another process too."""
    return {**asdict(share), "disk": str(share.disk.resolve())}


def share_from_json(data: dict[str, Any]) -> Share:
    """The share whose fields are this plain data."""
    return Share(**{**data, "disk": Path(data["disk"])})
