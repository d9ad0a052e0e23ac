from cloud_testing.compute import House


async def test_running_servers_restart_and_others_stay_off(house: House) -> None:
    demo = house.user("demo")
    ids = [(await demo.boot(name=n))["id"] for n in ("runs", "stopped", "paused", "resized")]
    await house.settle()
    await demo.act(ids[1], "os-stop")
    await demo.act(ids[2], "pause")
    await demo.act(ids[3], "resize", {"flavorRef": "1"})
    await house.settle()
    await house.kill()
    await house.start()
    await house.settle()
    demo = house.user("demo")
    found = [(await demo.server(i))["status"] for i in ids]
    assert found == ["ACTIVE", "SHUTOFF", "SHUTOFF", "VERIFY_RESIZE"]
    assert house.fabric.running() == {ids[0], ids[3]}


async def test_suspended_server_stays_so_until_resumed(house: House) -> None:
    demo = house.user("demo")
    ids = [(await demo.boot(name=n))["id"] for n in ("suspended", "suspending")]
    await house.settle()
    await demo.act(ids[0], "suspend")
    await house.settle()
    house.fabric.gate.clear()
    await demo.act(ids[1], "suspend")
    await house.kill()
    house.fabric.gate.set()
    await house.start()
    await house.settle()
    demo = house.user("demo")
    assert [(await demo.server(i))["status"] for i in ids] == ["SUSPENDED", "SUSPENDED"]
    assert not house.fabric.running()
    for server_id in ids:
        await demo.act(server_id, "resume")
    await house.settle()
    assert [(await demo.server(i))["status"] for i in ids] == ["ACTIVE", "ACTIVE"]
    assert house.fabric.running() == set(ids)


async def test_a_server_that_was_being_built_is_built(house: House) -> None:
    demo = house.user("demo")
    network = await demo.network()
    house.fabric.gate.clear()
    made = await demo.boot(networks=[{"uuid": network}])
    await house.fabric.reached.wait()
    await house.kill()
    await house.start()
    await house.settle()
    demo = house.user("demo")
    server = await demo.server(made["id"])
    assert server["status"] == "ACTIVE"
    assert len(server["addresses"]["net"]) == 1
    ports = (await demo.get(f"/network/v2.0/ports?device_id={made['id']}"))["ports"]
    assert len(ports) == 1


async def test_started_delete_is_finished_after_restart(house: House) -> None:
    demo = house.user("demo")
    made = await demo.boot()
    await house.settle()
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.kill()
    await house.start()
    await house.settle()
    await house.user("demo").get(f"/servers/{made['id']}", expect=404)
    assert not house.fabric.running()
    assert ("boot", made["id"]) not in house.fabric.calls


async def test_a_snapshot_that_was_interrupted_is_given_up(house: House) -> None:
    demo = house.user("demo")
    made = await demo.boot()
    await house.settle()
    image = (await demo.act(made["id"], "createImage", {"name": "s"}))["image_id"]
    await house.kill()
    await house.start()
    await house.settle()
    demo = house.user("demo")
    assert (await demo.server(made["id"]))["status"] == "ACTIVE"
    assert made["id"] in house.fabric.running()
    await demo.get(f"/image/v2/images/{image}", expect=404)


async def test_server_that_fails_to_restart_is_off(house: House) -> None:
    demo = house.user("demo")
    made = await demo.boot()
    await house.settle()
    await house.kill()
    house.refuse_boots = "boot: the disk is gone"
    await house.start()
    await house.settle()
    demo = house.user("demo")
    assert (await demo.server(made["id"]))["status"] == "SHUTOFF"
    actions = (await demo.get(f"/servers/{made['id']}/os-instance-actions"))["instanceActions"]
    assert [a["action"] for a in actions] == ["create"]
    await demo.act(made["id"], "os-start")
