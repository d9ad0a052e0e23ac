"""Volume types, their encryption and access; QoS specs; requests for administrators only."""

from cloud_testing.volumes import Volumes


async def kind(ruler: Volumes, name: str = "fast", **fields: object) -> str:
    body = {"volume_type": {"name": name, **fields}}
    return str((await ruler.call("POST", "/types", body))["volume_type"]["id"])


async def test_types_have_extra_specs(ruler: Volumes, volumes: Volumes) -> None:
    made = await kind(ruler, description="d", extra_specs={"a": "b"})
    path = f"/types/{made}/extra_specs"
    await ruler.call("POST", path, {"extra_specs": {"c": "d"}})
    await ruler.call("PUT", f"{path}/e", {"e": "f"})
    await ruler.call("DELETE", f"{path}/a", expect=202)
    assert (await ruler.get(path))["extra_specs"] == {"c": "d", "e": "f"}
    await ruler.refusal("DELETE", f"{path}/a", status=404)
    names = [each["name"] for each in (await volumes.get("/types"))["volume_types"]]
    assert names == ["fast", "__DEFAULT__"]
    assert (await volumes.get(f"/types/{made}"))["volume_type"]["extra_specs"] == {}
    same = {"volume_type": {"name": "fast"}}
    assert await ruler.refusal("POST", "/types", same, 409) == "Volume Type fast already exists."
    await ruler.call("PUT", f"/types/{made}", {"volume_type": {"name": "slow"}})
    assert (await ruler.get(f"/types/{made}"))["volume_type"]["name"] == "slow"


async def test_a_type_that_volumes_have_stays(ruler: Volumes, volumes: Volumes) -> None:
    made = await kind(ruler)
    held = await volumes.make(volume_type="fast")
    assert "still in use" in await ruler.refusal("DELETE", f"/types/{made}")
    await volumes.call("DELETE", f"/volumes/{held['id']}", expect=202)
    await volumes.house.settle()
    await ruler.call("DELETE", f"/types/{made}", expect=202)
    await ruler.get(f"/types/{made}", expect=404)


async def test_private_types_are_for_their_projects(ruler: Volumes, volumes: Volumes) -> None:
    made = await kind(ruler, **{"os-volume-type-access:is_public": False})
    await volumes.get(f"/types/{made}", expect=404)
    grant = {"addProjectAccess": {"project": "demo-project"}}
    await ruler.call("POST", f"/types/{made}/action", grant, 202)
    await ruler.refusal("POST", f"/types/{made}/action", grant, 409)
    listed = (await ruler.get(f"/types/{made}/os-volume-type-access"))["volume_type_access"]
    assert listed == [{"volume_type_id": made, "project_id": "demo-project"}]
    await volumes.get(f"/types/{made}")
    await volumes.make(volume_type="fast")
    revoke = {"removeProjectAccess": {"project": "demo-project"}}
    await ruler.call("POST", f"/types/{made}/action", revoke, 202)
    await volumes.get(f"/types/{made}", expect=404)


async def test_volume_shows_encryption_of_its_type(ruler: Volumes, volumes: Volumes) -> None:
    made = await kind(ruler)
    path = f"/types/{made}/encryption"
    assert await ruler.get(path) == {}
    body = {"provider": "luks", "control_location": "front-end", "cipher": "aes", "key_size": 256}
    told = (await ruler.call("POST", path, {"encryption": body}))["encryption"]
    assert told.items() >= body.items()
    await ruler.refusal("POST", path, {"encryption": body})
    changed = {"encryption": {"key_size": 512}}
    await ruler.call("PUT", f"{path}/{told['encryption_id']}", changed)
    held = await volumes.make(volume_type="fast")
    assert held["encrypted"] is True
    shown = await volumes.get(f"/volumes/{held['id']}/encryption")
    assert (shown["key_size"], shown["provider"]) == (512, "luks")
    assert "in use" in await ruler.refusal("DELETE", f"{path}/provider")
    await volumes.call("DELETE", f"/volumes/{held['id']}", expect=202)
    await volumes.house.settle()
    await ruler.call("DELETE", f"{path}/provider", expect=202)
    assert await ruler.get(path) == {}


async def test_qos_specs_are_associated_with_types(ruler: Volumes) -> None:
    made = await kind(ruler)
    body = {"qos_specs": {"name": "q", "consumer": "both", "iops": "100", "burst": "5"}}
    qos = (await ruler.call("POST", "/qos-specs", body))["qos_specs"]
    assert (qos["consumer"], qos["specs"]) == ("both", {"iops": "100", "burst": "5"})
    path = f"/qos-specs/{qos['id']}"
    await ruler.call("PUT", path, {"qos_specs": {"iops": "200"}})
    await ruler.call("PUT", f"{path}/delete_keys", {"keys": ["burst"]}, 202)
    assert (await ruler.get(path))["qos_specs"]["specs"] == {"iops": "200"}
    await ruler.call("GET", f"{path}/associate?vol_type_id={made}", expect=202)
    assert (await ruler.get(f"/types/{made}"))["volume_type"]["qos_specs_id"] == qos["id"]
    assert [e["id"] for e in (await ruler.get(f"{path}/associations"))["qos_associations"]] == [
        made
    ]
    assert await ruler.refusal("DELETE", path) == "Qos specs still in use."
    await ruler.call("GET", f"{path}/disassociate?vol_type_id={made}", expect=202)
    await ruler.call("DELETE", path, expect=202)
    assert await ruler.refusal("GET", path, status=404) == f"No such QoS spec {qos['id']}."


async def test_users_do_not_administrate(volumes: Volumes) -> None:
    for method, path, body in (
        ("POST", "/types", {"volume_type": {"name": "x"}}),
        ("POST", "/qos-specs", {"qos_specs": {"name": "x"}}),
        ("GET", "/qos-specs", None),
        ("GET", "/os-services", None),
        ("GET", "/scheduler-stats/get_pools", None),
    ):
        await volumes.refusal(method, path, body, 403)
    made = await volumes.make()
    reset = {"os-reset_status": {"status": "error"}}
    await volumes.refusal("POST", f"/volumes/{made['id']}/action", reset, 403)


async def test_administrators_set_states(ruler: Volumes, volumes: Volumes) -> None:
    made = await volumes.make()
    await ruler.act(made["id"], "os-reset_status", {"status": "error"})
    assert (await volumes.volume(made["id"]))["status"] == "error"
    await ruler.act(made["id"], "os-force_delete", {})
    await volumes.get(f"/volumes/{made['id']}", expect=404)
    names = [each["binary"] for each in (await ruler.get("/os-services"))["services"]]
    assert names == ["cinder-scheduler", "cinder-volume", "cinder-backup"]
    pools = (await ruler.get("/scheduler-stats/get_pools?detail=true"))["pools"]
    assert pools[0]["capabilities"]["free_capacity_gb"] >= 0
    zones = (await volumes.get("/os-availability-zone"))["availabilityZoneInfo"]
    assert zones == [{"zoneName": "nova", "zoneState": {"available": True}}]
