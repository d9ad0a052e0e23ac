"""Networks and subnets over the API."""

import pytest

from cloud_testing.network import Api


async def test_a_network_lists_its_subnets(demo: Api) -> None:
    network, subnet = await demo.net()
    shown = await demo.show("network", network["id"])
    assert shown["subnets"] == [subnet["id"]]
    assert shown["status"] == "ACTIVE"
    assert shown["tenant_id"] == shown["project_id"] == "demo-project"


async def test_public_network_exists_from_first_start(demo: Api, admin: Api) -> None:
    (public,) = await demo.list("network", "router:external=True")
    assert public["name"] == "public"
    (subnet,) = await admin.list("subnet", f"network_id={public['id']}")
    assert subnet["cidr"] == "127.24.4.0/24"
    assert subnet["gateway_ip"] == "127.24.4.1"
    assert subnet["enable_dhcp"] is False


async def test_external_subnets_are_hidden_from_users(demo: Api) -> None:
    public = await demo.public()
    assert await demo.list("subnet", f"network_id={public}") == []


async def test_only_administrators_see_and_set_provider_attributes(demo: Api, admin: Api) -> None:
    network = await demo.create("network", name="n")
    assert "provider:network_type" not in network
    assert (await admin.show("network", network["id"]))["provider:network_type"] == "vxlan"
    values = {"provider:network_type": "vlan"}
    assert await demo.refused_create("network", 403, **values) == "PolicyNotAuthorized"
    assert await demo.refused_create("network", 403, shared=True) == "PolicyNotAuthorized"


async def test_networks_of_other_projects_do_not_exist(demo: Api, other: Api, admin: Api) -> None:
    network, subnet = await demo.net()
    assert network["id"] not in [n["id"] for n in await other.list("network")]
    path = f"/networks/{network['id']}"
    assert await other.refused("GET", path, None, 404) == "NetworkNotFound"
    assert await other.refused("DELETE", path, None, 404) == "NetworkNotFound"
    assert await other.refused_create("port", 404, network_id=network["id"]) == "NetworkNotFound"
    assert await other.refused("GET", f"/subnets/{subnet['id']}", None, 404) == "SubnetNotFound"
    assert (await admin.show("network", network["id"]))["id"] == network["id"]


async def test_shared_network_is_visible_to_all(admin: Api, demo: Api) -> None:
    network, subnet = await admin.net(shared=True)
    assert (await demo.show("network", network["id"]))["shared"] is True
    assert (await demo.show("subnet", subnet["id"]))["id"] == subnet["id"]
    path = f"/networks/{network['id']}"
    body = {"network": {"name": "mine"}}
    assert await demo.refused("PUT", path, body, 403) == "PolicyNotAuthorized"
    port = await demo.create("port", network_id=network["id"])
    assert port["project_id"] == "demo-project"
    error = await admin.refused_update("network", network["id"], 409, shared=False)
    assert error == "InvalidSharedSetting"


async def test_a_network_with_ports_stays(demo: Api) -> None:
    network, _ = await demo.net()
    port = await demo.create("port", network_id=network["id"])
    assert await demo.refused_delete("network", network["id"], 409) == "NetworkInUse"
    await demo.delete("port", port["id"])
    await demo.delete("network", network["id"])
    assert await demo.list("subnet") == []


async def test_a_subnet_with_ports_stays(demo: Api) -> None:
    network, subnet = await demo.net()
    port = await demo.create("port", network_id=network["id"])
    assert await demo.refused_delete("subnet", subnet["id"], 409) == "SubnetInUse"
    await demo.delete("port", port["id"])
    await demo.delete("subnet", subnet["id"])


async def test_gateway_defaults_to_first_host(demo: Api) -> None:
    network = await demo.create("network")
    base = {"network_id": network["id"], "ip_version": 4}
    first = await demo.create("subnet", cidr="10.0.0.0/24", **base)
    assert first["gateway_ip"] == "10.0.0.1"
    assert first["allocation_pools"] == [{"start": "10.0.0.2", "end": "10.0.0.254"}]
    none = await demo.create("subnet", cidr="10.0.1.0/24", gateway_ip=None, **base)
    assert none["gateway_ip"] is None
    assert none["allocation_pools"] == [{"start": "10.0.1.1", "end": "10.0.1.254"}]
    middle = await demo.create("subnet", cidr="10.0.2.0/24", gateway_ip="10.0.2.9", **base)
    assert middle["allocation_pools"] == [
        {"start": "10.0.2.1", "end": "10.0.2.8"},
        {"start": "10.0.2.10", "end": "10.0.2.254"},
    ]


