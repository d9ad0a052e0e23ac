"""The documents of the network service, with the indexes that make each request cheap.

Documents are never changed in place: an update puts a new one. Derived data (the owners of
addresses, the members of security groups) follows every write immediately, and is rolled back
together with the store when a change fails.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Collection, Document
from localcloud.network.errors import not_found
from localcloud.network.model import ipam
from localcloud.network.model.ipam import SubnetAddresses
from localcloud.network.model.pending import Pending

_INDEXES = {
    "network": ("project_id",),
    "subnet": ("project_id", "network_id", "subnetpool_id"),
    "subnetpool": ("project_id", "address_scope_id"),
    "address_scope": ("project_id",),
    "address_group": ("project_id",),
    "port": ("project_id", "network_id", "device_id", "device_owner"),
    "router": ("project_id",),
    "floatingip": (
        "project_id",
        "port_id",
        "router_id",
        "floating_network_id",
        "floating_ip_address",
    ),
    "security_group": ("project_id", "name"),
    "security_group_rule": (
        "project_id",
        "security_group_id",
        "remote_group_id",
        "remote_address_group_id",
    ),
    "trunk": ("project_id", "port_id"),
    "rbac_policy": ("project_id", "object_id"),
    "quota": (),
    "bootstrap": (),
}


class State:
    """All objects of the network service."""

    def __init__(self, cloud: Cloud) -> None:
        self._store = cloud.store
        self._now = cloud.now
        self.floating_cidr = cloud.settings.floating_cidr
        self.forwardings = cloud.fabric.forwardings
        self.pending = Pending()
        self._collections = {
            kind: cloud.store.collection(f"network.{kind}", index=fields)
            for kind, fields in _INDEXES.items()
        }
        self._counts: Counter[tuple[str, str]] = Counter()
        self._addresses: dict[str, SubnetAddresses] = {}
        self._macs: dict[tuple[str, str], str] = {}
        self._members: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._member_prefixes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._undo: list[tuple[str, Document | None, Document | None]] | None = None
        for kind in ("subnet", *(k for k in _INDEXES if k != "subnet")):
            for document in self._collections[kind].values():
                self._derive(kind, None, document)

    def project_named(self, name: str) -> str | None:
        """Return the id of a project of the identity service, where there is one."""
        projects = self._store.collection("identity.project", index=("name",))
        return next((str(project["id"]) for project in projects.find(name=name)), None)

    def all(self, kind: str) -> Collection:
        """Return the collection of a kind, for reading."""
        return self._collections[kind]

    def get(self, kind: str, object_id: str) -> Document:
        """Return the object; raises the API's 404."""
        found = self._collections[kind].get(object_id)
        if found is None:
            raise not_found(kind, object_id)
        return found

    def count(self, kind: str, project_id: str) -> int:
        """Return how many objects of the kind a project has."""
        return self._counts[(kind, project_id)]

    def create(self, kind: str, values: Document) -> Document:
        """Put a new object with an id, times and the first revision; returns it."""
        now = self._now()
        document = {
            "id": str(uuid4()),
            **values,
            "created_at": now,
            "updated_at": now,
            "revision_number": 1,
        }
        self._write(kind, None, document)
        return document

    def update(self, kind: str, document: Document, changes: Document) -> Document:
        """Put the object with the changes as its next revision; returns it."""
        changed = {
            **document,
            **changes,
            "updated_at": self._now(),
            "revision_number": document["revision_number"] + 1,
        }
        self._write(kind, document, changed)
        return changed

    def delete(self, kind: str, document: Document) -> None:
        """Remove the object."""
        self._collections[kind].delete(document["id"])
        self._follow(kind, document, None)

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make the writes of the block one commit; an exception undoes all of them."""
        if self._undo is not None:
            yield
            return
        self._undo = []
        try:
            with self._store.transaction():
                yield
        except BaseException:
            for kind, old, new in reversed(self._undo):
                self._derive(kind, new, old)
            raise
        finally:
            self._undo = None

    def subnets(self, network_id: str) -> list[Document]:
        """Return the subnets of a network, the oldest first."""
        found = self._collections["subnet"].find(network_id=network_id)
        return sorted(found, key=lambda subnet: str(subnet["created_at"]))

    def addresses(self, subnet_id: str) -> SubnetAddresses:
        """Return the allocated addresses of a subnet."""
        return self._addresses[subnet_id]

    def mac_owner(self, network_id: str, mac: str) -> str | None:
        """Return the port that has the MAC address in the network, or None."""
        return self._macs.get((network_id, mac))

    def members(self, group_id: str) -> list[Document]:
        """Return the ports of a security group."""
        ports = self._collections["port"]
        found = (ports.get(object_id) for object_id in self._members.get(group_id, ()))
        return [port for port in found if port is not None]

    def member_prefixes(self, group_id: str, ethertype: str) -> Iterable[str]:
        """Return the CIDRs that the ports of a security group send from."""
        return self._member_prefixes.get((group_id, ethertype), ())

    def _write(self, kind: str, old: Document | None, new: Document) -> None:
        self._collections[kind].put(new)
        self._follow(kind, old, new)

    def _follow(self, kind: str, old: Document | None, new: Document | None) -> None:
        self._derive(kind, old, new)
        if self._undo is not None:
            self._undo.append((kind, old, new))

    def _derive(self, kind: str, old: Document | None, new: Document | None) -> None:
        if old is not None:
            self._counts[(kind, old.get("project_id") or "")] -= 1
        if new is not None:
            self._counts[(kind, new.get("project_id") or "")] += 1
        if kind == "port":
            self._derive_port(old, new)
        elif kind == "subnet":
            self._derive_subnet(old, new)

    def _derive_port(self, old: Document | None, new: Document | None) -> None:
        if old is not None:
            for fixed in old["fixed_ips"]:
                if fixed["subnet_id"] in self._addresses:
                    self._addresses[fixed["subnet_id"]].release(fixed["ip_address"])
            self._macs.pop((old["network_id"], old["mac_address"]), None)
            for group in old["security_groups"]:
                self._members[group].pop(old["id"], None)
            self._derive_prefixes(old, -1)
        if new is not None:
            for fixed in new["fixed_ips"]:
                self._addresses[fixed["subnet_id"]].take(fixed["ip_address"], new["id"])
            self._macs[(new["network_id"], new["mac_address"])] = new["id"]
            for group in new["security_groups"]:
                self._members[group][new["id"]] = None
            self._derive_prefixes(new, 1)

    def _derive_prefixes(self, port: Document, step: int) -> None:
        addresses = [
            *(fixed["ip_address"] for fixed in port["fixed_ips"]),
            *(pair["ip_address"] for pair in port["allowed_address_pairs"]),
        ]
        for prefix in map(ipam.as_prefix, addresses):
            ethertype = "IPv6" if ":" in prefix else "IPv4"
            for group in port["security_groups"]:
                counts = self._member_prefixes[(group, ethertype)]
                counts[prefix] += step
                if not counts[prefix]:
                    del counts[prefix]

    def _derive_subnet(self, old: Document | None, new: Document | None) -> None:
        if new is None:
            if old is not None:
                self._addresses.pop(old["id"], None)
            return
        known = self._addresses.get(new["id"])
        ranges = ipam.pools(new["allocation_pools"])
        owners = {} if known is None else known.owners
        if known is None or known.ranges != ranges:
            self._addresses[new["id"]] = SubnetAddresses(ranges, owners)
