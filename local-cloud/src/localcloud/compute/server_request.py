"""The request for new servers: checked and typed for its microversion."""

import re
import secrets
import string
from typing import Any

from msgspec import Struct

from localcloud.compute.model import fields as values
from localcloud.web.http import BadRequestError
from localcloud.web.microversions import Microversion

USER_DATA_LIMIT = 65535
_PERSONALITY_LIMIT = 5
_HINT_KEYS = ("os:scheduler_hints", "OS-SCH-HNT:scheduler_hints")
_FIELDS = (
    "name", "imageRef", "flavorRef", "adminPass", "metadata", "networks", "availability_zone",
    "OS-DCF:diskConfig", "accessIPv4", "accessIPv6", "block_device_mapping",
    "block_device_mapping_v2", "config_drive", "key_name", "min_count", "max_count",
    "return_reservation_id", "security_groups", "user_data",
)  # fmt: skip
_LATER_FIELDS = {
    19: ("description",),
    52: ("tags",),
    63: ("trusted_image_certificates",),
    74: ("host", "hypervisor_hostname"),
    90: ("hostname",),
}
_VOLUMES = ("volume", "snapshot")
_SOURCES = (*_VOLUMES, "image", "blank")  # of block devices
_TAG = re.compile(r"[^,/]{1,60}")


class NetworkWish(Struct, frozen=True):
    """One network interface that a new server shall have."""

    network_id: str | None = None
    port_id: str | None = None
    fixed_ip: str | None = None
    tag: str | None = None


class Placement(Struct, frozen=True):
    """The number of servers, and their place."""

    least: int = 1
    most: int = 1
    zone: str | None = None
    host: str | None = None
    hints: dict[str, Any] | None = None
    return_reservation_id: bool = False


class ServerRequest(Struct, frozen=True):
    """A request for new servers; whether the things that it names exist is not checked here."""

    name: str
    flavor_id: str
    image_id: str  # empty where the server boots from a volume
    networks: tuple[NetworkWish, ...] | str | None  # `auto`, `none`, or None where nothing is said
    placement: Placement
    admin_password: str
    fields: dict[str, Any]  # what goes into the server's document as it is
    key_name: str | None
    security_groups: tuple[str, ...]
    block_devices: tuple[dict[str, Any], ...]


def read(body: dict[str, Any], version: Microversion) -> ServerRequest:
    """Return the request of a ``POST /servers``; raises :class:`BadRequestError`."""
    if "server" not in body:
        raise BadRequestError("The request body must have an object 'server'.")
    server = values.mapping(body, "server")
    known = version.names(_FIELDS, _LATER_FIELDS)
    if not version.since(57):
        known.add("personality")
    values.allowed(server, known, "server")
    devices = _devices(server)
    image_ref = server.get("imageRef")
    name = values.name(server)
    return ServerRequest(
        name=name,
        flavor_id=values.reference(server.get("flavorRef"), "flavorRef"),
        image_id=_image(image_ref, devices),
        networks=_networks(server, version),
        placement=_placement(server, body),
        admin_password=values.optional_text(server, "adminPass") or password(),
        fields=_document_fields(server, version),
        key_name=values.optional_text(server, "key_name"),
        security_groups=tuple(
            values.text(group, "name") for group in values.objects(server, "security_groups")
        ),
        block_devices=tuple(d for d in devices if not _is_local_image(d)),
    )


def password() -> str:
    """Return a new administrator password."""
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(12))


def _document_fields(server: dict[str, Any], version: Microversion) -> dict[str, Any]:
    user_data = server.get("user_data")
    if user_data is not None:
        user_data = values.encoded(user_data, "user_data", USER_DATA_LIMIT)
    hostname = server.get("hostname")
    drive = server.get("config_drive")
    return {
        "metadata": values.metadata(server.get("metadata")),
        "user_data": user_data,
        "config_drive": False
        if drive in {None, ""}
        else values.boolean(server, "config_drive", False),
        "description": _description(server, version),
        "hostname": None if hostname is None else values.hostname(hostname),
        "tags": tags(server.get("tags") or []),
        "access_ipv4": values.optional_text(server, "accessIPv4") or "",
        "access_ipv6": values.optional_text(server, "accessIPv6") or "",
        "disk_config": disk_config(server),
        "personality": personality(server),
    }


def _description(server: dict[str, Any], version: Microversion) -> str | None:
    if version.since(19):
        return values.optional_text(server, "description")
    return values.name(server)


def disk_config(server: dict[str, Any]) -> str:
    """Return how the disk is to be partitioned: AUTO or MANUAL."""
    value = server.get("OS-DCF:diskConfig", "MANUAL")
    if value not in {"AUTO", "MANUAL"}:
        raise BadRequestError("Invalid input for 'OS-DCF:diskConfig': it must be AUTO or MANUAL.")
    return str(value)


def personality(server: dict[str, Any]) -> list[dict[str, str]]:
    """Return the files to put into a server: path and base64 contents."""
    files = values.objects(server, "personality")
    if len(files) > _PERSONALITY_LIMIT:
        raise BadRequestError(f"More than {_PERSONALITY_LIMIT} personality files are not allowed.")
    return [
        {
            "path": values.text(file, "path"),
            "contents": values.encoded(file.get("contents"), "personality", USER_DATA_LIMIT),
        }
        for file in files
    ]


