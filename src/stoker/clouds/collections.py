"""The collections of which resources are made, by service."""

from __future__ import annotations

from typing import Any

from stoker.clouds.collection import Collection

_PATCHED = frozenset({"dns", "identity", "image"})
"""Services that take changes as PATCH."""
_BARE = frozenset((
    "baremetal", "container_infrastructure_management", "dns", "image", "key_manager", "message",
    "workflow",
))  # fmt: skip
"""Services that put no name around an object."""
_BELOW = {"load_balancer": "/lbaas"}
"""What the paths of a service begin with."""


def collection(
    proxy: str, key: str, *, path: str = "", plural: str = "", words: str = "", **more: Any
) -> Collection:
    """A collection; its path, plural and words follow from its key unless they are given."""
    plural = plural or f"{key}s"
    return Collection(
        proxy,
        path or f"{_BELOW.get(proxy, '')}/{plural.replace('_', '-')}",
        key="" if proxy in _BARE else key,
        plural=plural,
        update_method="PATCH" if proxy in _PATCHED else "PUT",
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

SERVERS = collection("compute", "server")
FLAVORS = collection("compute", "flavor", filters_names=False)
KEYPAIRS = collection(
    "compute",
    "keypair",
    path="/os-keypairs",
    words="key pair",
    id_field="name",
    item_key="keypair",
    filters_names=False,
)
SERVER_GROUPS = collection(
    "compute", "server_group", path="/os-server-groups", microversion="2.15", filters_names=False
)

IMAGES = collection("image", "image")
PROJECTS = collection("identity", "project")
