"""OS::Blazar::Lease: a reservation of hosts or servers for some time.

The names of leases are unique: a lost create is the one that was not there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Lease(RestResource):
    """A lease."""

    type_name = "OS::Blazar::Lease"
    description = "A reservation of hosts or servers for some time."
    service = "reservation"
    support = since("12.0.0")
    collection = KINDS["reservation", "lease"]
    marker_field = ""
    async_delete = True
    readiness = Readiness(pending=frozenset({"CREATING", "STARTING", "UPDATING", "DELETING"}))

    properties = {
        "before_end_date": declare.string(
            "When something is done before the end, as 2030-01-31 12:00.",
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
        "end_date": declare.string(
            "When the lease ends, as 2030-01-31 12:00.",
            required=True,
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
        "events": declare.records(
            "What else happens.",
            default=[],
            entries={
                "event_type": declare.string("Kind of the event.", required=True),
                "time": declare.string("When it happens.", required=True),
            },
        ),
        "name": declare.string("Name of the lease.", required=True),
        "reservations": declare.records(
            "What is reserved.",
            required=True,
            entries={
                "affinity": declare.boolean("Whether servers are on one host.", default=False),
                "amount": declare.integer(
                    "How many servers.", constraints=(Range(min=0, max=2147483647),)
                ),
                "before_end": declare.choice(
                    ["default", "snapshot"], "What is done before the end.", default="default"
                ),
                "disk_gb": declare.integer(
                    "GiB of disk of a server.", constraints=(Range(min=0, max=2147483647),)
                ),
                "hypervisor_properties": declare.string(
                    "Which hosts, by what their hypervisor has."
                ),
                "max": declare.at_least(1, "How many hosts at most."),
                "memory_mb": declare.integer(
                    "MiB of memory of a server.", constraints=(Range(min=0, max=2147483647),)
                ),
                "min": declare.at_least(1, "How many hosts at least."),
                "resource_properties": declare.string("Which hosts, by what was said of them."),
                "resource_type": declare.choice(
                    ["virtual:instance", "physical:host"], "What is reserved.", required=True
                ),
                "vcpus": declare.integer(
                    "Processors of a server.", constraints=(Range(min=0, max=2147483647),)
                ),
            },
        ),
        "start_date": declare.string(
            "When the lease begins, as 2030-01-31 12:00.",
            required=True,
            constraints=(declare.pattern(r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}"),),
        ),
    }
    attributes = {
        "created_at": Attribute("When the object was created.", Type.STRING),
        "degraded": Attribute("Whether something of the lease is missing.", Type.BOOLEAN),
        "end_date": Attribute("When the lease ends.", Type.STRING),
        "events": Attribute("What else happens.", Type.LIST),
        "name": Attribute("Name of the lease.", Type.STRING),
        "project_id": Attribute("Id of the project.", Type.STRING),
        "reservations": Attribute("What is reserved.", Type.LIST),
        "start_date": Attribute("When the lease begins.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "trust_id": Attribute("Id of the trust.", Type.STRING),
        "updated_at": Attribute("When the object was last changed.", Type.STRING),
        "user_id": Attribute("Id of the user.", Type.STRING),
        "show": declare.SHOW,
    }

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """Return all leases: the list cannot be narrowed."""
        return self.collection.select(call.cloud)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the name: dates and reservations are written otherwise by the service."""
        return {"name": found.get("name")}
