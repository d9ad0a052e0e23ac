"""OS::Octavia::Listener: a port on which a load balancer accepts connections."""

from __future__ import annotations

from stoker.clouds.objects.kinds import KINDS
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class Listener(Balanced):
    """A listener."""

    type_name = "OS::Octavia::Listener"
    description = "A port on which a load balancer accepts connections."
    support = since("10.0.0")
    collection = KINDS["load-balancer", "listener"]
    field_names = {
        "default_pool": "default_pool_id",
        "loadbalancer": "loadbalancer_id",
        "tenant_id": "project_id",
    }
    owners = {"loadbalancer": "loadbalancers"}

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "allowed_cidrs": declare.sequence(
            "Networks that may connect; all if none are given.",
            update_allowed=True,
            support=since("14.0.0"),
            items=declare.checked("net_cidr", "A network."),
        ),
        "connection_limit": declare.at_least(
            -1,
            "Maximum number of concurrent connections; -1 for no limit.",
            default=-1,
            update_allowed=True,
        ),
        "default_pool": declare.by_name(
            "octavia.pool", "Pool that receives the traffic", update_allowed=True
        ),
        "default_tls_container_ref": declare.string(
            "Secret with certificate and key, for TLS termination.", update_allowed=True
        ),
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "loadbalancer": declare.by_name("octavia.loadbalancer", "Load balancer", required=True),
        "name": declare.NAME,
        "protocol": declare.choice(
            ["TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"],
            "Protocol of the traffic.",
            required=True,
        ),
        "protocol_port": declare.integer(
            "The port.", required=True, constraints=(Range(min=1, max=65535),)
        ),
        "sni_container_refs": declare.sequence(
            "Secrets with certificates for additional host names.", update_allowed=True
        ),
        "tenant_id": declare.TENANT_ID,
    }
    attributes = {
        "default_pool_id": Attribute("Id of the pool that receives the traffic.", Type.STRING),
        "loadbalancers": Attribute("Ids of the load balancers.", Type.LIST),
        "show": declare.SHOW,
    }
