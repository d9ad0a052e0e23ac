"""OS::Neutron::VPNService: a VPN endpoint at a router."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import deprecated, hidden, since


class VPNService(RestResource):
    """A VPN service."""

    type_name = "OS::Neutron::VPNService"
    description = "A VPN endpoint at a router."
    service = "network"
    extension = "vpnaas"
    collection = collection("network", "vpnservice", path="/vpn/vpnservices", words="VPN service")
    field_names = {"router": "router_id", "subnet": "subnet_id"}
    clear_values = {"description": ""}

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "description": declare.DESCRIPTION,
        "name": declare.NAME,
        "router": declare.by_name(
            "neutron.router", "Router", required=True, support=since("2015.1")
        ),
        "router_id": declare.old_name(
            "router", "neutron.router", hidden("6.0.0", deprecated("2015.1", was="2013.2"))
        ),
        "subnet": declare.by_name(
            "neutron.subnet",
            "Subnet behind the VPN endpoint",
            required=True,
            support=since("2014.2"),
        ),
        "subnet_id": declare.old_name(
            "subnet", "neutron.subnet", hidden("5.0.0", deprecated("2014.2"))
        ),
    }
    attributes = {
        "admin_state_up": Attribute("Administrative state of the object.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "name": Attribute("Name of the object.", Type.STRING),
        "router_id": Attribute("Id of the router.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "subnet_id": Attribute("Id of the subnet.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "show": declare.SHOW,
    }
