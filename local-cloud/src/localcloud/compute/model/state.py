"""Collections of the compute service in the store, and the counters in them."""

from collections.abc import Iterator
from pathlib import Path

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document

# How many deleted servers are remembered, for lists of deleted servers and for usage reports.
TOMBSTONES = 1000


class State:
    """The collections of the compute service. It holds no logic of single resources."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.servers = store.collection("compute.server", index=("project_id",))
        self.tombstones = store.collection("compute.deleted_server", index=("project_id",))
        self.actions = store.collection("compute.instance_action", index=("instance_uuid",))
        self.flavors = store.collection("compute.flavor", index=("name",))
        self.keypairs = store.collection("compute.keypair", index=("user_id",))
        self.groups = store.collection("compute.server_group", index=("project_id",))
        self.aggregates = store.collection("compute.aggregate")
        self.services = store.collection("compute.service")
        self.quotas = store.collection("compute.quota")
        self._counters = store.collection("compute.counter")

    def now(self) -> str:
        """Return the present time as documents hold it."""
        return self.cloud.now()

    def next_number(self, counter: str) -> int:
        """Return the next number of a named counter, beginning with 1; it survives restarts."""
        document = self._counters.get(counter) or {"id": counter, "value": 0}
        number = int(document["value"]) + 1
        self._counters.put({"id": counter, "value": number})
        return number

    def directory(self, server_id: str) -> Path:
        """Return the directory of a server, which holds its disk and its console log."""
        return self.cloud.settings.cloud_dir / "servers" / server_id

    def in_project(self, project_id: str) -> Iterator[Document]:
        """Yield the servers of a project that exist."""
        return self.servers.find(project_id=project_id)

    def bury(self, server: Document) -> None:
        """Move a deleted server to the tombstones; the oldest of too many are forgotten."""
        with self.cloud.store.transaction():
            self.servers.delete(server["id"])
            self.tombstones.put(server)
            surplus = len(self.tombstones) - TOMBSTONES
            for old in list(self.tombstones.values())[: max(surplus, 0)]:
                self.tombstones.delete(old["id"])
                self.actions.delete_all(instance_uuid=old["id"])
