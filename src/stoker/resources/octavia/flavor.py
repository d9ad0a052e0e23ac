"""OS::Octavia::Flavor: a variant of load balancers that users can choose."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class Flavor(RestResource):
    """A flavor of load balancers. For administrators only."""

    type_name = "OS::Octavia::Flavor"
    description = "A variant of load balancers."
    service = "load-balancer"
    support = since("14.0.0")
    collection = KINDS["load-balancer", "flavor"]
    field_names = {"flavor_profile": "flavor_profile_id"}

    properties = {
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "enabled": declare.boolean(
            "Whether the object can be used.", default=True, update_allowed=True
        ),
        "flavor_profile": declare.by_name(
            "octavia.flavorprofile", "Profile of the flavor", required=True
        ),
        "name": declare.NAME,
    }
    attributes = {
        "flavor_profile_id": Attribute("Id of the profile.", Type.STRING),
        "show": declare.SHOW,
    }
