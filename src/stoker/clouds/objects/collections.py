"""The collections of each service."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Collection

# Services with JSON patches -> operation that sets a field. Clusters always have all fields, ports
# only those with values.
_JSON_PATCHED = {"baremetal": "add", "container_infrastructure_management": "replace"}
# Services whose updates are PATCH requests.
_PATCHED = frozenset({*_JSON_PATCHED, "application_container", "dns", "identity", "image"})
# Services whose bodies have no key around the object.
_BARE = frozenset((
    "alarm", "application_container", "baremetal", "container_infrastructure_management", "dns",
    "image", "key_manager", "message", "workflow",
))  # fmt: skip
# Required headers. Zaqar requires a UUID as client id.
_CLIENT = {"message": (("Client-ID", "5f0c1d1e-9a0e-4c7a-8f5e-2b3c0a6d7e91"),)}
_BELOW = {"load_balancer": "/lbaas"}  # path prefixes


def collection(
    proxy: str, key: str, *, path: str = "", plural: str = "", words: str = "", **more: Any
) -> Collection:
    """Return a collection. Path, plural and words follow from the key unless they are given."""
    plural = plural or f"{key}s"
    return Collection(
        proxy,
        path or f"{_BELOW.get(proxy, '')}/{plural.replace('_', '-')}",
        key="" if proxy in _BARE else key,
        plural=plural,
        patches=_JSON_PATCHED.get(proxy, ""),
        update_method="PATCH" if proxy in _PATCHED else "PUT",
        headers=_CLIENT.get(proxy, ()),
        words=words or key.replace("_", " "),
        **more,
    )


NETWORKS = collection("network", "network")
SUBNETS = collection("network", "subnet")
PORTS = collection("network", "port")
ROUTERS = collection("network", "router")
SECURITY_GROUPS = collection("network", "security_group")
SECURITY_GROUP_RULES = collection("network", "security_group_rule")
FLOATING_IPS = collection("network", "floatingip", words="floating IP")
SUBNET_POOLS = collection("network", "subnetpool", words="subnet pool")
ADDRESS_SCOPES = collection("network", "address_scope")
QOS_POLICIES = collection(
    "network", "policy", path="/qos/policies", plural="policies", words="QoS policy"
)

SERVERS = collection("compute", "server", detailed="/servers/detail")
FLAVORS = collection("compute", "flavor", filters=False)
KEYPAIRS = collection(
    "compute",
    "keypair",
    path="/os-keypairs",
    words="key pair",
    id_field="name",
    item_key="keypair",
    filters=False,
)
SERVER_GROUPS = collection(
    "compute", "server_group", path="/os-server-groups", microversion="2.15", filters=False
)

VOLUMES = collection(
    "block_storage",
    "volume",
    beside=("OS-SCH-HNT:scheduler_hints",),
    detailed="/volumes/detail",
)
BACKUPS = collection("block_storage", "backup", words="volume backup")
MESSAGES = collection("block_storage", "message", microversion="3.5")
VOLUME_TYPES = collection("block_storage", "volume_type", path="/types", filters=False)
QOS_SPECS = collection(
    "block_storage",
    "qos_specs",
    plural="qos_specs",
    words="QoS specs",
    path="/qos-specs",
    filters=False,
)

IMAGES = collection("image", "image")
PROJECTS = collection("identity", "project", in_domains=True)
