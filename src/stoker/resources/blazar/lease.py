"""OS::Blazar::Lease: a reservation of hosts or servers for a period of time.

Names of leases are unique. After a lost create, the lease of that name is ours if it did not exist
before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Lease(RestResource):
    """A lease."""

    type_name = "OS::Blazar::Lease"
    description = "A reservation of hosts or servers for a period of time."
    service = "reservation"
    support = since("12.0.0")
    collection = KINDS["reservation", "lease"]
    marker_field = ""
    async_delete = True
    readiness = Readiness(pending=frozenset({"CREATING", "STARTING", "UPDATING", "DELETING"}))

    properties = {
        "before_end_date": declare.string(
            "Time of the action before the end, such as 2030-01-31 12:00.",
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
        "end_date": declare.string(
            "End of the lease, such as 2030-01-31 12:00.",
            required=True,
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
        "events": declare.records(
            "Additional events of the lease.",
            default=[],
            entries={
                "event_type": declare.string("Type of the event.", required=True),
                "time": declare.string("Time of the event.", required=True),
            },
        ),
        "name": declare.string("Name of the lease.", required=True),
        "reservations": declare.records(
            "Reservations of the lease.",
            required=True,
            entries={
                "affinity": declare.boolean(
                    "Whether all servers are placed on one host.", default=False
                ),
                "amount": declare.integer(
                    "Number of servers.", constraints=(Range(min=0, max=2147483647),)
                ),
                "before_end": declare.choice(
                    ["default", "snapshot"],
                    "Action before the end of the lease.",
                    default="default",
                ),
                "disk_gb": declare.integer(
                    "Disk of a server in GiB.", constraints=(Range(min=0, max=2147483647),)
                ),
                "hypervisor_properties": declare.string(
                    "Conditions on the hypervisors of the hosts."
                ),
                "max": declare.at_least(1, "Maximum number of hosts."),
                "memory_mb": declare.integer(
                    "Memory of a server in MiB.", constraints=(Range(min=0, max=2147483647),)
                ),
                "min": declare.at_least(1, "Minimum number of hosts."),
                "resource_properties": declare.string(
                    "Conditions on the capabilities of the hosts."
                ),
                "resource_type": declare.choice(
                    ["virtual:instance", "physical:host"],
                    "Type of the reserved resources.",
                    required=True,
                ),
                "vcpus": declare.integer(
                    "vCPUs of a server.", constraints=(Range(min=0, max=2147483647),)
                ),
            },
        ),
        "start_date": declare.string(
            "Start of the lease, such as 2030-01-31 12:00.",
            required=True,
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
    }
    attributes = {
        "created_at": Attribute("Time of the creation.", Type.STRING),
        "degraded": Attribute("Whether resources of the lease are missing.", Type.BOOLEAN),
        "end_date": Attribute("End of the lease.", Type.STRING),
        "events": Attribute("Additional events of the lease.", Type.LIST),
        "name": Attribute("Name of the lease.", Type.STRING),
        "project_id": Attribute("Id of the project.", Type.STRING),
        "reservations": Attribute("Reservations of the lease.", Type.LIST),
        "start_date": Attribute("Start of the lease.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "trust_id": Attribute("Id of the trust.", Type.STRING),
        "updated_at": Attribute("Time of the last change.", Type.STRING),
        "user_id": Attribute("Id of the user.", Type.STRING),
        "show": declare.SHOW,
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all leases. Blazar cannot filter them by name."""
        return self.collection.select(call.cloud)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return only the name: Blazar shows dates and reservations in another form."""
        return {"name": found.get("name")}
