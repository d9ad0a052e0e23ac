"""The documents that a server reads about itself from the metadata service."""

import base64
import secrets
from datetime import datetime

from localcloud.core.store import Document
from localcloud.network.server_views import AddressMap

DOMAIN = "novalocal"
_SEED_BYTES = 512


def qualified(server: Document) -> str:
    """Return the host name of a server with a domain."""
    hostname = str(server["hostname"])
    return hostname if "." in hostname else f"{hostname}.{DOMAIN}"


def metadata(server: Document, tagged: list[tuple[str, str]]) -> dict[str, object]:
    """Return the content of ``meta_data.json``; ``tagged`` has the MAC addresses with a tag."""
    document: dict[str, object] = {
        "uuid": server["id"],
        "name": server["name"],
        "hostname": qualified(server),
        "availability_zone": server["zone"],
        "project_id": server["project_id"],
        "launch_index": server["launch_index"],
        "random_seed": base64.b64encode(secrets.token_bytes(_SEED_BYTES)).decode(),
        "devices": [
            {"type": "nic", "mac": mac, "tags": [tag], "bus": "none", "address": "none"}
            for mac, tag in tagged
        ],
        "dedicated_cpus": [],
    }
    if server["metadata"]:
        document["meta"] = server["metadata"]
    key = server["key"]
    if key is not None:
        document["public_keys"] = {key["name"]: key["public_key"]}
        document["keys"] = [{"name": key["name"], "type": key["type"], "data": key["public_key"]}]
    return document


def ec2(server: Document, addresses: AddressMap, groups: list[str]) -> dict[str, object]:
    """Return the tree below ``/latest/meta-data/``; ``groups`` are names of security groups."""
    name = qualified(server)
    tree: dict[str, object] = {
        "ami-id": f"ami-{server['number']:08x}",
        "ami-launch-index": str(server["launch_index"]),
        "ami-manifest-path": "FIXME",
        "block-device-mapping": {"ami": "vda", "root": "/dev/vda"},
        "hostname": name,
        "instance-action": "none",
        "instance-id": f"i-{server['number']:08x}",
        "instance-type": server["flavor"]["name"],
        "local-hostname": name,
        "local-ipv4": _first(addresses, "fixed"),
        "placement": {"availability-zone": server["zone"]},
        "public-hostname": name,
        "public-ipv4": _first(addresses, "floating"),
        "reservation-id": server["reservation_id"],
        "security-groups": "\n".join(groups),
    }
    key = server["key"]
    if key is not None:
        tree["public-keys"] = {"0": {"openssh-key": key["public_key"]}}
    return tree


def _first(addresses: AddressMap, kind: str) -> str:
    every = (entry for entries in addresses.values() for entry in entries)
    found = (e for e in every if e["version"] == 4 and e["OS-EXT-IPS:type"] == kind)
    return next((str(e["addr"]) for e in found), "")


def started_seconds(server: Document, now: datetime) -> int:
    """Return for how many seconds the server has existed as one that runs."""
    if server["launched_at"] is None:
        return 0
    return int((now - datetime.fromisoformat(server["launched_at"])).total_seconds())
