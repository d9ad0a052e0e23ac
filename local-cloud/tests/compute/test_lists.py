from cloud_testing.compute import Api, House


def names(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [s["name"] for s in answer["servers"]]


async def test_the_newest_server_comes_first(demo: Api) -> None:
    for name in ("a", "b", "c"):
        await demo.boot(name=name)
    assert names(await demo.get("/servers")) == ["c", "b", "a"]
    assert names(await demo.get("/servers?sort_key=display_name&sort_dir=asc")) == ["a", "b", "c"]


async def test_pages_follow_each_other(demo: Api) -> None:
    for number in range(5):
        await demo.boot(name=str(number))
    path, found = "/servers?limit=2", []
    while path:
        answer = await demo.get(path)
        found += names(answer)
        links = answer.get("servers_links", [])
        path = links[0]["href"].split("/compute/v2.1")[1] if links else ""
    assert found == ["4", "3", "2", "1", "0"]
    await demo.get("/servers?marker=none", expect=400)
    await demo.get("/servers?limit=-1", expect=400)


async def test_each_filter_selects(house: House, demo: Api, admin: Api) -> None:
    network = await demo.network()
    web = await demo.boot(name="web-1", networks=[{"uuid": network}], tags=["x", "y"])
    data = await demo.boot(name="data", flavorRef="1", tags=["x"], description="store")
    await house.settle()
    await demo.act(data["id"], "os-stop")
    await house.settle()
    await demo.act(data["id"], "lock")
    for query, expected in (
        ("name=web", ["web-1"]),
        ("name=^w.*1$", ["web-1"]),
        ("status=ACTIVE", ["web-1"]),
        ("status=shutoff", ["data"]),
        ("flavor=1", ["data"]),
        ("ip=10.0.0.2", ["web-1"]),
        ("tags=x,y", ["web-1"]),
        ("tags-any=x,y", ["data", "web-1"]),
        ("not-tags=x,y", ["data"]),
        ("not-tags-any=y", ["data"]),
        ("locked=true", ["data"]),
        ("vm_state=stopped", ["data"]),
        ("availability_zone=nova", ["data", "web-1"]),
        ("colour=blue", ["data", "web-1"]),
    ):
        assert names(await demo.get(f"/servers?{query}")) == expected, query
    for costly in ("(", "(a%2B)%2B$", ".*.*.*.*x", "(a)%5C1"):
        await demo.get(f"/servers?name={costly}", expect=400)
    query = f"all_tenants=1&uuid={web['id']}"
    assert names(await admin.get(f"/servers?{query}")) == ["web-1"]


async def test_changes_since_a_moment_have_deleted_servers_too(house: House, demo: Api) -> None:
    for name in ("old", "gone"):
        await demo.boot(name=name)
    await house.settle()
    house.clock.advance(60)
    gone = next(s for s in (await demo.get("/servers"))["servers"] if s["name"] == "gone")
    await demo.call("DELETE", f"/servers/{gone['id']}", expect=204)
    await house.settle()
    answer = await demo.get("/servers/detail?changes-since=2026-01-01T00:00:30Z")
    assert [(s["name"], s["status"]) for s in answer["servers"]] == [("gone", "DELETED")]
    await demo.get("/servers?changes-since=yesterday", expect=400)


async def test_administrators_can_list_deleted_servers(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot()
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    assert names(await admin.get("/servers?deleted=True&all_tenants=1")) == ["one"]
    actions = (await demo.get(f"/servers/{made['id']}/os-instance-actions"))["instanceActions"]
    assert [a["action"] for a in actions] == ["delete", "create"]


async def test_at_most_eight_servers_boot_together(house: House, demo: Api) -> None:
    await demo.boot(min_count=20, max_count=20)
    await house.settle()
    assert len(house.fabric.running()) == 20
    assert house.fabric.most_booting <= 8
