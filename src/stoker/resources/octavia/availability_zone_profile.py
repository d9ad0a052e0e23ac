"""OS::Octavia::AvailabilityZoneProfile: provider settings for an availability zone."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class AvailabilityZoneProfile(RestResource):
    """A profile of availability zones. For administrators only."""

    type_name = "OS::Octavia::AvailabilityZoneProfile"
    description = "Provider settings for an availability zone."
    service = "load-balancer"
    support = since("24.0.0")
    collection = KINDS["load-balancer", "availabilityzoneprofile"]
    marker_field = ""

    properties = {
        "availability_zone_data": declare.checked(
            "json_string", "Settings for the provider, as JSON.", required=True, update_allowed=True
        ),
        "name": declare.NAME,
        "provider_name": declare.string("Provider of the load balancers.", update_allowed=True),
    }
