"""The collections of each service."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Collection

# Services with JSON patches -> operation that sets a field. Clusters always have all fields, ports
# only those with values.
_JSON_PATCHED = {"baremetal": "add", "container-infrastructure-management": "replace"}
# Services whose updates are PATCH requests.
_PATCHED = frozenset({*_JSON_PATCHED, "application-container", "dns", "identity", "image"})
# Services whose bodies have no key around the object.
_BARE = frozenset((
    "alarm", "application-container", "baremetal", "container-infrastructure-management", "dns",
    "image", "key-manager", "message", "workflow",
))  # fmt: skip
# Required headers. Zaqar requires a UUID as client id.
_CLIENT = {"message": (("Client-ID", "5f0c1d1e-9a0e-4c7a-8f5e-2b3c0a6d7e91"),)}
_BELOW = {"load-balancer": "/lbaas"}  # path prefixes


def collection(
    service: str, key: str, *, path: str = "", plural: str = "", words: str = "", **more: Any
) -> Collection:
    """Return a collection. Path, plural and words follow from the key unless they are given."""
    plural = plural or f"{key}s"
    return Collection(
        service,
        path or f"{_BELOW.get(service, '')}/{plural.replace('_', '-')}",
        key="" if service in _BARE else key,
        plural=plural,
        patches=_JSON_PATCHED.get(service, ""),
        update_method="PATCH" if service in _PATCHED else "PUT",
        headers=_CLIENT.get(service, ()),
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
    "block-storage",
    "volume",
    beside=("OS-SCH-HNT:scheduler_hints",),
    detailed="/volumes/detail",
)
BACKUPS = collection("block-storage", "backup", words="volume backup")
MESSAGES = collection("block-storage", "message", microversion="3.5")
VOLUME_TYPES = collection("block-storage", "volume_type", path="/types", filters=False)
QOS_SPECS = collection(
    "block-storage",
    "qos_specs",
    plural="qos_specs",
    words="QoS specs",
    path="/qos-specs",
    filters=False,
)

IMAGES = collection("image", "image")
PROJECTS = collection("identity", "project", in_domains=True)
