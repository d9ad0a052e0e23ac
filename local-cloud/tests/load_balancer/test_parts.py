"""Listeners, pools, members, monitors, policies, rules: fields, relations, refusals."""

import pytest

from cloud_testing.balancers import Balancing


async def test_parts_say_what_belongs_together(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    member = await balancing.member(pool, 1, weight=3, backup=True, tags=["m"])
    monitor = await balancing.make(
        "healthmonitor", pool_id=pool["id"], type="HTTP", delay=60, timeout=1, max_retries=2
    )
    policy = await balancing.make("l7policy", listener_id=listener["id"], action="REJECT")
    rule = await balancing.make(
        "rule", policy["id"], type="PATH", compare_type="EQUAL_TO", value="/a"
    )
    whole = await balancing.show("loadbalancer", balancer["id"])
    assert (whole["listeners"], whole["pools"]) == ([{"id": listener["id"]}], [{"id": pool["id"]}])
    found = await balancing.show("listener", listener["id"])
    assert found["default_pool_id"] == pool["id"]
    assert found["loadbalancers"] == [{"id": balancer["id"]}]
    assert found["l7policies"] == [{"id": policy["id"]}]
    assert (found["connection_limit"], found["timeout_member_connect"]) == (-1, 5000)
    found = await balancing.show("pool", pool["id"])
    assert found["members"] == [{"id": member["id"]}]
    assert found["healthmonitor_id"] == monitor["id"]
    assert (monitor["http_method"], monitor["url_path"], monitor["expected_codes"]) == (
        "GET",
        "/",
        "200",
    )
    assert (await balancing.show("l7policy", policy["id"]))["rules"] == [{"id": rule["id"]}]
    path = f"/pools/{balancer['id']}/members/{member['id']}"
    await balancing.get(path, expect=404)
    await balancing.delete("pool", pool["id"])
    await balancing.get(f"/healthmonitors/{monitor['id']}", expect=404)
    assert (await balancing.show("listener", listener["id"]))["default_pool_id"] is None


async def test_changes_of_each_part_show(balancing: Balancing) -> None:
    _, listener, pool = await balancing.ready()
    member = await balancing.member(pool, 1)
    changed = await balancing.change("member", member["id"], pool["id"], weight=7, tags=["x"])
    assert (changed["weight"], changed["tags"]) == (7, ["x"])
    assert (await balancing.change("member", member["id"], pool["id"], weight=None))["weight"] == 1
    given = {"type": "APP_COOKIE", "cookie_name": "id"}
    changed = await balancing.change("pool", pool["id"], session_persistence=given)
    assert changed["session_persistence"]["cookie_name"] == "id"
    changed = await balancing.change("pool", pool["id"], session_persistence=None)
    assert changed["session_persistence"] is None
    changed = await balancing.change("listener", listener["id"], allowed_cidrs=["10.0.0.0/8"])
    assert changed["allowed_cidrs"] == ["10.0.0.0/8"]
    assert changed["updated_at"] is not None


async def test_policies_keep_their_order_and_one_target(balancing: Balancing) -> None:
    _, listener, pool = await balancing.ready()
    base = {"listener_id": listener["id"]}
    first = await balancing.make("l7policy", **base, action="REJECT", name="first")
    url = {"action": "REDIRECT_TO_URL", "redirect_url": "http://there/"}
    second = await balancing.make("l7policy", **base, **url, position=1, name="second")
    assert (second["position"], second["redirect_http_code"]) == (1, 302)
    assert (await balancing.show("l7policy", first["id"]))["position"] == 2
    changed = await balancing.change("l7policy", second["id"], redirect_pool_id=pool["id"])
    assert (changed["action"], changed["redirect_url"]) == ("REDIRECT_TO_POOL", None)
    refusal = await balancing.refusal("DELETE", f"/pools/{pool['id']}", None, 409)
    assert refusal == f"Pool {pool['id']} is in use by L7 policy {second['id']}"
    await balancing.delete("l7policy", second["id"])
    assert (await balancing.show("l7policy", first["id"]))["position"] == 1


async def test_what_does_not_go_together_is_refused(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    base = {"loadbalancer_id": balancer["id"], "protocol": "TCP", "protocol_port": 80}
    assert "already using protocol HTTP" in await balancing.refused("listener", 409, **base)
    same = {"listener_id": listener["id"], "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    assert "already has a default pool" in await balancing.refused("pool", 409, **same)
    await balancing.member(pool, 1)
    twice = {"address": "10.0.0.101", "protocol_port": 8080}
    assert "already using ip 10.0.0.101" in await balancing.refused(
        "member", 409, pool["id"], **twice
    )
    monitor = {"pool_id": pool["id"], "delay": 60, "timeout": 1, "max_retries": 1}
    await balancing.make("healthmonitor", **monitor, type="TCP")
    assert "already has a health monitor" in await balancing.refused(
        "healthmonitor", 409, **monitor, type="TCP"
    )


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("listener", {"protocol": "TERMINATED_HTTPS"}, "certificate container reference must be"),
        (
            "listener",
            {"protocol": "TERMINATED_HTTPS", "default_tls_container_ref": "http://k/1"},
            "Could not retrieve certificate: http://k/1",
        ),
        ("listener", {"default_tls_container_ref": "http://k/1"}, "are not allowed on HTTP"),
        ("listener", {"protocol": "SCTP"}, "SCTP is not a valid option for protocol"),
        ("listener", {"protocol": "FTP"}, "Invalid input for field/attribute protocol"),
        ("listener", {"protocol_port": 0}, "not an integer from 1 to 65535"),
        ("listener", {"color": "red"}, "Unknown attribute: color"),
        ("listener", {"insert_headers": {"X-A": "true"}}, "not a valid option for insert_headers"),
        ("listener", {"allowed_cidrs": ["fd00::/64"]}, "IP version incompatible"),
        ("listener", {"default_pool_id": "@pool"}, 'The pool protocol "UDP" is invalid'),
        ("pool", {"lb_algorithm": None}, "Mandatory field missing"),
        ("pool", {"session_persistence": {"type": "APP_COOKIE"}}, "must be specified"),
        ("pool", {"protocol": "UDP", "session_persistence": {"type": "HTTP_COOKIE"}}, "UDP"),
        ("pool", {"ca_tls_container_ref": "http://k/1"}, "not supported here"),
        ("healthmonitor", {"type": "UDP-CONNECT", "url_path": "/"}, "url_path is not a valid"),
        ("healthmonitor", {"type": "PING"}, "only a UDP-CONNECT"),
        ("healthmonitor", {"max_retries": 11}, "max_retries"),
        ("loadbalancer", {"vip_subnet_id": None}, "VIP must contain one of"),
        ("loadbalancer", {"provider": "ovn"}, "Provider 'ovn' is not enabled."),
        ("loadbalancer", {"vip_address": "192.0.2.1"}, "192.0.2.1"),
    ],
)
async def test_bad_fields_are_refused_with_the_reason(
    balancing: Balancing, kind: str, fields: dict[str, object], said: str
) -> None:
    balancer = await balancing.balancer()
    pool = {"loadbalancer_id": balancer["id"], "protocol": "UDP", "lb_algorithm": "ROUND_ROBIN"}
    made = await balancing.make("pool", **pool)
    base = {
        "listener": {**pool, "protocol": "HTTP", "protocol_port": 80},
        "pool": {**pool, "protocol": "HTTP"},
        "healthmonitor": {"pool_id": made["id"], "delay": 5, "timeout": 1, "max_retries": 1},
        "loadbalancer": {"vip_subnet_id": balancer["vip_subnet_id"]},
    }[kind]
    base.pop("lb_algorithm", None) if kind == "listener" else None
    given = {k: made["id"] if v == "@pool" else v for k, v in {**base, **fields}.items()}
    if kind == "healthmonitor":
        given.setdefault("type", "UDP-CONNECT")
    assert said in await balancing.refused(kind, **given)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"type": "HEADER"}, "requires a key"),
        ({"compare_type": "REGEX", "value": "("}, "Unable to parse regular expression"),
        ({"type": "FILE_TYPE", "compare_type": "CONTAINS"}, "invalid comparison type"),
        ({"value": "a\nb"}, "value"),
    ],
)
async def test_bad_rules_are_refused(
    balancing: Balancing, fields: dict[str, object], said: str
) -> None:
    _, listener, _ = await balancing.ready()
    policy = await balancing.make("l7policy", listener_id=listener["id"], action="REJECT")
    base = {"type": "PATH", "compare_type": "EQUAL_TO", "value": "/"}
    assert said in await balancing.refused("rule", 400, policy["id"], **{**base, **fields})


