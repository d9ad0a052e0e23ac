"""OS::Designate::Zone: a DNS zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.resources.designate.names import as_specified, with_lower_name
from stoker.schema.constraints import Length, Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import deprecated, since

_TTL = 3600  # default of the service, unless configured otherwise


class Zone(RestResource):
    """A DNS zone."""

    type_name = "OS::Designate::Zone"
    description = "A DNS zone."
    service = "dns"
    support = since("8.0.0")
    collection = KINDS["dns", "zone"]
    readiness = Readiness(pending=frozenset({"PENDING"}))
    async_delete = True
    early_kind = "zone"
    field_names = {"primaries": "masters"}
    clear_values = {"ttl": _TTL}

    properties = {
        "attributes": declare.mapping(
            "Attributes for the choice of a DNS pool.", support=since("24.0.0")
        ),
        "description": declare.string(
            "Description of the object.", update_allowed=True, constraints=(Length(max=160),)
        ),
        "email": declare.string(
            "Email address of the zone's owner. Required for primary zones.", update_allowed=True
        ),
        "masters": declare.sequence(
            "Old name of primaries.",
            update_allowed=True,
            renamed_to="primaries",
            support=deprecated("15.0.0"),
        ),
        "name": declare.string(
            "Name of the zone with the final dot, such as example.org.",
            required=True,
            constraints=(Length(max=255),),
        ),
        "primaries": declare.sequence(
            "Servers to copy a secondary zone from.", update_allowed=True
        ),
        "ttl": declare.integer(
            "Default time to live in seconds.",
            update_allowed=True,
            constraints=(Range(min=1, max=2147483647),),
        ),
        "type": declare.choice(
            ["PRIMARY", "SECONDARY"],
            "Whether the zone is managed here, or copied from other servers.",
            default="PRIMARY",
        ),
    }
    attributes = {
        "serial": Attribute("Serial number of the zone.", Type.STRING),
        "show": declare.SHOW,
    }

    def holds_data(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the zone is managed here. Its record sets are deleted with it."""
        return properties.get("type") == "PRIMARY"

    def creation_body(self, call: Call) -> Object:
        """Return the fields, with the name in lower case."""
        return with_lower_name(super().creation_body(call))

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the fields, with the name as it was given."""
        return as_specified(super().properties_of(call, found), call.properties.get("name"))

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that a primary zone has an email address, and a secondary one servers."""
        kind = properties.get("type")
        needed = {"PRIMARY": "email", "SECONDARY": "primaries"}.get(str(kind))
        if needed is None or properties.get(needed) is not None:
            return []
        return [Diagnostic("invalid-zone", f"{needed} must be given with the type {kind}")]
