"""What exists from the first start on, as in a DevStack: ``public``, and a private network."""

from ipaddress import ip_network

from localcloud.http import RequestContext
from localcloud.network import networks, router_interfaces, routers, subnets
from localcloud.network.attributes import for_create
from localcloud.network.resources import NETWORK, ROUTER, SUBNET
from localcloud.network.state import State

_PRIVATE_CIDR = "10.0.0.0/26"
_USERS_PROJECT = "demo"


def ensure_public(state: State, project_id: str = "") -> None:
    """Make the external network and its subnet, unless that was done before."""
    if state.all("bootstrap").get("public") is not None:
        return
    admin = RequestContext(user_id="", project_id=project_id, roles=("admin",))
    network = networks.create(
        state,
        admin,
        for_create(
            NETWORK,
            admin,
            {"name": "public", "router:external": True, "is_default": True, "mtu": 1500},
        ),
    )
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
    context = RequestContext(user_id="", project_id=project_id, roles=("admin",))
    body: dict[str, object] = {"name": "private", "project_id": project_id}
    network = networks.create(state, context, for_create(NETWORK, context, body))
    body = {
        "name": "private-subnet",
        "network_id": network["id"],
        "cidr": _PRIVATE_CIDR,
        "project_id": project_id,
    }
    subnet = subnets.create(state, context, for_create(SUBNET, context, body))
    gateway = {"network_id": public_id}
    body = {"name": "router1", "external_gateway_info": gateway, "project_id": project_id}
    router = routers.create(state, context, for_create(ROUTER, context, body))
    router_interfaces.add(state, context, router, {"subnet_id": subnet["id"]})
