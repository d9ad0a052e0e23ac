"""What exists from the first start on: the external network ``public``."""

from localcloud.http import RequestContext
from localcloud.network import networks, subnets
from localcloud.network.attributes import for_create
from localcloud.network.resources import NETWORK, SUBNET
from localcloud.network.state import State
from localcloud.settings import FLOATING_CIDRS

PUBLIC_CIDR = FLOATING_CIDRS[0]
"""Within the loopback range, so that the host reaches floating IPs without any route."""
PUBLIC_GATEWAY = "127.24.4.1"


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
        "cidr": PUBLIC_CIDR,
        "gateway_ip": PUBLIC_GATEWAY,
        "enable_dhcp": False,
    }
    subnets.create(state, admin, for_create(SUBNET, admin, body))
    state.all("bootstrap").put({"id": "public", "network_id": network["id"]})
