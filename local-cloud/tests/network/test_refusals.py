"""Refusals with the same status, type and words as those of the real service.

The words were taken from Neutron 27 by the same calls.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from cloud_testing.network import Api

NOBODY = "11111111-1111-1111-1111-111111111111"
TCP = {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
OVERLAP = "Requested subnet with cidr: 10.0.0.128/25 for network: <net> overlaps with another"
ALLOCATED = "IP address 10.0.0.50 already allocated in subnet <subnet>"
IN_USE = "Unable to complete operation on network <net>. There are one or more ports still in use"
IN_SUBNET = "Unable to complete operation on subnet <subnet>: One or more ports have an IP alloc"
IN_POOL = "Subnets hosted on the same network must be allocated from the same subnet pool."
OF_FIP = "required by one or more floating IPs."

REFUSALS: list[tuple[str, str, Any, int, str, str]] = [
    ("POST", "subnet", {"cidr": "10.0.0.128/25"}, 400, "InvalidInput", OVERLAP),
    ("POST", "subnet", {"cidr": "nope"}, 400, "InvalidInput", "nope is not in a CIDR format."),
    ("POST", "subnet", {"subnetpool_id": "<pool>"}, 400, "NetworkSubnetPoolAffinityError", IN_POOL),
    ("PUT", "subnet", {"cidr": "10.9.0.0/24"}, 400, "HTTPBadRequest", "read-only attribute cidr"),
    ("DELETE", "subnet", None, 409, "SubnetInUse", IN_SUBNET),
    ("DELETE", "network", None, 409, "NetworkInUse", IN_USE),
    ("POST", "port", {"fixed_ips": [{"ip_address": "10.0.0.50"}]}, 409, "IpAddressAlreadyAllocated",
     ALLOCATED),
    ("POST", "port", {"fixed_ips": [{"ip_address": "10.9.0.5"}]}, 400, "InvalidIpForNetwork",
     "IP address 10.9.0.5 is not a valid IP for any of the subnets on the specified network."),
    ("POST", "port", {"mac_address": "<mac>"}, 409, "MacAddressInUse", "The mac address <mac> is"),
    ("POST", "port", {"security_groups": [NOBODY]}, 404, "SecurityGroupNotFound",
     f"Security group {NOBODY} does not exist"),
    ("PUT", "port", {"fixed_ips": []}, 400, "BadRequest",
     "Cannot update the fixed_ips of the port <port>, because its original fixed_ip has been"),
    ("PUT", "port", {"port_security_enabled": False}, 409, "PortSecurityPortHasSecurityGroup",
     "Port has security group associated."),
    ("DELETE", "server_port", None, 403, "PolicyNotAuthorized",
     "rule:delete_port is disallowed by policy"),
    ("DELETE", "router_port", None, 409, "ServicePortInUse",
     "cannot be deleted directly via the port API: has device owner network:router_interface."),
    ("PUT", "router/add_router_interface", {"subnet_id": "<subnet>"}, 400, "BadRequest",
     "Bad router request: Router already has a port on subnet <subnet>."),
    ("PUT", "router/add_router_interface", {"subnet_id": "<other>"}, 400, "BadRequest",
     "Cidr 10.0.0.0/25 of subnet <other> overlaps with cidr 10.0.0.0/24 of subnet <subnet>."),
    ("PUT", "router/add_router_interface", {"port_id": "<router_port>"}, 409, "PortInUse",
     "Port already has an attached device <router>."),
    ("PUT", "router/remove_router_interface", {"subnet_id": "<subnet>"}, 409,
     "RouterInterfaceInUseByFloatingIP", OF_FIP),
    ("PUT", "router", {"external_gateway_info": {}}, 409, "RouterExternalGatewayInUseByFloatingIp",
     OF_FIP),
    ("DELETE", "router", None, 409, "RouterInUse", "has ports still attached: <router_port>"),
    ("POST", "floatingip", {"floating_network_id": "<net>"}, 400, "BadRequest",
     "Bad floatingip request: Network <net> is not a valid external network."),
    ("POST", "floatingip", {"port_id": "<lonely>"}, 404, "ExternalGatewayForFloatingIPNotFound",
     "is not reachable from subnet <other>.  Therefore, cannot associate Port <lonely> with a"),
    ("POST", "floatingip", {"port_id": "<port>"}, 409, "FloatingIPPortAlreadyAssociated",
     "as that fixed IP already has a floating IP on external network <public>."),
    ("POST", "security_group_rule", TCP, 409, "SecurityGroupRuleExists", "rule already exists."),
    ("POST", "security_group_rule", {**TCP, "protocol": "6"}, 409, "SecurityGroupRuleExists",
     "Security group rule already exists. Rule id is"),
    ("POST", "security_group_rule", {**TCP, "remote_ip_prefix": "0.0.0.0/0"}, 409,
     "SecurityGroupRuleExists", "Security group rule already exists. Rule id is"),
    ("POST", "security_group_rule", {"protocol": "-1"}, 400, "SecurityGroupRuleInvalidProtocol",
     "Security group rule protocol -1 not supported."),
    ("POST", "security_group_rule", {"remote_ip_prefix": "x"}, 400, "InvalidCIDR",
     "Invalid CIDR x given as IP prefix."),
    ("DELETE", "security_group", None, 409, "SecurityGroupInUse", "Security Group <group> in use."),
]  # fmt: skip


class Scene:
    """A router with a gateway, a port behind it with a floating IP, a server's port, a group."""

    def __init__(self, demo: Api) -> None:
        self.demo = demo
        self.names: dict[str, str] = {"public": ""}

    async def build(self) -> None:
        demo, names = self.demo, self.names
        names["public"] = await demo.public()
        net, subnet = await demo.net()
        other_net, other = await demo.net("10.0.0.0/25")
        scoped = {"prefixes": ["10.8.0.0/16"], "default_prefixlen": 26}
        pool = await demo.create("subnetpool", name="p", **scoped)
        group = await demo.create("security_group", name="g")
        rule = {"security_group_id": group["id"], "direction": "ingress"}
        await demo.create("security_group_rule", **rule, **TCP)
        port = await demo.create(
            "port",
            network_id=net["id"],
            fixed_ips=[{"ip_address": "10.0.0.50"}],
            security_groups=[group["id"]],
        )
        lonely = await demo.create("port", network_id=other_net["id"])
        served = await demo.create("port", network_id=net["id"], device_owner="compute:nova")
        gateway = {"network_id": names["public"]}
        router = await demo.create("router", name="r", external_gateway_info=gateway)
        added = await demo.call(
            "PUT", f"/routers/{router['id']}/add_router_interface", {"subnet_id": subnet["id"]}
        )
        leading = {"floating_network_id": names["public"], "port_id": port["id"]}
        await demo.create("floatingip", **leading)
        found = {"net": net, "subnet": subnet, "other": other, "pool": pool, "group": group}
        found |= {"port": port, "lonely": lonely, "server_port": served, "router": router}
        names |= {name: str(item["id"]) for name, item in found.items()}
        names |= {"router_port": added["port_id"], "mac": port["mac_address"]}

    def filled(self, value: Any) -> Any:
        """Return the value with its names in angle brackets replaced."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        return re.sub(r"<(\w+)>", lambda found: self.names[found.group(1)], value)

    def request(self, method: str, target: str, body: Any) -> tuple[str, Any]:
        """Path and body of a request about a kind (POST) or about one of the scene's objects."""
        kind, _, part = target.partition("/")
        if part:
            return f"/routers/{self.names[kind]}/{part}", self.filled(body)
        if method == "POST":
            given = {
                "subnet": {"network_id": "<net>", "ip_version": 4},
                "port": {"network_id": "<net>"},
                "floatingip": {"floating_network_id": "<public>"},
                "security_group_rule": {"security_group_id": "<group>", "direction": "ingress"},
            }
            path = f"/{kind.replace('_', '-')}s"
            return path, {kind: self.filled({**given[kind], **body})}
        real = "port" if kind.endswith("port") else kind
        name = {"network": "net", "security_group": "group"}.get(kind, kind)
        path = f"/{real.replace('_', '-')}s/{self.names[name]}"
        return path, None if body is None else {real: self.filled(body)}


