"""The networks of a new cloud, as in a DevStack: ``public``, and a private network."""

from ipaddress import ip_network

from localcloud.network.model.attributes import for_create
from localcloud.network.model.resources import NETWORK, ROUTER, SUBNET
from localcloud.network.model.state import State
from localcloud.network.objects import networks, router_interfaces, routers, subnets
from localcloud.web.http import RequestContext

_PRIVATE_CIDR = "10.0.0.0/26"
_USERS_PROJECT = "demo"


def ensure_public(state: State, project_id: str = "") -> None:
    """Make the external network and its subnet, unless that was done before."""
    if state.all("bootstrap").get("public") is not None:
        return
    admin = RequestContext(user_id="", project_id=project_id, roles=("admin",))
    body = {"name": "public", "router:external": True, "is_default": True, "mtu": 1500}
    network = networks.create(state, admin, for_create(NETWORK, admin, body))
    body = {
        "name": "public-subnet",
        "network_id": network["id"],
        "cidr": state.floating_cidr,
        "gateway_ip": str(ip_network(state.floating_cidr)[1]),
        "enable_dhcp": False,
    }
    subnets.create(state, admin, for_create(SUBNET, admin, body))
    state.all("bootstrap").put({"id": "public", "network_id": network["id"]})
    project = state.project_named(_USERS_PROJECT)
    if project is not None:
        _make_private(state, project, network["id"])


def _make_private(state: State, project_id: str, public_id: str) -> None:
    """Make the users' own network with a router to the world."""
    users = RequestContext(user_id="", project_id=project_id, roles=("admin",))
    network = networks.create(state, users, for_create(NETWORK, users, {"name": "private"}))
    body = {"name": "private-subnet", "network_id": network["id"], "cidr": _PRIVATE_CIDR}
    subnet = subnets.create(state, users, for_create(SUBNET, users, body))
    gateway = {"external_gateway_info": {"network_id": public_id}}
    router = routers.create(state, users, for_create(ROUTER, users, {"name": "router1", **gateway}))
    router_interfaces.add(state, users, router, {"subnet_id": subnet["id"]})