@pytest.mark.parametrize(
    ("values", "status", "error"),
    [
        ({"cidr": "10.0.0.128/25"}, 400, "InvalidInput"),
        ({"cidr": "nonsense"}, 400, "InvalidInput"),
        ({"cidr": "10.1.0.0/24", "ip_version": 6}, 400, "InvalidInput"),
        ({"cidr": "224.0.0.0/24"}, 400, "InvalidInput"),
        ({"cidr": "10.1.0.0/31"}, 400, "InvalidInput"),
        ({"cidr": "10.1.0.0/24", "gateway_ip": "10.1.0.255"}, 400, "InvalidInput"),
        ({}, 400, "BadRequest"),
        ({"cidr": "10.1.0.0/24", "nonsense": 1}, 400, "HTTPBadRequest"),
        ({"cidr": "10.1.0.0/24", "ipv6_ra_mode": "slaac"}, 400, "InvalidInput"),
        ({"cidr": "fd00::/48", "ipv6_address_mode": "slaac"}, 400, "InvalidInput"),
        (
            {
                "cidr": "10.1.0.0/24",
                "allocation_pools": [{"start": "10.1.0.9", "end": "10.1.0.2"}],
            },
            400,
            "InvalidAllocationPool",
        ),
        (
            {
                "cidr": "10.1.0.0/24",
                "allocation_pools": [{"start": "10.1.0.9", "end": "10.1.1.2"}],
            },
            400,
            "OutOfBoundsAllocationPool",
        ),
        (
            {
                "cidr": "10.1.0.0/24",
                "allocation_pools": [{"start": "10.1.0.1", "end": "10.1.0.2"}],
            },
            409,
            "GatewayConflictWithAllocationPools",
        ),
        (
            {
                "cidr": "10.1.0.0/24",
                "allocation_pools": [
                    {"start": "10.1.0.2", "end": "10.1.0.9"},
                    {"start": "10.1.0.9", "end": "10.1.0.20"},
                ],
            },
            409,
            "OverlappingAllocationPools",
        ),
    ],
)
async def test_ranges_that_make_no_sense_are_refused(
    demo: Api, values: dict[str, object], status: int, error: str
) -> None:
    network, _ = await demo.net("10.0.0.0/24")
    found = await demo.refused_create("subnet", status, network_id=network["id"], **values)
    assert found == error


async def test_the_host_bits_of_a_cidr_are_dropped(demo: Api) -> None:
    network = await demo.create("network")
    subnet = await demo.create("subnet", network_id=network["id"], cidr="10.0.0.7/24")
    assert subnet["cidr"] == "10.0.0.0/24"


async def test_subnet_pool_allocates_until_empty(demo: Api) -> None:
    pool = await demo.create(
        "subnetpool", name="pool", prefixes=["10.10.0.0/23"], default_prefixlen=24
    )
    assert pool["default_prefixlen"] == "24"
    network = await demo.create("network")
    base = {"network_id": network["id"], "subnetpool_id": pool["id"]}
    first = await demo.create("subnet", **base)
    second = await demo.create("subnet", **base)
    assert [first["cidr"], second["cidr"]] == ["10.10.0.0/24", "10.10.1.0/24"]
    assert await demo.refused_create("subnet", 409, **base) == "SubnetAllocationError"
    assert await demo.refused_delete("subnetpool", pool["id"], 409) == "SubnetPoolDeleteError"
    await demo.delete("subnet", first["id"])
    half = await demo.create("subnet", prefixlen=25, **base)
    assert half["cidr"] == "10.10.0.0/25"


async def test_a_wrong_revision_stops_an_update(demo: Api) -> None:
    network = await demo.create("network", name="a")
    path = f"/network/v2.0/networks/{network['id']}"
    headers = {"If-Match": f"revision_number={network['revision_number']}"}
    body = {"network": {"name": "b"}}
    done = await demo.http.put(path, json=body, headers=headers)
    assert done.json()["network"]["revision_number"] == network["revision_number"] + 1
    late = await demo.http.put(path, json=body, headers=headers)
    assert late.status_code == 412
    assert late.json()["NeutronError"]["type"] == "RevisionNumberConstraintFailed"


async def test_bulk_create_of_networks_is_atomic(demo: Api) -> None:
    both = await demo.call("POST", "/networks", {"networks": [{"name": "a"}, {"name": "b"}]}, 201)
    assert [network["name"] for network in both["networks"]] == ["a", "b"]
    bad = {"networks": [{"name": "c"}, {"mtu": "nonsense"}]}
    assert await demo.refused("POST", "/networks", bad, 400) == "HTTPBadRequest"
    assert await demo.list("network", "name=c") == []


async def test_rbac_policies_share_a_network_with_one_project(
    demo: Api, other: Api, admin: Api
) -> None:
    network, _ = await demo.net()
    policy = await demo.create(
        "rbac_policy",
        object_type="network",
        object_id=network["id"],
        action="access_as_shared",
        target_tenant="other-project",
    )
    assert (await other.show("network", network["id"]))["shared"] is True
    port = await other.create("port", network_id=network["id"])
    assert await demo.refused("DELETE", f"/rbac-policies/{policy['id']}", None, 409)
    await other.delete("port", port["id"])
    await demo.call("DELETE", f"/rbac-policies/{policy['id']}", expect=204)
    path = f"/networks/{network['id']}"
    assert await other.refused("GET", path, None, 404) == "NetworkNotFound"