async def test_batch_update_replaces_all_members(balancing: Balancing) -> None:
    _, _, pool = await balancing.ready()
    kept = await balancing.member(pool, 1)
    await balancing.member(pool, 2)
    wanted = [
        {"address": kept["address"], "protocol_port": 8080, "weight": 9},
        {"address": "10.0.0.103", "protocol_port": 8080},
    ]
    path = f"/pools/{pool['id']}/members"
    await balancing.call("PUT", path, {"members": wanted}, 202)
    await balancing.house.settle()
    members = (await balancing.get(path))["members"]
    assert {(m["address"], m["weight"]) for m in members} == {("10.0.0.101", 9), ("10.0.0.103", 1)}
    await balancing.call("PUT", f"{path}?additive_only=true", {"members": []}, 202)
    await balancing.house.settle()
    assert len((await balancing.get(path))["members"]) == 2


async def test_load_balancer_is_created_with_all_parts(balancing: Balancing) -> None:
    pools = [
        {
            "name": "web",
            "protocol": "HTTP",
            "lb_algorithm": "ROUND_ROBIN",
            "members": [{"address": "10.0.0.9", "protocol_port": 80}],
            "healthmonitor": {"type": "TCP", "delay": 60, "timeout": 1, "max_retries": 1},
        }
    ]
    policy = {
        "action": "REDIRECT_TO_POOL",
        "redirect_pool": {"name": "web"},
        "rules": [{"type": "PATH", "compare_type": "EQUAL_TO", "value": "/"}],
    }
    listener = {
        "protocol": "HTTP",
        "protocol_port": 80,
        "default_pool": {"name": "web"},
        "l7policies": [policy],
    }
    given = {"vip_subnet_id": await balancing.subnet(), "listeners": [listener], "pools": pools}
    answer = await balancing.call("POST", "/loadbalancers", {"loadbalancer": given}, 201)
    made = answer["loadbalancer"]
    await balancing.house.settle()
    assert made["pools"][0]["members"][0]["address"] == "10.0.0.9"
    assert made["pools"][0]["healthmonitor"]["type"] == "TCP"
    assert made["listeners"][0]["l7policies"][0]["rules"][0]["value"] == "/"
    assert made["listeners"][0]["default_pool_id"] == made["pools"][0]["id"]
    status = (await balancing.get(f"/loadbalancers/{made['id']}/status"))["statuses"]
    (shown,) = status["loadbalancer"]["listeners"]
    assert shown["pools"][0]["members"][0]["provisioning_status"] == "ACTIVE"
    broken = {**given, "listeners": [{**listener, "default_pool": {"name": "none"}}]}
    assert "Missing details" in await balancing.refused("loadbalancer", **broken)
    assert len((await balancing.get("/loadbalancers"))["loadbalancers"]) == 1
    ports = (await balancing.api.get("/network/v2.0/ports?device_owner=Octavia"))["ports"]
    assert len(ports) == 1


