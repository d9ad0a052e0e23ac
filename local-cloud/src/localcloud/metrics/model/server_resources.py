"""The cloud's servers as resources of the metric service, with metrics of their own.

They are derived from the existing servers and ports at each request, so that no second copy must be
kept up to date.
"""

from collections.abc import Iterator, Mapping
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct

from localcloud.core.store import Document, Store
from localcloud.fabric.interface import Usage
from localcloud.metrics.model.archive_policies import OF_SERVERS

CREATOR = "cloud"  # creator of these resources in responses
_METERING = "metering."
_INSTANCE = {
    "cpu": "ns", "memory.usage": "MB", "memory": "MB", "vcpus": "vcpu", "disk.root.size": "GB",
}  # fmt: skip
_DISK = {"disk.device.read.bytes": "B", "disk.device.write.bytes": "B"}
_INTERFACE = {
    "network.incoming.bytes": "B", "network.incoming.packets": "packet",
    "network.outgoing.bytes": "B", "network.outgoing.packets": "packet",
}  # fmt: skip


class Reading(Struct, frozen=True):
    """A value of a metric now."""

    metric_id: str
    value: float
    counts: bool = False  # a counter that restarts with each boot


class ServerResources:
    """The resources that stand for servers, their disks and their ports."""

    def __init__(self, store: Store) -> None:
        self._servers = store.collection("compute.server", index=("project_id",))
        self._ports = store.collection("network.port", index=("device_id",))
        self._revision: tuple[int, int] | None = None
        self._found: tuple[dict[str, Document], dict[str, Document]] = ({}, {})

    def resources(self) -> Mapping[str, Document]:
        """Return all resources by their ids."""
        return self._known()[0]

    def metrics(self) -> Mapping[str, Document]:
        """Return all metrics by their ids."""
        return self._known()[1]

    def _known(self) -> tuple[dict[str, Document], dict[str, Document]]:
        revision = self._servers.revision, self._ports.revision
        if revision != self._revision:
            every = [each for server in self._servers.values() for each in self._of(server)]
            resources = {resource["id"]: resource for resource in every}
            metrics = {each["id"]: each for resource in every for each in metrics_of(resource)}
            self._revision, self._found = revision, (resources, metrics)
        return self._found

    def readings(self, usages: Mapping[str, Usage]) -> Iterator[Reading]:
        """Yield the measures of the running servers."""
        for resource in self.resources().values():
            server_id = resource.get("instance_id") or resource["id"]
            server = self._servers.get(server_id)
            if server is not None and server_id in usages:
                yield from _readings(server, resource, usages[server_id])

    def _of(self, server: Document) -> Iterator[Document]:
        yield _instance(server)
        yield _part(server, "instance_disk", "vda", f"{server['id']}-vda", _DISK)
        for port in self._ports.find(device_id=server["id"]):
            name = f"tap{port['id'][:11]}"
            key = f"{_instance_name(server)}-{server['id']}-{name}"
            part = _part(server, "instance_network_interface", name, key, _INTERFACE)
            yield {**part, "port_id": port["id"]}


def _readings(server: Document, resource: Document, usage: Usage) -> Iterator[Reading]:
    metrics = resource["metrics"]
    if resource["type"] == "instance":
        flavor = server["flavor"]
        yield Reading(metrics["cpu"], usage.cpu_ns, counts=True)
        yield Reading(metrics["memory.usage"], usage.memory_bytes / (1 << 20))
        yield Reading(metrics["memory"], flavor["ram"])
        yield Reading(metrics["vcpus"], flavor["vcpus"])
        yield Reading(metrics["disk.root.size"], flavor["disk"])
    elif resource["type"] == "instance_disk":
        for name, value in zip(_DISK, (usage.read_bytes, usage.written_bytes), strict=True):
            yield Reading(metrics[name], value, counts=True)
    elif resource["port_id"] in usage.ports:
        port = usage.ports[resource["port_id"]]
        values = port.received_bytes, port.received_packets, port.sent_bytes, port.sent_packets
        for name, value in zip(_INTERFACE, values, strict=True):
            yield Reading(metrics[name], value, counts=True)


def _instance(server: Document) -> Document:
    flavor = server["flavor"]
    metadata = {
        key.removeprefix(_METERING): value
        for key, value in server["metadata"].items()
        if key.startswith(_METERING)
    }
    made = _resource(server, "instance", server["id"], server["id"], _INSTANCE)
    return {
        **made,
        "display_name": server["name"],
        "host": server["host"],
        "image_ref": server["image_id"],
        "flavor_id": flavor["id"],
        "flavor_name": flavor["name"],
        "server_group": metadata.get("server_group"),
        "created_at": server["created"],
        "launched_at": server["launched_at"],
        "deleted_at": None,
        "user_metadata": metadata,
    }


def _part(
    server: Document, kind: str, name: str, original: str, metrics: dict[str, str]
) -> Document:
    made = _resource(server, kind, str(uuid5(NAMESPACE_URL, original)), original, metrics)
    return {**made, "name": name, "instance_id": server["id"]}


def _resource(
    server: Document, kind: str, key: str, original: str, metrics: dict[str, str]
) -> Document:
    return {
        "id": key,
        "original_resource_id": original,
        "type": kind,
        "user_id": server["user_id"],
        "project_id": server["project_id"],
        "creator": CREATOR,
        "started_at": server["created"],
        "revision_start": server["created"],
        "ended_at": None,
        "metrics": {name: str(uuid5(NAMESPACE_URL, f"{key}/{name}")) for name in metrics},
    }


def metrics_of(resource: Document) -> Iterator[Document]:
    """Yield the metrics of a server's resource."""
    for name, metric_id in resource["metrics"].items():
        yield {
            "id": metric_id,
            "name": name,
            "unit": (_INSTANCE | _DISK | _INTERFACE)[name],
            "archive_policy_name": OF_SERVERS,
            "resource_id": resource["id"],
            "creator": CREATOR,
        }


def _instance_name(server: Document) -> str:
    return f"instance-{server['number']:08x}"
