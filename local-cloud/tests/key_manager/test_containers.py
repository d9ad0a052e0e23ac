"""Containers: secrets that belong together."""

from typing import Any

import pytest

from cloud_testing.caller import Caller

NOWHERE = "http://elsewhere/v1/secrets/00000000-0000-4000-8000-000000000000"


async def secret(keys: Caller) -> str:
    return str((await keys.call("POST", "/secrets", {}, 201))["secret_ref"])


async def made(keys: Caller, kind: str, **refs: str) -> str:
    named = [{"name": name, "secret_ref": ref} for name, ref in refs.items()]
    body = {"name": "box", "type": kind, "secret_refs": named}
    answer = await keys.call("POST", "/containers", body, 201)
    return "/containers/" + str(answer["container_ref"]).rpartition("/")[2]


async def names(keys: Caller, path: str) -> list[str]:
    return [ref["name"] for ref in (await keys.get(path))["secret_refs"]]


async def test_a_container_names_its_secrets(keys: Caller) -> None:
    public, private = await secret(keys), await secret(keys)
    path = await made(keys, "rsa", public_key=public, private_key=private)
    shown = await keys.get(path)
    assert shown["container_ref"].endswith(path)
    assert (shown["type"], shown["name"], shown["consumers"]) == ("rsa", "box", [])
    assert [ref["secret_ref"] for ref in shown["secret_refs"]] == [public, private]
    listed = await keys.get("/containers?type=rsa")
    assert (listed["total"], listed["containers"]) == (1, [shown])
    await keys.of("other").call("GET", path, expect=403)
    await keys.call("DELETE", public, expect=204)
    assert await names(keys, path) == ["private_key"]
    await keys.call("DELETE", path, expect=204)
    answer = await keys.call("GET", path, expect=404)
    assert answer["description"] == "Secrets container not found."


async def test_generic_container_adds_and_removes_secrets(keys: Caller) -> None:
    first, second = await secret(keys), await secret(keys)
    path = await made(keys, "generic", a=first)
    more = {"name": "b", "secret_ref": second}
    await keys.call("POST", f"{path}/secrets", more, 201)
    await keys.call("POST", f"{path}/secrets", more, 409)
    assert await names(keys, path) == ["a", "b"]
    await keys.call("DELETE", f"{path}/secrets", more, 204)
    answer = await keys.call("DELETE", f"{path}/secrets", more, 404)
    assert answer["description"] == "Secret provided is not in the container"
    fixed = await made(keys, "certificate", certificate=first)
    await keys.call("POST", f"{fixed}/secrets", more, 400)


@pytest.mark.parametrize(
    ("kind", "refs", "status", "reason"),
    [
        ("odd", {}, 400, "'odd' is not one of ['generic', 'rsa', 'certificate']"),
        ("rsa", {"public_key": "A"}, 400, "minimum required reference names are 'public_key'"),
        ("rsa", {"door": "A"}, 400, "only 'private_key', 'public_key' and"),
        ("certificate", {"private_key": "A"}, 400, "reference name is 'certificate'"),
        ("generic", {"a": "A", "b": "A"}, 400, "Duplicate secret ids are not allowed"),
        ("generic", {"a": NOWHERE}, 400, "Provided field value is not supported"),
        ("generic", {"a": "MISSING"}, 404, "Secret provided for 'a' doesn't exist."),
    ],
)
async def test_what_makes_no_container_is_refused(
    keys: Caller, kind: str, refs: dict[str, str], status: int, reason: str
) -> None:
    known = await secret(keys)
    gone = await secret(keys)
    await keys.call("DELETE", gone, expect=204)
    places = {"A": known, "MISSING": gone}
    named = [{"name": n, "secret_ref": places.get(r, r)} for n, r in refs.items()]
    body: dict[str, Any] = {"type": kind, "secret_refs": named}
    answer = await keys.call("POST", "/containers", body, status)
    assert reason in answer["description"]


async def test_consumers_register_and_leave(keys: Caller) -> None:
    path = await made(keys, "generic")
    body = {"name": "balancer", "URL": "https://balancer/1"}
    shown = await keys.call("POST", f"{path}/consumers", body)
    assert shown["consumers"] == [body]
    assert (await keys.get(f"{path}/consumers"))["total"] == 1
    shown = await keys.call("DELETE", f"{path}/consumers", body)
    assert shown["consumers"] == []
