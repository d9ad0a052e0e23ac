"""OS::Octavia::AvailabilityZone: a location of load balancers. Its id is its name."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class AvailabilityZone(RestResource):
    """An availability zone of load balancers. For administrators only."""

    type_name = "OS::Octavia::AvailabilityZone"
    description = "A location of load balancers."
    service = "load-balancer"
    support = since("24.0.0")
    collection = KINDS["load-balancer", "availabilityzone"]
    field_names = {"availability_zone_profile": "availability_zone_profile_id"}

    properties = {
        "availability_zone_profile": declare.by_name(
            "octavia.availabilityzoneprofile", "Profile of the zone", required=True
        ),
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "enabled": declare.boolean(
            "Whether the object can be used.", default=True, update_allowed=True
        ),
        "name": declare.NAME,
    }
    attributes = {
        "availability_zone_profile_id": Attribute("Id of the profile.", Type.STRING),
        "show": declare.SHOW,
    }

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the name changes, since Octavia cannot rename zones."""
        return "name" in call.update.changed
