"""Documents of the DNS service: zones, record sets, names of floating IPs and quotas."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.dns.errors import DnsError, bad_request
from localcloud.web.http import RequestContext

PREFIX = "/dns"
NAME_SERVER = "ns1.localcloud."
DEFAULT_TTL = 3600
_SOA = "600 86400 3600"
_REFRESH = 3600
POOL = "794ccc2c-d751-44fe-b57f-8894c9f5c842"


class State:
    """The collections of the DNS service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.zones = store.collection("dns.zone", index=("project_id", "name"))
        self.recordsets = store.collection("dns.recordset", index=("zone_id", "name"))
        self.pointers = store.collection("dns.pointer", index=("project_id",))
        self.quotas = store.collection("dns.quota")
        self.floating_ips = store.collection("network.floatingip")

    def now(self) -> str:
        """Return the present time as documents hold it."""
        return self.cloud.now().rstrip("Z") + ".000000"

    def new(self, project: str, **fields: Any) -> Document:
        """Return a new object whose making is under way."""
        return {
            "id": str(uuid4()),
            "project_id": project,
            "status": "PENDING",
            "action": "CREATE",
            "version": 1,
            "created_at": self.now(),
            "updated_at": None,
            **fields,
        }

    def changed(self, document: Document, **fields: Any) -> Document:
        """Return an object as it is after a change, which is under way."""
        return {
            **document,
            "action": "UPDATE",
            **fields,
            "status": "PENDING",
            "version": document["version"] + 1,
            "updated_at": self.now(),
        }

    def zone(self, who: RequestContext, zone_id: str) -> Document:
        """Return a zone that the caller may see; raises DnsError."""
        check_id("zone_id", zone_id)
        found = self.zones.get(zone_id)
        if found is None or not (who.is_admin or found["project_id"] == who.project_id):
            raise DnsError(404, "zone_not_found", "Could not find Zone")
        return found

    def recordset(self, zone: Document, recordset_id: str) -> Document:
        """Return a record set of a zone; raises DnsError."""
        check_id("recordset_id", recordset_id)
        found = self.recordsets.get(recordset_id)
        if found is None or found["zone_id"] != zone["id"]:
            raise DnsError(404, "recordset_not_found", "Could not find RecordSet")
        return found

    def of_zone(self, zone: Document) -> Iterator[Document]:
        """Yield the record sets of a zone."""
        return self.recordsets.find(zone_id=zone["id"])

    def serial(self, zone: Document | None = None) -> int:
        """Return the next serial number of a zone: the present second, or one that is higher."""
        now = int(self.cloud.clock.now().timestamp())
        return now if zone is None else max(now, zone["serial"] + 1)

    def touch(self, zone: Document, **fields: Any) -> Document:
        """Give a zone its next serial number, and keep it with changes."""
        changed = self.changed(zone, serial=self.serial(zone), **fields)
        self.zones.put(changed)
        for found in self.recordsets.find(zone_id=zone["id"], name=zone["name"]):
            if found["type"] == "SOA":
                self.recordsets.put({**found, "records": [start_of(changed)]})
        return changed


def start_of(zone: Document) -> str:
    """Return the SOA record of a zone."""
    address = zone["email"].replace("@", ".")
    return f"{NAME_SERVER} {address}. {zone['serial']} {_REFRESH} {_SOA}"


def check_id(name: str, text: str) -> None:
    """Raise DnsError for a text that can be no id."""
    try:
        UUID(text)
    except ValueError as error:
        raise bad_request(f"Invalid UUID {name}: {text}", "invalid_uuid") from error
