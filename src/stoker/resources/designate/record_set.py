"""OS::Designate::RecordSet: the records of one name and type."""

from __future__ import annotations

from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.resources.designate.names import as_specified, with_lower_name
from stoker.schema.constraints import Length, Range
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since

_ZONES = KINDS["dns", "zone"]


class RecordSet(RestResource):
    """A record set."""

    type_name = "OS::Designate::RecordSet"
    description = "DNS records of one name and type."
    service = "dns"
    support = since("8.0.0")
    collection = replace(
        collection("dns", "recordset", path="/zones/{}/recordsets", words="record set"),
        update_method="PUT",
    )
    parent_property = "zone"
    readiness = Readiness(pending=frozenset({"PENDING"}))
    async_delete = True
    uses_early = frozenset({VALUES, "zone"})

    properties = {
        "description": declare.string(
            "Description of the object.", update_allowed=True, constraints=(Length(max=160),)
        ),
        "name": declare.string(
            "Name, with the zone and the final dot. If not given, a name is generated.",
            constraints=(Length(max=255),),
        ),
        "records": declare.sequence("Values of the records.", required=True, update_allowed=True),
        "ttl": declare.integer(
            "Time to live in seconds.",
            update_allowed=True,
            constraints=(Range(min=1, max=2147483647),),
        ),
        "type": declare.choice(
            [
                "A",
                "AAAA",
                "CNAME",
                "MX",
                "SRV",
                "TXT",
                "SPF",
                "NS",
                "PTR",
                "SSHFP",
                "SOA",
                "CAA",
                "CERT",
                "NAPTR",
            ],
            "Type of the records.",
            required=True,
        ),
        "zone": declare.by_name("designate.zone", "Zone", required=True),
    }

    def creation_body(self, call: Call) -> Object:
        """Return the fields. A generated name is below the zone."""
        body = super().creation_body(call)
        if not call.properties.get("name"):
            zone = _ZONES.get(call.cloud, call.properties["zone"])
            body["name"] = f"{call.physical_name}.{zone['name']}"
        return with_lower_name(body)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with the given name; a generated name is without the zone."""
        observed = super().properties_of(call, found)
        if not call.properties.get("name"):
            observed["name"] = str(observed["name"]).partition(".")[0]
        return as_specified(observed, call.properties.get("name"))
