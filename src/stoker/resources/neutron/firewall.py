"""OS::Neutron::Firewall: a firewall for the routers of a project."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import Readiness, RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import Support, SupportStatus, since


class Firewall(RestResource):
    """A firewall."""

    type_name = "OS::Neutron::Firewall"
    description = "A firewall for the routers of a project."
    service = "network"
    extension = "fwaas"
    collection = collection("network", "firewall", path="/fw/firewalls")
    readiness = Readiness(pending=frozenset({"PENDING_CREATE", "PENDING_UPDATE", "PENDING_DELETE"}))
    async_delete = True
    clear_values = {"description": ""}

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "description": declare.DESCRIPTION,
        "firewall_policy_id": declare.string(
            "Id of the policy.", required=True, update_allowed=True
        ),
        "name": declare.NAME,
        "shared": declare.boolean(
            "Whether other projects can use the object.",
            update_allowed=True,
            support=SupportStatus(Support.UNSUPPORTED, "6.0.0", previous=since("2015.1")),
        ),
        "value_specs": declare.mapping(
            "Extra fields, passed to the service unchanged.",
            default={},
            update_allowed=True,
            support=since("5.0.0"),
        ),
    }
    attributes = {
        "admin_state_up": Attribute("Administrative state of the object.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "firewall_policy_id": Attribute("Id of the policy.", Type.STRING),
        "name": Attribute("Name of the object.", Type.STRING),
        "shared": Attribute("Whether other projects can use the object.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "show": declare.SHOW,
    }
