"""A change is pending until it is carried out; others are refused meanwhile."""

from cloud_testing.balancers import Balancing
from localcloud.fabric.interface import Direction


async def test_load_balancer_has_port_and_becomes_active(balancing: Balancing) -> None:
    subnet = await balancing.subnet()
    made = await balancing.make(
        "loadbalancer", settled=False, vip_subnet_id=subnet, name="one", tags=["t"]
    )
    assert made["provisioning_status"] == "PENDING_CREATE"
    assert made["operating_status"] == "OFFLINE"
    await balancing.house.settle()
    found = await balancing.show("loadbalancer", made["id"])
    assert (found["provisioning_status"], found["operating_status"]) == ("ACTIVE", "ONLINE")
    assert (found["name"], found["tags"], found["provider"]) == ("one", ["t"], "amphora")
    port = (await balancing.api.get(f"/network/v2.0/ports/{found['vip_port_id']}"))["port"]
    assert port["device_owner"] == "Octavia"
    assert port["fixed_ips"] == [{"subnet_id": subnet, "ip_address": found["vip_address"]}]
    await balancing.delete("loadbalancer", made["id"])
    assert await balancing.refusal("GET", f"/loadbalancers/{made['id']}", status=404) == (
        f"Load Balancer {made['id']} not found."
    )
    await balancing.api.get(f"/network/v2.0/ports/{found['vip_port_id']}", 404)
    assert balancing.appliances.here == {}


async def test_a_port_that_was_given_stays(balancing: Balancing) -> None:
    network = await balancing.api.network()
    body = {"port": {"network_id": network}}
    port = (await balancing.api.call("POST", "/network/v2.0/ports", body, 201))["port"]
    made = await balancing.make("loadbalancer", vip_port_id=port["id"])
    assert made["vip_address"] == port["fixed_ips"][0]["ip_address"]
    assert "already used" in await balancing.refused("loadbalancer", vip_port_id=port["id"])
    await balancing.delete("loadbalancer", made["id"])
    found = (await balancing.api.get(f"/network/v2.0/ports/{port['id']}"))["port"]
    assert (found["device_id"], found["device_owner"]) == ("", "")


async def test_changes_during_a_change_are_refused(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    balancing.appliances.gate.clear()
    member = {"address": "10.0.0.9", "protocol_port": 80}
    path = f"/pools/{pool['id']}/members"
    made = (await balancing.call("POST", path, {"member": member}, 201))["member"]
    assert made["provisioning_status"] == "PENDING_CREATE"
    for kind, found in (("listener", listener), ("pool", pool), ("loadbalancer", balancer)):
        shown = await balancing.show(kind, found["id"])
        assert shown["provisioning_status"] == "PENDING_UPDATE", kind
    immutable = f"Load Balancer {balancer['id']} is immutable and cannot be updated."
    other = {"member": {**member, "protocol_port": 81}}
    assert await balancing.refusal("POST", path, other, 409) == immutable
    assert await balancing.refusal("DELETE", f"/listeners/{listener['id']}", None, 409) == immutable
    change = {"loadbalancer": {"name": "x"}}
    state = f"Invalid state PENDING_UPDATE of loadbalancer resource {balancer['id']}"
    whole = f"/loadbalancers/{balancer['id']}"
    assert await balancing.refusal("PUT", whole, change, 409) == state
    assert await balancing.refusal("DELETE", f"{whole}?cascade=true", None, 409) == state
    balancing.appliances.gate.set()
    await balancing.house.settle()
    assert (await balancing.show("member", made["id"], pool["id"]))["operating_status"] == (
        "NO_MONITOR"
    )
    assert (await balancing.show("loadbalancer", balancer["id"]))["provisioning_status"] == "ACTIVE"


async def test_interrupted_change_completes_at_next_start(
    balancing: Balancing,
) -> None:
    balancer, listener, pool = await balancing.ready()
    balancing.appliances.gate.clear()
    await balancing.call("DELETE", f"/listeners/{listener['id']}", expect=204)
    await balancing.house.restart()
    again = Balancing(balancing.house, balancing.house.user("demo"))
    await again.house.settle()
    await again.get(f"/listeners/{listener['id']}", expect=404)
    found = await again.show("loadbalancer", balancer["id"])
    assert (found["provisioning_status"], found["pools"]) == ("ACTIVE", [{"id": pool["id"]}])
    assert list(again.appliances.here) == [balancer["id"]]


async def test_machine_refusal_ends_in_deletable_error(
    balancing: Balancing,
) -> None:
    balancer = await balancing.balancer()
    balancing.house.fabric.refusals["ensure_appliance"] = "no room"
    fields = {"loadbalancer_id": balancer["id"], "protocol": "TCP", "protocol_port": 1}
    listener = await balancing.make("listener", **fields)
    assert listener["provisioning_status"] == "ERROR"
    assert "immutable" in await balancing.refused("listener", 409, **{**fields, "protocol_port": 2})
    path = f"/loadbalancers/{balancer['id']}"
    balancing.house.fabric.refusals.clear()
    ruler = balancing.house.user("admin")
    await ruler.call("PUT", f"/load-balancer/v2.0/lbaas{path}/failover", None, 202)
    await balancing.house.settle()
    assert (await balancing.show("loadbalancer", balancer["id"]))["provisioning_status"] == "ACTIVE"
    assert "it has children" in await balancing.refusal("DELETE", path)
    await balancing.call("DELETE", f"{path}?cascade=true", expect=204)
    await balancing.house.settle()
    assert (await balancing.get("/listeners"))["listeners"] == []


async def test_the_address_lets_in_what_listeners_take(balancing: Balancing) -> None:
    balancer, listener, _ = await balancing.ready("TCP", 5000)
    await balancing.change("listener", listener["id"], allowed_cidrs=["192.0.2.0/24"])

    def rules() -> list[tuple[object, ...]]:
        (port,) = balancing.appliances.here[balancer["id"]].ports
        let_in = [rule for rule in port.rules or () if rule.direction is Direction.INGRESS]
        return [(rule.protocol, rule.port_min, rule.port_max, rule.remotes) for rule in let_in]

    assert rules() == [("tcp", 5000, 5000, ("192.0.2.0/24",))]
    await balancing.delete("listener", listener["id"])
    assert rules() == []


async def test_members_elsewhere_are_reached_through_ports(
    balancing: Balancing,
) -> None:
    balancer, _, pool = await balancing.ready()
    other = await balancing.subnet("10.1.0.0/24")
    member = await balancing.make(
        "member", pool["id"], address="10.1.0.9", protocol_port=80, subnet_id=other
    )
    _, leg = balancing.appliances.here[balancer["id"]].ports
    assert leg.addresses[0].ip.startswith("10.1.0.")
    await balancing.delete("member", member["id"], pool["id"])
    assert len(balancing.appliances.here[balancer["id"]].ports) == 1
    await balancing.api.get(f"/network/v2.0/ports/{leg.id}", 404)