async def test_lists_are_filtered_and_paged(balancing: Balancing) -> None:
    balancer, listener, pool = await balancing.ready()
    for number in range(3):
        await balancing.member(pool, number, tags=["even"] if number % 2 == 0 else [])
    path = f"/pools/{pool['id']}/members"
    assert len((await balancing.get(f"{path}?tags=even"))["members"]) == 2
    assert len((await balancing.get(f"{path}?not-tags=even"))["members"]) == 1
    page = await balancing.get(f"{path}?limit=2&sort=address&fields=address")
    assert page["members"] == [{"address": "10.0.0.100"}, {"address": "10.0.0.101"}]
    rest = await balancing.get(f"{path}?{page['members_links'][0]['href'].partition('?')[2]}")
    assert [each["address"] for each in rest["members"]] == ["10.0.0.102"]
    own = f"?loadbalancer_id={balancer['id']}&protocol=HTTP"
    assert [each["id"] for each in (await balancing.get(f"/listeners{own}"))["listeners"]] == [
        listener["id"]
    ]
    assert (await balancing.get("/listeners?operating_status=OFFLINE"))["listeners"] == []
    assert "invalid" in await balancing.refusal("GET", "/listeners?color=red")


async def test_projects_do_not_see_each_other(balancing: Balancing) -> None:
    balancer, _, pool = await balancing.ready()
    other = Balancing(balancing.house, balancing.house.user("other"))
    assert (await other.get("/loadbalancers"))["loadbalancers"] == []
    assert "Policy does not allow" in await other.refusal("GET", f"/pools/{pool['id']}", None, 403)
    fields = {"loadbalancer_id": balancer["id"], "protocol": "TCP", "protocol_port": 9}
    assert "not found" in await other.refused("listener", **fields)
    await other.refused("member", 403, pool["id"], address="10.0.0.1", protocol_port=1)
    await other.refused("loadbalancer", vip_subnet_id=balancer["vip_subnet_id"])


