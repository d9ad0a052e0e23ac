"""Ports over the API: addresses, security, ownership."""

import pytest

from cloud_testing.network import Api


async def test_port_gets_next_address_and_default_group(demo: Api) -> None:
    network, subnet = await demo.net()
    port = await demo.create("port", network_id=network["id"], name="p")
    assert port["fixed_ips"] == [{"subnet_id": subnet["id"], "ip_address": "10.0.0.2"}]
    assert port["status"] == "DOWN"
    assert port["mac_address"].startswith("fa:16:3e:")
    (group,) = await demo.list("security_group", "name=default")
    assert port["security_groups"] == [group["id"]]
    assert port["dns_assignment"] == [
        {
            "ip_address": "10.0.0.2",
            "hostname": "host-10-0-0-2",
            "fqdn": "host-10-0-0-2.openstacklocal.",
        }
    ]


async def test_an_address_is_given_once_and_comes_back(demo: Api) -> None:
    network, _ = await demo.net()
    wish = [{"ip_address": "10.0.0.9"}]
    port = await demo.create("port", network_id=network["id"], fixed_ips=wish)
    base = {"network_id": network["id"]}
    error = await demo.refused_create("port", 409, fixed_ips=wish, **base)
    assert error == "IpAddressAlreadyAllocated"
    await demo.delete("port", port["id"])
    again = await demo.create("port", fixed_ips=wish, **base)
    assert again["fixed_ips"][0]["ip_address"] == "10.0.0.9"


async def test_a_full_subnet_gives_no_more_addresses(demo: Api) -> None:
    network, _ = await demo.net("10.0.0.0/29")
    found = [
        (await demo.create("port", network_id=network["id"]))["fixed_ips"][0]["ip_address"]
        for _ in range(5)
    ]
    assert found == [f"10.0.0.{n}" for n in range(2, 7)]
    error = await demo.refused_create("port", 409, network_id=network["id"])
    assert error == "IpAddressGenerationFailure"
    assert len(await demo.list("port")) == 5


@pytest.mark.parametrize(
    ("values", "status", "error"),
    [
        ({"fixed_ips": [{"ip_address": "192.168.0.1"}]}, 400, "InvalidIpForNetwork"),
        ({"fixed_ips": [{"ip_address": "10.0.0.255"}]}, 400, "InvalidIpForSubnet"),
        ({"fixed_ips": [{"ip_address": "10.0.0.0"}]}, 400, "InvalidIpForSubnet"),
        ({"fixed_ips": [{}]}, 400, "InvalidInput"),
        ({"fixed_ips": "10.0.0.1"}, 400, "HTTPBadRequest"),
        ({"mac_address": "01:00:00:00:00:00"}, 400, "HTTPBadRequest"),
        ({"binding:host_id": "here"}, 403, "PolicyNotAuthorized"),
        ({"port_security_enabled": False, "security_groups": None}, 201, ""),
        (
            {
                "port_security_enabled": False,
                "allowed_address_pairs": [{"ip_address": "10.0.0.77"}],
            },
            409,
            "AddressPairAndPortSecurityRequired",
        ),
    ],
)
async def test_odd_ports_are_refused(
    demo: Api, values: dict[str, object], status: int, error: str
) -> None:
    network, _ = await demo.net()
    body = {"port": {"network_id": network["id"], **values}}
    answer = await demo.call("POST", "/ports", body, status)
    assert answer.get("NeutronError", {}).get("type", "") == error


async def test_mac_addresses_are_unique_in_a_network(demo: Api) -> None:
    network, _ = await demo.net()
    values = {"network_id": network["id"], "mac_address": "FA:16:3E:00:00:01"}
    port = await demo.create("port", **values)
    assert port["mac_address"] == "fa:16:3e:00:00:01"
    assert await demo.refused_create("port", 409, **values) == "MacAddressInUse"


async def test_an_update_of_addresses_keeps_those_that_stay(demo: Api) -> None:
    network, subnet = await demo.net()
    port = await demo.create("port", network_id=network["id"])
    kept = port["fixed_ips"][0]
    changed = await demo.update("port", port["id"], fixed_ips=[kept, {"subnet_id": subnet["id"]}])
    assert [fixed["ip_address"] for fixed in changed["fixed_ips"]] == ["10.0.0.2", "10.0.0.3"]
    less = await demo.update("port", port["id"], fixed_ips=[{"ip_address": "10.0.0.3"}])
    assert [fixed["ip_address"] for fixed in less["fixed_ips"]] == ["10.0.0.3"]
    next_one = await demo.create("port", network_id=network["id"])
    assert next_one["fixed_ips"][0]["ip_address"] == "10.0.0.2"