def tags(value: Any) -> list[str]:
    """Return the tags of a server, each once."""
    if not isinstance(value, list) or len(value) > 50:
        raise BadRequestError("Invalid input for 'tags': it must be a list of up to 50 tags.")
    for tag in value:
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            raise BadRequestError(
                "Invalid input for 'tags': a tag has 1 to 60 characters, without ',' and '/'."
            )
    return list(dict.fromkeys(value))


def _placement(server: dict[str, Any], body: dict[str, Any]) -> Placement:
    zone = values.optional_text(server, "availability_zone") or None
    host = values.optional_text(server, "host") or values.optional_text(
        server, "hypervisor_hostname"
    )
    if zone is not None and ":" in zone:
        zone, host = zone.split(":")[:2]
    least = values.integer(server, "min_count", 1, least=1)
    most = values.integer(server, "max_count", max(least, 1), least=1)
    if least > most:
        raise BadRequestError("min_count must be <= max_count")
    hints: dict[str, Any] = {}
    for key in _HINT_KEYS:
        hints |= values.mapping(body, key)
    return Placement(
        least=least,
        most=most,
        zone=zone or None,
        host=host or None,
        hints=hints,
        return_reservation_id=values.boolean(server, "return_reservation_id", False),
    )


def _networks(
    server: dict[str, Any], version: Microversion
) -> tuple[NetworkWish, ...] | str | None:
    networks = server.get("networks")
    if version.since(37):
        if networks is None:
            raise BadRequestError("'networks' is a required property.")
        if isinstance(networks, str):
            if networks not in {"auto", "none"}:
                raise BadRequestError(
                    "Invalid input for 'networks': it must be a list, auto or none."
                )
            return networks
    if networks is None:
        return None
    return tuple(_wish(n, version) for n in values.objects(server, "networks")) or None


def _wish(network: dict[str, Any], version: Microversion) -> NetworkWish:
    known = {"uuid", "port", "fixed_ip"}
    if version.within(32, 36) or version.since(42):
        known.add("tag")
    values.allowed(network, known, "networks")
    port, uuid = network.get("port"), network.get("uuid")
    if port is not None:
        return NetworkWish(
            port_id=values.uuid(port, "port"), tag=values.optional_text(network, "tag", 60)
        )
    if uuid is None:
        raise BadRequestError("Invalid input for 'networks': each needs a 'uuid' or a 'port'.")
    return NetworkWish(
        network_id=values.uuid(uuid, "networks"),
        fixed_ip=values.optional_text(network, "fixed_ip"),
        tag=values.optional_text(network, "tag", 60),
    )


def _devices(server: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the block devices in their newer form."""
    newer = values.objects(server, "block_device_mapping_v2")
    older = values.objects(server, "block_device_mapping")
    if newer and older:
        raise BadRequestError("Using different block_device_mapping syntaxes is not allowed.")
    for device in newer:
        if device.get("source_type") not in _SOURCES:
            raise BadRequestError("Block Device Mapping is Invalid: Invalid source_type field.")
        device.setdefault(
            "destination_type", "volume" if device["source_type"] in _VOLUMES else "local"
        )
    return newer + [_newer(device, bool(server.get("imageRef"))) for device in older]


def _newer(device: dict[str, Any], has_image: bool) -> dict[str, Any]:
    """Return a block device of the older form, in which the name of the root's is known."""
    name = values.text(device, "device_name")
    source = next((each for each in _VOLUMES if device.get(f"{each}_id")), None)
    if source is None:
        raise BadRequestError(
            "Block Device Mapping is Invalid: it names no volume and no snapshot."
        )
    root = not has_image and name.removeprefix("/dev/") in {"vda", "sda", "hda"}
    return {
        "source_type": source,
        "destination_type": "volume",
        "uuid": device[f"{source}_id"],
        "device_name": name,
        "volume_size": device.get("volume_size"),
        "delete_on_termination": device.get("delete_on_termination", False),
        "boot_index": 0 if root else None,
    }


def _is_local_image(device: dict[str, Any]) -> bool:
    destination = device.get("destination_type", "local")
    return device.get("source_type") == "image" and destination == "local"


def _image(reference: Any, devices: list[dict[str, Any]]) -> str:
    roots = [d for d in devices if str(d.get("boot_index")) == "0"]
    if len(roots) > 1:
        raise BadRequestError(
            "Block Device Mapping is Invalid: more than one device has boot_index 0."
        )
    if reference:
        image_id = values.uuid(values.reference(reference, "imageRef"), "imageRef")
    elif roots and _is_local_image(roots[0]):
        image_id = values.uuid(roots[0].get("uuid"), "block_device_mapping_v2")
    elif roots:
        return ""
    else:
        raise BadRequestError(
            "Invalid imageRef provided: a server needs an image or a boot volume."
        )
    if roots and _is_local_image(roots[0]) and roots[0].get("uuid") != image_id:
        raise BadRequestError(
            "Block Device Mapping is Invalid: it names another image than imageRef."
        )
    return image_id
