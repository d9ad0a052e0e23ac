"""Features that all kinds of objects share: lists, tags, quotas, discovery."""

import pytest

from cloud_testing.network import Api


async def _names(api: Api, query: str) -> list[str]:
    return [network["name"] for network in await api.list("network", query)]


async def test_lists_are_sorted_and_paged_with_links(demo: Api) -> None:
    for name in ("c", "a", "b"):
        await demo.create("network", name=name)
    owned = "project_id=demo-project&sort_key=name"
    assert await _names(demo, owned) == ["a", "b", "c"]
    assert await _names(demo, f"{owned}&sort_dir=desc") == ["c", "b", "a"]
    page = await demo.call("GET", f"/networks?{owned}&limit=2")
    assert [network["name"] for network in page["networks"]] == ["a", "b"]
    (link,) = page["networks_links"]
    assert link["rel"] == "next"
    rest = await demo.http.get(link["href"])
    assert [network["name"] for network in rest.json()["networks"]] == ["c"]
    back = {link["rel"]: link["href"] for link in rest.json()["networks_links"]}
    before = await demo.http.get(back["previous"])
    assert [network["name"] for network in before.json()["networks"]] == ["a", "b"]


async def test_fields_choose_what_is_shown(demo: Api) -> None:
    network = await demo.create("network", name="a")
    (listed,) = await demo.list("network", "name=a&fields=id&fields=name")
    assert listed == {"id": network["id"], "name": "a"}
    shown = await demo.call("GET", f"/networks/{network['id']}?fields=mtu")
    assert shown == {"network": {"mtu": 1450}}


async def test_lists_are_filtered_by_any_attribute(demo: Api) -> None:
    await demo.create("network", name="a", admin_state_up=False, mtu=1400)
    await demo.create("network", name="b")
    assert await _names(demo, "admin_state_up=False") == ["a"]
    assert await _names(demo, "mtu=1400") == ["a"]
    assert await _names(demo, "shared=True") == []
    assert sorted(await _names(demo, "router:external=False")) == ["a", "b"]
    assert await demo.refused("GET", "/networks?color=red", None, 400) == "HTTPBadRequest"
    assert await demo.refused("GET", "/networks?sort_key=color", None, 400) == "HTTPBadRequest"


async def test_tags_are_set_and_searched(demo: Api) -> None:
    one = await demo.create("network", name="one", tags=["red", "blue"])
    two = await demo.create("network", name="two")
    path = f"/networks/{two['id']}/tags"
    assert await demo.call("PUT", path, {"tags": ["red"]}) == {"tags": ["red"]}
    await demo.call("PUT", f"{path}/green", expect=201)
    await demo.call("GET", f"{path}/green", expect=204)
    assert await demo.refused("GET", f"{path}/pink", None, 404) == "TagNotFound"
    assert await _names(demo, "tags=red") == ["one", "two"]
    assert await _names(demo, "tags=red,blue") == ["one"]
    assert await _names(demo, "tags-any=green,blue") == ["one", "two"]
    mine = "project_id=demo-project"
    assert await _names(demo, f"not-tags=red,blue&{mine}") == ["two"]
    assert await _names(demo, f"not-tags-any=green&{mine}") == ["one"]
    await demo.call("DELETE", f"{path}/green", expect=204)
    assert (await demo.call("GET", path)) == {"tags": ["red"]}
    await demo.call("DELETE", f"/networks/{one['id']}/tags", expect=204)
    assert (await demo.show("network", one["id"]))["tags"] == []


@pytest.mark.parametrize("kind", ["network", "router", "security_group", "port"])
async def test_a_quota_is_kept(demo: Api, admin: Api, kind: str) -> None:
    network, _ = await demo.net()
    used = len(await demo.list(kind, "project_id=demo-project"))
    await admin.call("PUT", "/quotas/demo-project", {"quota": {kind: used + 1}})
    values = {"network_id": network["id"]} if kind == "port" else {"name": "x"}
    await demo.create(kind, **values)
    assert await demo.refused_create(kind, 409, **values) == "OverQuota"
    details = await demo.call("GET", "/quotas/demo-project/details")
    assert details["quota"][kind] == {"limit": used + 1, "used": used + 1, "reserved": 0}
    await admin.call("DELETE", "/quotas/demo-project", expect=204)
    await demo.create(kind, **values)


async def test_quotas_belong_to_administrators(demo: Api, admin: Api) -> None:
    body = {"quota": {"network": 1}}
    error = await demo.refused("PUT", "/quotas/demo-project", body, 403)
    assert error == "PolicyNotAuthorized"
    assert await demo.refused("GET", "/quotas/other-project", None, 403) == "PolicyNotAuthorized"
    default = await demo.call("GET", "/quotas/demo-project/default")
    assert default["quota"]["network"] == 2000
    bad = {"quota": {"network": "many"}}
    assert await admin.refused("PUT", "/quotas/demo-project", bad, 400) == "HTTPBadRequest"


async def test_clients_discover_versions_and_extensions(demo: Api) -> None:
    versions = (await demo.http.get("/network/")).json()["versions"]
    assert [version["id"] for version in versions] == ["v2.0"]
    aliases = {e["alias"] for e in (await demo.call("GET", "/extensions"))["extensions"]}
    assert {"router", "security-group", "quotas", "extraroute-atomic"} <= aliases
    assert "qos" not in aliases
    one = await demo.call("GET", "/extensions/router")
    assert one["extension"]["alias"] == "router"
    assert await demo.refused("GET", "/extensions/qos", None, 404) == "ExtensionNotFound"


async def test_reports_are_for_administrators(demo: Api, admin: Api) -> None:
    network, _ = await demo.net("10.0.0.0/29")
    await demo.create("port", network_id=network["id"])
    report = await admin.call("GET", f"/network-ip-availabilities/{network['id']}")
    found = report["network_ip_availability"]
    assert (found["total_ips"], found["used_ips"]) == (5, 1)
    error = await demo.refused("GET", "/network-ip-availabilities", None, 403)
    assert error == "PolicyNotAuthorized"
    assert (await admin.call("GET", "/agents"))["agents"]
    assert await demo.refused("GET", "/agents", None, 403) == "PolicyNotAuthorized"
    zones = (await demo.call("GET", "/availability_zones"))["availability_zones"]
    assert {zone["resource"] for zone in zones} == {"network", "router"}


async def test_only_administrators_create_for_others(demo: Api, admin: Api) -> None:
    error = await demo.refused_create("network", 400, project_id="other-project")
    assert error == "HTTPBadRequest"
    network = await admin.create("network", tenant_id="demo-project")
    assert network["project_id"] == "demo-project"


@pytest.mark.parametrize("body", [{}, {"network": []}, {"networks": []}, {"networks": [1]}])
async def test_bodies_of_the_wrong_shape_are_refused(demo: Api, body: object) -> None:
    assert await demo.refused("POST", "/networks", body, 400) == "HTTPBadRequest"