async def test_refusals_match_the_real_service(demo: Api) -> None:
    scene = Scene(demo)
    await scene.build()
    for method, target, given, status, kind, words in REFUSALS:
        path, body = scene.request(method, target, given)
        error = (await demo.call(method, path, body, status))["NeutronError"]
        assert error["type"] == kind, (method, target, given, error)
        assert scene.filled(words) in error["message"], (method, target, given)


@pytest.mark.parametrize("kind", ["network", "port", "router", "security_group", "floatingip"])
async def test_quota_is_refused_below_usage_and_enforced(demo: Api, admin: Api, kind: str) -> None:
    scene = Scene(demo)
    await scene.build()
    project = "demo-project"
    error = await admin.call("PUT", f"/quotas/{project}", {"quota": {kind: 0}}, 400)
    assert "must be greater than or equal to already used" in error["NeutronError"]["message"]
    present = len(await demo.list(kind, f"project_id={project}"))
    await admin.call("PUT", f"/quotas/{project}", {"quota": {kind: present}})
    given = {"port": {"network_id": scene.names["net"]}}
    given |= {"floatingip": {"floating_network_id": scene.names["public"]}}
    body = {
        kind: {"name": "x", **given[kind]} if kind == "port" else given.get(kind, {"name": "x"})
    }
    error = await demo.call("POST", f"/{kind.replace('_', '-')}s", body, 409)
    assert error["NeutronError"]["message"] == f"Quota exceeded for resources: ['{kind}']."
