"""Records of accounts, containers and objects; their sorted names and their counts.

All handlers get the one instance by ``cloud.one(Records)``.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from math import ceil

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import CONTAINERS, MANIFEST, OBJECTS

ACCOUNT_PREFIX = "AUTH_"


@dataclass
class UsageCounter:
    """Number and bytes of objects in an account or a container."""

    # Sorted: of containers in an account, of objects in a container.
    names: list[str] = field(default_factory=list)
    objects: int = 0
    bytes: int = 0

    def add(self, name: str) -> None:
        """Take a new name in."""
        insort(self.names, name)

    def remove(self, name: str) -> None:
        """Take a name out."""
        del self.names[bisect_left(self.names, name)]


class Records:
    """The documents of all accounts."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self.accounts = cloud.store.collection("object_store.account")
        self.containers = cloud.store.collection("object_store.container")
        self.objects = cloud.store.collection("object_store.object")
        self._tallies: dict[str, UsageCounter] = {}
        for container in self.containers.values():
            self._tally(container["account"]).names.append(container["name"])
        for item in self.objects.values():
            self._tally(item["container"]).names.append(item["name"])
            self._count(item, 1)
        for tally in self._tallies.values():
            tally.names.sort()
        self.containers.watch(self._container_changed)
        self.objects.watch(self._object_changed)

    def now(self) -> float:
        """Return the present time in seconds since 1970."""
        return self._cloud.clock.now().timestamp()

    def account(self, account: str) -> Document:
        """Return the record of an account. It need not have been used before."""
        return self.accounts.get(account) or {
            "id": account,
            "metadata": {},
            "timestamp": self.now(),
        }

    def ensure_account(self, account: str) -> None:
        """Remember an account that is used for the first time."""
        if account not in self.accounts:
            self.accounts.put(self.account(account))

    def container(self, container_id: str) -> Document:
        """Return a container; raises :class:`ObjectStoreError`."""
        found = self.containers.get(container_id)
        if found is None:
            raise ObjectStoreError(404)
        return found

    def object(self, object_id: str) -> Document | None:
        """Return an object that exists and has not expired."""
        found = self.objects.get(object_id)
        return None if found is None or _is_over(found, self.now()) else found

    def objects_of(self, container_id: str, names: Iterable[str]) -> list[Document]:
        """Return the objects of these names in a container, without those that have expired."""
        now, found = self.now(), (self.objects.get(f"{container_id}/{name}") for name in names)
        return [item for item in found if item is not None and not _is_over(item, now)]

    def put_container(self, container: Document) -> None:
        """Keep a container; raises :class:`ObjectStoreError` beyond the count of its account."""
        new = container["id"] not in self.containers
        if new and len(self.tally(container["account"]).names) >= CONTAINERS:
            raise ObjectStoreError(
                403, f"An account of this cloud has {CONTAINERS} containers at most."
            )
        with self._cloud.store.transaction():
            self.ensure_account(container["account"])
            self.containers.put(container)

    def put_object(self, item: Document) -> str | None:
        """Store a record; returns the file that no record names any more, if there is one.

        If the container keeps versions, the replaced object becomes a version. Raises
        :class:`ObjectStoreError` if quotas or counts forbid it, or if the container of versions is
        missing.
        """
        before = self.objects.get(item["id"])
        container = self.container(item["container"])
        self._require_room(container, item, before)
        version = None if before is None else self._version(container, before)
        with self._cloud.store.transaction():
            if version is not None:
                self._require_room(self.container(version["container"]), version, None)
                self.objects.put(version)
            self.objects.put(item)
        return str(before["data"]) if before is not None and version is None else None

    def remove_object(self, object_id: str) -> str:
        """Forget an object and return its file; raises :class:`ObjectStoreError` where there is
        none.

        The newest of its versions takes its place.
        """
        found = self.object(object_id)
        if found is None:
            raise ObjectStoreError(404)
        version = self._newest_version(found)
        with self._cloud.store.transaction():
            self.objects.delete(object_id)
            if version is not None:
                self.objects.delete(version["id"])
                place = {key: found[key] for key in ("id", "container", "name")}
                self.objects.put({**version, **place, "timestamp": self.now()})
        return str(found["data"])

    def _require_room(self, container: Document, item: Document, before: Document | None) -> None:
        tally = self.tally(container["id"])
        more = int(before is None)
        if more and self.tally(container["account"]).objects >= OBJECTS:
            raise ObjectStoreError(413, f"An account of this cloud has {OBJECTS} objects at most.")
        size = tally.bytes + item["bytes"] - (before["bytes"] if before else 0)
        for quota, used in (("quota-bytes", size), ("quota-count", len(tally.names) + more)):
            limit = container["metadata"].get(quota)
            if limit is not None and used > int(limit):
                raise ObjectStoreError(413, "Upload exceeds quota.")

    def _version(self, container: Document, item: Document) -> Document | None:
        """An object as the version that is kept of it; None where none is.

        Raises :class:`ObjectStoreError` where the container for versions is missing.
        """
        versions_in = container.get("versions")
        if not versions_in or MANIFEST in item["headers"] or _is_over(item, self.now()):
            return None
        container_id = f"{container['account']}/{versions_in}"
        if container_id not in self.containers:
            raise ObjectStoreError(412)
        name = f"{_prefix_of_versions(item)}{item['timestamp']:016.5f}"
        return {**item, "id": f"{container_id}/{name}", "container": container_id, "name": name}

    def _newest_version(self, item: Document) -> Document | None:
        container = self.container(item["container"])
        versions_in = container.get("versions")
        if not versions_in:
            return None
        container_id, prefix = f"{container['account']}/{versions_in}", _prefix_of_versions(item)
        names = self.tally(container_id).names
        for name in reversed(names[bisect_left(names, prefix) : bisect_left(names, f"{prefix}:")]):
            if (found := self.object(f"{container_id}/{name}")) is not None:
                return found
        return None

    def tally(self, key: str) -> UsageCounter:
        """Return the usage of an account or a container."""
        return self._tallies.get(key) or UsageCounter()

    def _tally(self, key: str) -> UsageCounter:
        return self._tallies.setdefault(key, UsageCounter())

    def _count(self, item: Document, sign: int) -> None:
        for key in (item["container"], item["container"].partition("/")[0]):
            tally = self._tally(key)
            tally.objects += sign
            tally.bytes += sign * item["bytes"]

    def _container_changed(self, before: Document | None, after: Document | None) -> None:
        if after is None and before is not None:
            self._tally(before["account"]).remove(before["name"])
            self._tallies.pop(before["id"], None)
        elif before is None and after is not None:
            self._tally(after["account"]).add(after["name"])

    def _object_changed(self, before: Document | None, after: Document | None) -> None:
        if before is not None:
            self._count(before, -1)
        if after is not None:
            self._count(after, 1)
        if after is None and before is not None:
            self._tally(before["container"]).remove(before["name"])
        elif before is None and after is not None:
            self._tally(after["container"]).add(after["name"])


def _prefix_of_versions(item: Document) -> str:
    """The prefix of the names of an object's versions, as in Swift; the time follows it."""
    return f"{len(item['name'].encode()):03x}{item['name']}/"


def _is_over(item: Document, now: float) -> bool:
    return item["delete_at"] is not None and item["delete_at"] <= now


def http_date(moment: float) -> str:
    """Return a time as headers show it, rounded up as Swift does."""
    return formatdate(ceil(moment), usegmt=True)


def iso_date(moment: float) -> str:
    """Return a time as listings show it."""
    return datetime.fromtimestamp(moment, UTC).replace(tzinfo=None).isoformat("T", "microseconds")


def stamp(moment: float) -> str:
    """Return a time as the header X-Timestamp shows it."""
    return f"{moment:.5f}"
