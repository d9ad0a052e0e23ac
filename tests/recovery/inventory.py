"""All that a stack can have made in the cloud, by kind, as the administrator sees it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.recovery.service import Service

PORT = "OS::Neutron::Port"
COLLECTIONS = {
    "OS::Nova::Server": ("/compute/v2.1/servers/detail?all_tenants=1", "servers"),
    "OS::Cinder::Volume": ("/volume/v3/volumes/detail?all_tenants=1", "volumes"),
    "OS::Neutron::Net": ("/network/v2.0/networks", "networks"),
    "OS::Neutron::Subnet": ("/network/v2.0/subnets", "subnets"),
    "OS::Neutron::Router": ("/network/v2.0/routers", "routers"),
    "OS::Neutron::FloatingIP": ("/network/v2.0/floatingips", "floatingips"),
    "OS::Neutron::SecurityGroup": ("/network/v2.0/security-groups", "security_groups"),
    PORT: ("/network/v2.0/ports", "ports"),
}
IDENTITY = {
    "users": "/identity/v3/users",
    "projects": "/identity/v3/projects",
    "trusts": "/identity/v3/OS-TRUST/trusts",
    "credentials": "/identity/v3/credentials",
}


@dataclass(frozen=True)
class Inventory:
    """Ids by kind; ``ports`` are whole, as their owners matter."""

    ids: dict[str, frozenset[str]]
    ports: dict[str, dict[str, Any]] = field(default_factory=dict)

    def since(self, before: Inventory) -> Inventory:
        """Return the new objects."""
        return Inventory(
            {kind: ids - before.ids[kind] for kind, ids in self.ids.items()},
            {key: port for key, port in self.ports.items() if key not in before.ports},
        )

    def kinds(self) -> dict[str, list[str]]:
        """Return the kinds that have any object."""
        return {kind: sorted(ids) for kind, ids in self.ids.items() if ids}


def take(service: Service) -> Inventory:
    """List everything."""
    ids: dict[str, frozenset[str]] = {}
    ports: dict[str, dict[str, Any]] = {}
    for kind, (path, key) in COLLECTIONS.items():
        found = service.cloud(path)[key]
        ids[kind] = frozenset(entry["id"] for entry in found)
        assert len(ids[kind]) == len(found), f"{kind}: an id is listed twice"
        if kind == PORT:
            ports = {entry["id"]: entry for entry in found}
    for kind, path in IDENTITY.items():
        ids[kind] = frozenset(entry["id"] for entry in service.cloud(path)[kind])
    return Inventory(ids, ports)


def physical(resources: Iterable[dict[str, Any]], kind: str) -> frozenset[str]:
    """The physical ids of a stack's resources of one type."""
    return frozenset(r["physical_resource_id"] for r in resources if r["resource_type"] == kind)


def check(new: Inventory, resources: list[dict[str, Any]], stacks: int = 1) -> None:
    """Assert that the new objects are exactly those of these resources."""
    for kind in COLLECTIONS:
        if kind != PORT:
            assert new.ids[kind] == physical(resources, kind), kind
    types = Counter(resource["resource_type"] for resource in resources)
    owners = Counter(port["device_owner"].partition(":")[2] for port in new.ports.values())
    servers = physical(resources, "OS::Nova::Server")
    of_servers = {
        key: port for key, port in new.ports.items() if port["device_owner"].startswith("compute:")
    }
    assert {port["device_id"] for port in of_servers.values()} == servers
    assert len(of_servers) == len(servers), "a server has two ports"
    own = physical(resources, PORT)
    free = {key for key, port in new.ports.items() if not port["device_owner"]}
    assert own <= of_servers.keys() | free
    assert free <= own, "a port belongs to nobody"
    assert owners["router_interface"] == types["OS::Neutron::RouterInterface"]
    assert owners["router_gateway"] == types["OS::Neutron::Router"]
    assert owners["floatingip"] == types["OS::Neutron::FloatingIP"]
    handles = physical(resources, "OS::Heat::WaitConditionHandle")
    assert new.ids["users"] == handles, sorted(new.ids["users"] ^ handles)
    assert len(new.ids["projects"]) == (stacks if types["OS::Heat::WaitConditionHandle"] else 0)
    assert len(new.ids["trusts"]) == min(stacks, 1), "stacks of a user share a trust"
    assert not new.ids["credentials"]
