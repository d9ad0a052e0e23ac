"""OS::Octavia::FlavorProfile: provider settings for a flavor."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.support import since


class FlavorProfile(RestResource):
    """A profile of flavors. For administrators only."""

    type_name = "OS::Octavia::FlavorProfile"
    description = "Provider settings for a flavor."
    service = "load-balancer"
    support = since("14.0.0")
    collection = KINDS["load-balancer", "flavorprofile"]
    marker_field = ""

    properties = {
        "flavor_data": declare.checked(
            "json_string", "Settings for the provider, as JSON.", required=True, update_allowed=True
        ),
        "name": declare.NAME,
        "provider_name": declare.string("Provider of the load balancers.", update_allowed=True),
    }
