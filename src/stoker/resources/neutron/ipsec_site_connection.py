"""OS::Neutron::IPsecSiteConnection: a VPN to another site."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource, rename_fields
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call

_DPD = {"actions": "action"}


class IPsecSiteConnection(RestResource):
    """A VPN to another site."""

    type_name = "OS::Neutron::IPsecSiteConnection"
    description = "A VPN to another site."
    service = "network"
    extension = "vpnaas"
    collection = collection(
        "network",
        "ipsec_site_connection",
        path="/vpn/ipsec-site-connections",
        words="IPsec connection",
    )
    clear_values = {"description": ""}
    secrets = frozenset({"psk"})

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "description": declare.DESCRIPTION,
        "dpd": declare.mapping(
            "Dead peer detection.",
            entries={
                "actions": declare.choice(
                    ["clear", "disabled", "hold", "restart", "restart-by-peer"],
                    "Action for a dead peer.",
                    default="hold",
                ),
                "interval": declare.integer("Seconds between two checks of the peer.", default=30),
                "timeout": declare.integer(
                    "Seconds after which the peer is considered dead.", default=120
                ),
            },
        ),
        "ikepolicy_id": declare.string("Id of the IKE policy.", required=True),
        "initiator": declare.choice(
            ["bi-directional", "response-only"],
            "Whether this side may start connections, or only responds.",
            default="bi-directional",
        ),
        "ipsecpolicy_id": declare.string("Id of the IPsec policy.", required=True),
        "mtu": declare.integer("Maximum transmission unit in bytes.", default=1500),
        "name": declare.NAME,
        "peer_address": declare.string("Address of the peer.", required=True),
        "peer_cidrs": declare.sequence(
            "Networks behind the peer, in CIDR notation.",
            required=True,
            items=declare.checked("net_cidr", "A network."),
        ),
        "peer_id": declare.string("Id of the peer for authentication.", required=True),
        "psk": declare.string("Pre-shared key of both peers.", required=True, sensitive=True),
        "vpnservice_id": declare.string("Id of the VPN service.", required=True),
    }
    attributes = {
        "admin_state_up": Attribute("Administrative state of the object.", Type.STRING),
        "auth_mode": Attribute("Authentication mode of the peers.", Type.STRING),
        "description": Attribute("Description of the object.", Type.STRING),
        "dpd": Attribute("Dead peer detection.", Type.MAP),
        "ikepolicy_id": Attribute("Id of the IKE policy.", Type.STRING),
        "initiator": Attribute(
            "Whether this side may start connections, or only responds.", Type.STRING
        ),
        "ipsecpolicy_id": Attribute("Id of the IPsec policy.", Type.STRING),
        "mtu": Attribute("Maximum transmission unit in bytes.", Type.STRING),
        "name": Attribute("Name of the object.", Type.STRING),
        "peer_address": Attribute("Address of the peer.", Type.STRING),
        "peer_cidrs": Attribute("Networks behind the peer.", Type.LIST),
        "peer_id": Attribute("Id of the peer for authentication.", Type.STRING),
        "psk": Attribute("Pre-shared key of both peers.", Type.STRING),
        "route_mode": Attribute("Mode of the routes to the peer.", Type.STRING),
        "status": Attribute("Status of the object.", Type.STRING),
        "tenant_id": Attribute("Id of the project.", Type.STRING),
        "vpnservice_id": Attribute("Id of the VPN service.", Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields; the service has one action, not several."""
        body = super().fields(properties)
        if body.get("dpd") is not None:
            body["dpd"] = rename_fields(body["dpd"], _DPD)
        return body

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the fields in the words of templates."""
        observed = super().properties_of(call, found)
        return {
            **observed,
            "dpd": rename_fields(found.get("dpd") or {}, {v: k for k, v in _DPD.items()}),
        }