async def test_quotas_bound_a_project(balancing: Balancing, ruler: Balancing) -> None:
    path = "/quotas/demo-project"
    assert "Policy" in await balancing.refusal("PUT", path, {"quota": {"listener": 1}}, 403)
    answer = await ruler.call("PUT", path, {"quota": {"listener": 1, "loadbalancer": 1}}, 202)
    assert (answer["quota"]["load_balancer"], answer["quota"]["listener"]) == (1, 1)
    balancer, _, _ = await balancing.ready()
    fields = {"loadbalancer_id": balancer["id"], "protocol": "TCP", "protocol_port": 9}
    said = "Quota has been met for resources: Listener"
    assert await balancing.refused("listener", 403, **fields) == said
    subnet = balancer["vip_subnet_id"]
    assert "Load Balancer" in await balancing.refused("loadbalancer", 403, vip_subnet_id=subnet)
    assert [q["project_id"] for q in (await ruler.get("/quotas"))["quotas"]] == ["demo-project"]
    await ruler.call("DELETE", path, expect=202)
    assert (await balancing.get(path)) == (await balancing.get("/quotas/defaults"))


async def test_flavors_and_zones_are_chosen_by_users(
    balancing: Balancing, ruler: Balancing
) -> None:
    profile = {"name": "p", "provider_name": "amphora", "flavor_data": "{}"}
    body = {"flavorprofile": profile}
    made = (await ruler.call("POST", "/flavorprofiles", body, 201))["flavorprofile"]
    await balancing.get("/flavorprofiles", expect=403)
    flavor = {"flavor": {"name": "small", "flavor_profile_id": made["id"]}}
    flavor_id = (await ruler.call("POST", "/flavors", flavor, 201))["flavor"]["id"]
    assert "already exists" in await ruler.refusal("POST", "/flavors", flavor, 409)
    zones = {"name": "z", "provider_name": "amphora", "availability_zone_data": "{}"}
    answer = await ruler.call(
        "POST", "/availabilityzoneprofiles", {"availability_zone_profile": zones}, 201
    )
    zone = {
        "name": "here",
        "availability_zone_profile_id": answer["availability_zone_profile"]["id"],
    }
    await ruler.call("POST", "/availabilityzones", {"availability_zone": zone}, 201)
    balancer = await balancing.balancer(flavor_id=flavor_id, availability_zone="here")
    assert (balancer["flavor_id"], balancer["availability_zone"]) == (flavor_id, "here")
    assert "is in use" in await ruler.refusal("DELETE", f"/flavors/{flavor_id}", None, 409)
    assert "is in use" in await ruler.refusal("DELETE", "/availabilityzones/here", None, 409)
    disabled = {"availability_zone": {"enabled": False}}
    await ruler.call("PUT", "/availabilityzones/here", disabled)
    subnet = balancer["vip_subnet_id"]
    assert "not allowed in this deployment" in await balancing.refused(
        "loadbalancer", vip_subnet_id=subnet, availability_zone="here"
    )
    names = [each["name"] for each in (await balancing.get("/providers"))["providers"]]
    assert names == ["amphora", "octavia"]
    bad = {"flavorprofile": {**profile, "flavor_data": "[]"}}
    assert "flavor_data" in await ruler.refusal("POST", "/flavorprofiles", bad)
