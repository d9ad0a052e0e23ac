import asyncio
from collections.abc import AsyncIterator
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from cloud_testing.compute import Api, House


async def shown(api: Api, server: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the server as often as it is asked for, a minute at most."""
    for _ in range(6_000):
        yield await api.server(server)
        await asyncio.sleep(0.01)


async def make(admin: Api, **values: object) -> str:
    body = {"flavor": {"name": "x", "ram": 100, "vcpus": 1, "disk": 1, **values}}
    return str((await admin.call("POST", "/flavors", body))["flavor"]["id"])


async def test_the_first_flavors_exist(demo: Api) -> None:
    flavors = (await demo.get("/flavors/detail"))["flavors"]
    sizes = {f["name"]: (f["ram"], f["vcpus"]) for f in flavors}
    assert sizes == {
        "m1.nano": (64, 1),
        "m1.tiny": (256, 1),
        "m1.small": (512, 1),
        "m1.medium": (1024, 2),
        "m1.large": (2048, 4),
        "m1.xlarge": (4096, 8),
        "m1.micro": (128, 1),
        "cirros256": (256, 1),
        "ds512M": (512, 1),
        "ds1G": (1024, 1),
        "ds2G": (2048, 2),
        "ds4G": (4096, 4),
    }


async def test_deleted_first_flavors_stay_deleted(house: House, admin: Api) -> None:
    await admin.call("DELETE", "/flavors/42", expect=202)
    await house.kill()
    await house.start()
    await house.user("admin").get("/flavors/42", expect=404)


async def test_names_and_ids_are_unique(admin: Api) -> None:
    await make(admin, name="a", id="77")
    body = {"flavor": {"name": "b", "ram": 1, "vcpus": 1, "disk": 0, "id": "77"}}
    await admin.refusal("POST", "/flavors", body, 409, "conflictingRequest")
    body = {"flavor": {"name": "a", "ram": 1, "vcpus": 1, "disk": 0, "id": "auto"}}
    await admin.refusal("POST", "/flavors", body, 409, "conflictingRequest")
    body["flavor"] |= {"name": "c", "ram": 0}
    await admin.refusal("POST", "/flavors", body, 400, "badRequest")


async def test_private_flavors_are_for_some_projects(demo: Api, other: Api, admin: Api) -> None:
    flavor = await make(admin, **{"os-flavor-access:is_public": False})
    await demo.get(f"/flavors/{flavor}", expect=404)
    path = f"/flavors/{flavor}/action"
    body = {"addTenantAccess": {"tenant": "demo-project"}}
    access = (await admin.call("POST", path, body))["flavor_access"]
    assert {"flavor_id": flavor, "tenant_id": "demo-project"} in access
    await admin.call("POST", path, body, 409)
    await demo.get(f"/flavors/{flavor}")
    await demo.boot(flavorRef=flavor)
    await other.boot(flavorRef=flavor, expect=400)
    assert flavor in {f["id"] for f in (await demo.get("/flavors"))["flavors"]}
    assert flavor not in {f["id"] for f in (await admin.get("/flavors"))["flavors"]}
    assert flavor in {f["id"] for f in (await admin.get("/flavors?is_public=None"))["flavors"]}
    await admin.call("POST", path, {"removeTenantAccess": {"tenant": "demo-project"}})
    await demo.get(f"/flavors/{flavor}", expect=404)


async def test_a_body_that_comes_slowly_undoes_nothing(admin: Api) -> None:
    path = "/flavors/1/os-extra_specs"

    async def slowly() -> AsyncIterator[bytes]:
        yield b'{"extra_specs": '
        await admin.call("POST", path, {"extra_specs": {"meanwhile": "1"}})
        yield b'{"slow": "2"}}'

    await admin.call("POST", path, slowly())
    assert (await admin.get(path))["extra_specs"] == {"meanwhile": "1", "slow": "2"}


async def test_extra_specs_come_and_go(demo: Api, admin: Api) -> None:
    path = "/flavors/1/os-extra_specs"
    await admin.call("POST", path, {"extra_specs": {"hw:a": "1", "b": "2"}})
    await admin.call("PUT", f"{path}/b", {"b": "3"})
    assert await demo.get(f"{path}/b") == {"b": "3"}
    await admin.call("DELETE", f"{path}/b", expect=200)
    assert (await demo.get(path))["extra_specs"] == {"hw:a": "1"}
    assert (await demo.get("/flavors/1"))["flavor"]["extra_specs"] == {"hw:a": "1"}
    await demo.get(f"{path}/b", expect=404)


async def test_a_server_outlives_its_flavor(house: House, demo: Api, admin: Api) -> None:
    flavor = await make(admin, ram=333)
    made = await demo.boot(flavorRef=flavor)
    await house.settle()
    await admin.call("DELETE", f"/flavors/{flavor}", expect=202)
    assert (await demo.server(made["id"]))["flavor"]["ram"] == 333
    await demo.act(made["id"], "reboot", {"type": "HARD"})
    await house.settle()
    assert house.fabric.servers[made["id"]].memory_mb == 333


async def test_flavors_are_filtered_sorted_and_paged(demo: Api) -> None:
    found = (await demo.get("/flavors/detail?minRam=512&sort_key=ram&sort_dir=desc"))["flavors"]
    sizes = [f["ram"] for f in found]
    assert sizes == sorted(sizes, reverse=True)
    assert {f["name"] for f in found} >= {"m1.xlarge", "m1.large", "m1.small"}
    assert "m1.tiny" not in {f["name"] for f in found}
    first = await demo.get("/flavors?limit=2")
    assert len(first["flavors"]) == 2
    following = first["flavors_links"][0]["href"]
    assert "marker=" in following
    await demo.get("/flavors?marker=none", expect=400)
    await demo.get("/flavors?minRam=x", expect=400)


async def test_generated_key_pair_shows_private_key_once(demo: Api) -> None:
    old = demo.at("2.91")
    made = (await old.call("POST", "/os-keypairs", {"keypair": {"name": "k"}}, 201))["keypair"]
    private = serialization.load_pem_private_key(made["private_key"].encode(), None)
    public = private.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    assert made["public_key"].startswith(public.decode())
    assert len(made["fingerprint"].split(":")) == 16
    shown = (await demo.get("/os-keypairs/k"))["keypair"]
    assert "private_key" not in shown
    assert shown["fingerprint"] == made["fingerprint"]
    await demo.call("POST", "/os-keypairs", {"keypair": {"name": "l"}}, 400)


async def test_an_imported_key_is_read(demo: Api) -> None:
    key = ed25519.Ed25519PrivateKey.generate().public_key()
    text = key.public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    ).decode()
    body = {"keypair": {"name": "k", "public_key": f"{text} me@home"}}
    await demo.call("POST", "/os-keypairs", body, 201)
    await demo.refusal("POST", "/os-keypairs", body, 409, "conflictingRequest")
    body = {"keypair": {"name": "bad", "public_key": "ssh-rsa nonsense"}}
    message = await demo.refusal("POST", "/os-keypairs", body, 400, "badRequest")
    assert "Keypair data is invalid" in message


async def test_x509_key_pairs_are_certificates(demo: Api) -> None:
    body = {"keypair": {"name": "k", "type": "x509"}}
    made = (await demo.at("2.2").call("POST", "/os-keypairs", body, 201))["keypair"]
    assert made["public_key"].startswith("-----BEGIN CERTIFICATE")
    assert len(made["fingerprint"].split(":")) == 20


async def test_key_pairs_belong_to_users(demo: Api, other: Api, admin: Api) -> None:
    await demo.at("2.91").call("POST", "/os-keypairs", {"keypair": {"name": "k"}}, 201)
    assert (await other.get("/os-keypairs"))["keypairs"] == []
    await other.get("/os-keypairs/k", expect=404)
    await other.get("/os-keypairs?user_id=demo-user", expect=403)
    assert len((await admin.get("/os-keypairs?user_id=demo-user"))["keypairs"]) == 1
    await other.boot(key_name="k", expect=400)
    await demo.call("DELETE", "/os-keypairs/k", expect=204)
    await demo.call("DELETE", "/os-keypairs/k", expect=404)


async def test_server_of_slow_flavor_boots_slowly(demo: Api, admin: Api, house: House) -> None:
    flavor = await make(admin)
    specs = {"localcloud:boot_seconds": "3000", "localcloud:delete_seconds": "soon"}
    await admin.call("POST", f"/flavors/{flavor}/os-extra_specs", {"extra_specs": specs})
    network = await demo.network()
    house.clock.goes.clear()
    server = (await demo.boot(flavorRef=flavor, networks=[{"uuid": network}]))["id"]
    found: dict[str, Any] = {}
    async for found in shown(demo, server):
        if found["OS-EXT-STS:task_state"] == "spawning":
            break
    assert found["status"] == "BUILD"
    assert [address["addr"] for address in found["addresses"]["net"]]
    await demo.call("DELETE", f"/servers/{server}", expect=204)
    house.clock.goes.set()  # the boot ends, although it was to last an hour
    await house.settle()
    await demo.get(f"/servers/{server}", expect=404)