async def test_a_failed_update_takes_no_address(demo: Api) -> None:
    network, _ = await demo.net()
    port = await demo.create("port", network_id=network["id"])
    wish = [{"ip_address": "10.0.0.50"}, {"ip_address": "192.168.0.1"}]
    await demo.refused_update("port", port["id"], 400, fixed_ips=wish)
    taken = await demo.create(
        "port", network_id=network["id"], fixed_ips=[{"ip_address": "10.0.0.50"}]
    )
    assert taken["fixed_ips"][0]["ip_address"] == "10.0.0.50"


async def test_failed_bulk_of_ports_takes_no_address(demo: Api) -> None:
    network, _ = await demo.net("10.0.0.0/29")
    ports = {"ports": [{"network_id": network["id"]} for _ in range(6)]}
    error = await demo.refused("POST", "/ports", ports, 409)
    assert error == "IpAddressGenerationFailure"
    port = await demo.create("port", network_id=network["id"])
    assert port["fixed_ips"][0]["ip_address"] == "10.0.0.2"


async def test_slaac_port_derives_address_from_mac(demo: Api) -> None:
    network = await demo.create("network")
    modes = {"ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"}
    await demo.create("subnet", network_id=network["id"], cidr="fd00:1::/64", ip_version=6, **modes)
    port = await demo.create("port", network_id=network["id"], mac_address="fa:16:3e:12:34:56")
    assert port["fixed_ips"][0]["ip_address"] == "fd00:1::f816:3eff:fe12:3456"


async def test_only_owner_of_shared_network_chooses_addresses(admin: Api, demo: Api) -> None:
    network, subnet = await admin.net(shared=True)
    base = {"network_id": network["id"]}
    explicit = [{"ip_address": "10.0.0.9"}]
    assert await demo.refused_create("port", 403, fixed_ips=explicit, **base)
    assert await demo.refused_create("port", 403, mac_address="fa:16:3e:00:00:01", **base)
    in_subnet = [{"subnet_id": subnet["id"]}]
    assert (await demo.create("port", fixed_ips=in_subnet, **base))["fixed_ips"]


async def test_ports_are_filtered_by_address_and_subnet(demo: Api) -> None:
    network, subnet = await demo.net()
    one = await demo.create("port", network_id=network["id"], name="a")
    two = await demo.create("port", network_id=network["id"], name="b")

    async def ids(query: str) -> list[str]:
        return [port["id"] for port in await demo.list("port", query)]

    assert await ids("fixed_ips=ip_address%3D10.0.0.3") == [two["id"]]
    assert await ids(f"fixed_ips=subnet_id%3D{subnet['id']}") == [one["id"], two["id"]]
    assert await ids("name=a&name=b") == [one["id"], two["id"]]
    assert await ids(f"mac_address={two['mac_address']}") == [two["id"]]
    assert await ids("device_id=nothing") == []
    assert await demo.refused("GET", "/ports?nonsense=1", None, 400) == "HTTPBadRequest"


async def test_new_slaac_subnet_reaches_existing_ports(demo: Api) -> None:
    network, subnet = await demo.net()
    port = await demo.create("port", network_id=network["id"], mac_address="fa:16:3e:12:34:56")
    modes = {"ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"}
    slaac = await demo.create("subnet", network_id=network["id"], cidr="fd00:1::/64", **modes)
    addresses = [f["ip_address"] for f in (await demo.show("port", port["id"]))["fixed_ips"]]
    assert addresses == ["10.0.0.2", "fd00:1::f816:3eff:fe12:3456"]
    await demo.delete("subnet", slaac["id"])
    (left,) = (await demo.show("port", port["id"]))["fixed_ips"]
    assert left["subnet_id"] == subnet["id"]


async def test_port_with_floating_ip_keeps_its_address(demo: Api) -> None:
    network, subnet = await demo.net()
    router = await demo.create("router", external_gateway_info={"network_id": await demo.public()})
    path = f"/routers/{router['id']}/add_router_interface"
    await demo.call("PUT", path, {"subnet_id": subnet["id"]})
    port = await demo.create("port", network_id=network["id"])
    address = {"floating_network_id": await demo.public(), "port_id": port["id"]}
    floating = await demo.create("floatingip", **address)
    named = [{"subnet_id": subnet["id"]}]
    changed = await demo.update("port", port["id"], fixed_ips=named)
    assert changed["fixed_ips"] == port["fixed_ips"]
    assert (await demo.show("floatingip", floating["id"]))["port_id"] == port["id"]
    other = await demo.create("subnet", network_id=network["id"], cidr="10.1.0.0/24")
    for wishes in ([], [{"subnet_id": other["id"]}]):
        await demo.refused_update("port", port["id"], 400, fixed_ips=wishes)
