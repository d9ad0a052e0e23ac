"""The addresses of load balancers: ports of the network service."""

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.fabric.interface import Direction, Port, Rule
from localcloud.load_balancer.errors import invalid, no_such
from localcloud.load_balancer.model.kinds import LISTENER, LOAD_BALANCER, MEMBER
from localcloud.load_balancer.model.state import State
from localcloud.network.service_ports import ServicePorts
from localcloud.web.http import ApiError, RequestContext

OWNER = "Octavia"
_ALL = tuple(Rule(Direction.EGRESS, version) for version in ("IPv4", "IPv6"))


class Vips:
    """The ports of load balancers, in the networks of their addresses and of their members."""

    def __init__(self, cloud: Cloud, state: State) -> None:
        self._ports = ServicePorts(cloud)
        self._state = state

    def choose(self, who: RequestContext, values: Document) -> None:
        """Complete port, network, subnet and address from those that are given.

        Raises the API's 400 for missing objects and for values that contradict each other.
        """
        if values["additional_vips"]:
            raise invalid("additional VIPs are not supported by this cloud.")
        if values["vip_qos_policy_id"]:
            raise no_such("QoS Policy", values["vip_qos_policy_id"])
        for group in values["vip_sg_ids"]:
            self._found(who, "security_group", group, "Security Group")
        if values["vip_port_id"]:
            self._by_port(who, values)
        elif values["vip_network_id"]:
            self._by_network(who, values)
        elif values["vip_subnet_id"]:
            subnet = self._found(who, "subnet", values["vip_subnet_id"], "Subnet")
            values["vip_network_id"] = subnet["network_id"]
        else:
            raise invalid("VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.")

    def _found(self, who: RequestContext, kind: str, object_id: str, words: str) -> Document:
        try:
            return self._ports.found(who, kind, object_id)
        except ApiError:
            raise no_such(words, object_id) from None

    def check_subnet(self, who: RequestContext, subnet_id: str) -> None:
        """Raise the API's 400 for a subnet of a member that the caller does not see."""
        self._found(who, "subnet", subnet_id, "Subnet")

    def _by_port(self, who: RequestContext, values: Document) -> None:
        port = self._found(who, "port", values["vip_port_id"], "Port")
        if port["device_id"]:
            raise invalid(f"Port {port['id']} is already used by device {port['device_id']} ")
        subnet, address = values["vip_subnet_id"], values["vip_address"]
        fitting = [
            fixed
            for fixed in port["fixed_ips"]
            if subnet in (None, fixed["subnet_id"]) and address in (None, fixed["ip_address"])
        ]
        if not fitting:
            raise invalid(
                "No VIP address found on the specified VIP port within the specified subnet."
                if subnet
                else "Specified VIP address not found on the specified VIP port."
            )
        if len(fitting) > 1 and subnet is None:
            raise invalid(
                "VIP port's subnet could not be determined. Please specify either a VIP subnet or"
                " address."
            )
        values["vip_network_id"] = port["network_id"]
        values["vip_subnet_id"] = fitting[0]["subnet_id"]
        values["vip_address"] = fitting[0]["ip_address"]

    def _by_network(self, who: RequestContext, values: Document) -> None:
        network = self._found(who, "network", values["vip_network_id"], "Network")
        subnets = self._ports.subnets(network["id"])
        if values["vip_subnet_id"]:
            if values["vip_subnet_id"] not in [subnet["id"] for subnet in subnets]:
                raise no_such("Subnet", values["vip_subnet_id"])
            return
        if not subnets:
            raise invalid("Supplied network does not contain a subnet.")
        fitting = [s for s in subnets if self._ports.offers(s, values["vip_address"])]
        if not fitting:
            raise invalid(
                "Supplied network does not contain a subnet for VIP address specified."
                if values["vip_address"]
                else "Subnet(s) in the supplied network do not contain enough available IPs."
            )
        # IPv4 is preferred, as in Octavia.
        fitting.sort(key=lambda subnet: int(subnet["ip_version"]))
        values["vip_subnet_id"] = fitting[0]["id"]

    async def take(self, balancer_id: str, values: Document) -> None:
        """Make the port of a new load balancer, or take the one that was given.

        Raises ApiError of the network service where the address cannot be had.
        """
        device = f"lb-{balancer_id}"
        if values["vip_port_id"]:
            await self._ports.take(values["vip_port_id"], OWNER, device)
            values["vip_port_given"] = True
            return
        wish = {"subnet_id": values["vip_subnet_id"]}
        if values["vip_address"]:
            wish["ip_address"] = values["vip_address"]
        named = {
            "name": f"octavia-{device}",
            "device_id": device,
            "device_owner": OWNER,
            "fixed_ips": [wish],
            "security_groups": values["vip_sg_ids"],
        }
        port = await self._ports.create(values["project_id"], values["vip_network_id"], named)
        values["vip_port_given"] = False
        values["vip_port_id"] = port["id"]
        values["vip_address"] = port["fixed_ips"][0]["ip_address"]

    async def release(self, balancer: Document) -> None:
        """Give the ports of a load balancer back."""
        for port_id in balancer.get("legs", {}).values():
            await self._ports.remove(port_id)
        if balancer["vip_port_given"]:
            await self._ports.take(balancer["vip_port_id"], "", "")
        else:
            await self._ports.remove(balancer["vip_port_id"])

    async def plugs(self, balancer: Document) -> tuple[Port, ...]:
        """Return the ports of a load balancer as the fabric declares them.

        The first belongs to its address. It admits the traffic of the listeners, or that of the
        given security groups. One more port follows for each other network with members. Raises
        ApiError if a network or a port is gone.
        """
        legs = await self._legs(balancer)
        groups = balancer["vip_sg_ids"]
        await self._ports.secure(balancer["vip_port_id"], groups)
        rules = None if groups else (*_ALL, *self._rules(balancer))
        first = await self._ports.plug(balancer["vip_port_id"], rules)
        return (first, *[await self._ports.plug(port_id, _ALL) for port_id in legs.values()])

    def _rules(self, balancer: Document) -> list[Rule]:
        found = []
        for listener in self._state.of(LISTENER).find(loadbalancer_id=balancer["id"]):
            if listener["provisioning_status"] == "PENDING_DELETE":
                continue
            protocol = "udp" if listener["protocol"] == "UDP" else "tcp"
            version = "IPv6" if ":" in balancer["vip_address"] else "IPv4"
            remotes = listener["allowed_cidrs"]
            number = listener["protocol_port"]
            found.append(
                Rule(
                    Direction.INGRESS,
                    version,
                    protocol,
                    number,
                    number,
                    tuple(remotes) if remotes else None,
                )
            )
        return found

    async def _legs(self, balancer: Document) -> dict[str, str]:
        """Return the ports in the networks of members, made or removed as these are now."""
        subnet_by_network: dict[str, str] = {}
        for member in self._state.of(MEMBER).find(loadbalancer_id=balancer["id"]):
            subnet = self._ports.subnet(member["subnet_id"] or "")
            leaves = member["provisioning_status"] == "PENDING_DELETE"
            if leaves or subnet is None:
                continue
            if subnet["network_id"] != balancer["vip_network_id"]:
                subnet_by_network[subnet["network_id"]] = subnet["id"]
        legs = dict(balancer.get("legs", {}))
        if set(legs) == set(subnet_by_network):
            return legs
        for network_id in set(legs) - set(subnet_by_network):
            await self._ports.remove(legs.pop(network_id))
        for network_id in set(subnet_by_network) - set(legs):
            named = {
                "name": f"octavia-lb-member-{balancer['id']}",
                "device_id": f"lb-{balancer['id']}",
                "device_owner": OWNER,
                "fixed_ips": [{"subnet_id": subnet_by_network[network_id]}],
                "security_groups": [],
            }
            port = await self._ports.create(balancer["project_id"], network_id, named)
            legs[network_id] = port["id"]
        # The load balancer may have been changed or deleted during the calls.
        now = self._state.of(LOAD_BALANCER).get(balancer["id"])
        if now is not None:
            self._state.of(LOAD_BALANCER).put({**now, "legs": legs})
        return legs
