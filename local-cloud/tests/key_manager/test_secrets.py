"""Secrets: contents, permissions, and refusals."""

import base64
from typing import Any

import pytest

from cloud_testing.caller import Caller
from cloud_testing.doubles import ManualClock
from localcloud.core.cloud import Cloud

TEXT = {"payload": "open sesame", "payload_content_type": "text/plain"}
RAW = bytes(range(256))


async def made(keys: Caller, **fields: Any) -> str:
    """The path of a new secret."""
    answer = await keys.call("POST", "/secrets", {"name": "door", **fields}, 201)
    return "/secrets/" + str(answer["secret_ref"]).rpartition("/")[2]


async def payload(keys: Caller, path: str, accept: str = "*/*", expect: int = 200) -> bytes:
    answer = await keys.send("GET", f"{path}/payload", Accept=accept)
    assert answer.status_code == expect, answer.text
    return answer.content


async def refusal(keys: Caller, method: str, path: str, body: Any, status: int) -> str:
    """The description of a refusal."""
    answer = await keys.call(method, path, body, status)
    assert answer["code"] == status
    return str(answer["description"])


async def test_a_secret_holds_a_text(keys: Caller) -> None:
    path = await made(keys, **TEXT, algorithm="aes", bit_length=256, mode="cbc")
    shown = await keys.get(path)
    assert shown["secret_ref"].endswith(f"/key-manager/v1{path}")
    assert shown == {
        "algorithm": "aes", "bit_length": 256, "mode": "cbc", "name": "door",
        "secret_type": "opaque", "status": "ACTIVE", "expiration": None,
        "creator_id": "demo-user", "created": "2026-01-01T00:00:00",
        "updated": "2026-01-01T00:00:00", "content_types": {"default": "text/plain"},
        "secret_ref": shown["secret_ref"],
    }  # fmt: skip
    assert await payload(keys, path) == b"open sesame"
    assert await payload(keys, path, "application/octet-stream") == b"open sesame"
    answer = await keys.send("GET", path, Accept="text/plain")
    assert answer.text == "open sesame"


async def test_base64_payload_is_returned_as_bytes(keys: Caller) -> None:
    kind = "application/octet-stream"
    encoded = base64.b64encode(RAW).decode()
    path = await made(
        keys, payload=encoded, payload_content_type=kind, payload_content_encoding="base64"
    )
    assert await payload(keys, path) == RAW
    refused = await payload(keys, path, "text/plain", 406)
    assert b"Secret payload retrieval issue seen - Wrong payload content-type." in refused
    await payload(keys, path, "image/png", 406)


async def test_a_secret_is_filled_later_and_once(keys: Caller) -> None:
    path = await made(keys)
    assert "content_types" not in await keys.get(path)
    assert b"your secret has no payload" in await payload(keys, path, expect=404)
    kind = "application/octet-stream"
    await keys.call("PUT", path, RAW, 204, Content_Type=kind)
    assert await payload(keys, path) == RAW
    answer = await keys.send("PUT", path, b"x", Content_Type=kind)
    assert (answer.status_code, answer.json()["description"]) == (
        409, "Secret already has data, cannot modify it.",
    )  # fmt: skip
    other = await made(keys)
    encoded = base64.b64encode(RAW)
    await keys.call("PUT", other, encoded, 204, Content_Type=kind, Content_Encoding="base64")
    assert await payload(keys, other) == RAW
    empty = await made(keys)
    assert "No data supplied" in (await keys.send("PUT", empty, Content_Type=kind)).text
    assert (await keys.send("PUT", empty, {"a": 1})).status_code == 415
    answer = await keys.send("PUT", empty, b"abc", Content_Type=kind, Content_Encoding="base64")
    assert answer.status_code == 400


async def test_project_sees_its_own_secrets_only(keys: Caller) -> None:
    path = await made(keys, **TEXT)
    other = keys.of("other")
    told = await refusal(other, "GET", path, None, 403)
    assert told == (
        "Secret retrieval attempt not allowed - please review your user/project privileges"
    )
    await payload(other, path, expect=403)
    assert await other.get("/secrets") == {"secrets": [], "total": 0}
    await other.call("DELETE", path, expect=403)
    await other.call("PUT", path, "x", 403, Content_Type="text/plain")
    assert (await keys.of("admin").get(path))["name"] == "door"
    await payload(keys.of("admin"), path, expect=403)


async def test_an_access_list_lets_others_read(keys: Caller) -> None:
    path, other = await made(keys, **TEXT), keys.of("other")
    assert await keys.get(f"{path}/acl") == {"read": {"project-access": True}}
    body = {"read": {"users": ["other-user"]}}
    ref = await keys.call("PUT", f"{path}/acl", body)
    assert ref["acl_ref"].endswith(f"{path}/acl")
    assert await payload(other, path) == b"open sesame"
    assert [s["name"] for s in (await other.get("/secrets?acl_only=true"))["secrets"]] == ["door"]
    await other.call("DELETE", path, expect=403)
    await other.call("PUT", f"{path}/acl", {}, 403)
    await keys.call("PATCH", f"{path}/acl", {"read": {"project-access": False}})
    shown = (await keys.get(f"{path}/acl"))["read"]
    assert (shown["users"], shown["project-access"]) == (["other-user"], False)
    await keys.call("DELETE", f"{path}/acl")
    await payload(other, path, expect=403)
    told = await refusal(keys, "PUT", f"{path}/acl", {"write": {}}, 400)
    assert told.startswith("Provided object does not match schema 'ACL'")


async def test_an_expired_secret_is_gone(keys: Caller, clock: ManualClock) -> None:
    path = await made(keys, **TEXT, expiration="2026-01-01T01:00:00+00:00")
    assert (await keys.get(path))["expiration"] == "2026-01-01T01:00:00"
    clock.advance(3600)
    assert await refusal(keys, "GET", path, None, 404) == "Secret not found."
    await payload(keys, path, expect=404)
    assert (await keys.get("/secrets"))["total"] == 0
    told = await refusal(keys, "POST", "/secrets", {"expiration": "2020-01-01T00:00:00"}, 400)
    assert told == (
        "Provided object does not match schema 'Secret': 'expiration' is before current time. "
        "Invalid property: 'expiration'"
    )


async def test_lists_have_pages_filters_and_an_order(keys: Caller) -> None:
    for number in range(12):
        await made(keys, name=f"n{number:02}", bit_length=8 * (1 + number % 2))
    first = await keys.get("/secrets")
    assert (len(first["secrets"]), first["total"], "previous" in first) == (10, 12, False)
    rest = await keys.get(first["next"])
    assert [s["name"] for s in rest["secrets"]] == ["n10", "n11"]
    assert rest["previous"].endswith("/secrets?limit=10&offset=0")
    assert (await keys.get("/secrets?bits=16"))["total"] == 6
    assert (await keys.get("/secrets?name=n1%25"))["total"] == 2
    newest = await keys.get("/secrets?sort=name:desc&limit=1")
    assert newest["secrets"][0]["name"] == "n11"
    assert (await keys.get("/secrets?created=gte:2026-01-01T00:00:00"))["total"] == 12
    assert (await keys.get("/secrets?created=lt:2026-01-01T00:00:00"))["total"] == 0
    for query in ("sort=size", "created=yesterday", "created=gt:2026-01-01,gte:2026-01-01"):
        told = await refusal(keys, "GET", f"/secrets?{query}", None, 400)
        assert told == "URI provided invalid query string parameters."


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"payload": "x"}, "If 'payload' is supplied, 'payload_content_type' must also be"),
        ({"payload_content_type": "text/plain"}, "payload must be provided when"),
        ({"payload": " ", "payload_content_type": "text/plain"}, "must be non empty"),
        ({"payload": "x", "payload_content_type": "image/png"}, "is not one of ['text/plain',"),
        ({**TEXT, "payload_content_encoding": "base64"}, "payload_content_encoding is not one"),
        ({"payload": "x", "payload_content_type": "application/octet-stream"}, "['base64',"),
        ({"bit_length": 0}, "0 is less than the minimum of 1"),
        ({"secret_type": "odd"}, "'odd' is not one of"),
        ({"name": "x" * 256}, "is too long"),
    ],
)
async def test_what_makes_no_secret_is_refused(
    keys: Caller, fields: dict[str, Any], reason: str
) -> None:
    told = await refusal(keys, "POST", "/secrets", fields, 400)
    assert told.startswith("Provided object does not match schema 'Secret'")
    assert reason in told


async def test_invalid_ids_payloads_and_types_are_refused(keys: Caller) -> None:
    told = await refusal(keys, "GET", "/secrets/x", None, 404)
    assert told == "Not Found. Provided secret id is invalid."
    unknown = "/secrets/00000000-0000-4000-8000-000000000000"
    assert await refusal(keys, "DELETE", unknown, None, 404) == "Secret not found."
    long = {**TEXT, "payload": "x" * 20_001}
    assert await refusal(keys, "POST", "/secrets", long, 413) == (
        "Provided information too large to process"
    )
    await keys.call("POST", "/secrets", "name=x", 415, Content_Type="text/plain")


async def test_metadata_comes_and_goes(keys: Caller) -> None:
    path = f"{await made(keys)}/metadata"
    await keys.call("PUT", path, {"metadata": {"Colour": "red"}}, 201)
    await keys.call("POST", path, {"key": "size", "value": "2"}, 201)
    await keys.call("POST", path, {"key": "size", "value": "3"}, 409)
    await keys.call("PUT", f"{path}/size", {"key": "size", "value": "4"})
    assert await keys.get(f"{path}/size") == {"key": "size", "value": "4"}
    assert await keys.get(path) == {"metadata": {"colour": "red", "size": "4"}}
    await keys.call("PUT", f"{path}/size", {"key": "colour", "value": "4"}, 409)
    await keys.call("DELETE", f"{path}/size", expect=204)
    assert await refusal(keys, "GET", f"{path}/size", None, 404) == "Secret metadata not found."
    for wrong in ({"a/b": "x"}, {"a": 1}):
        await keys.call("PUT", path, {"metadata": wrong}, 400)


async def test_consumers_hold_a_secret(keys: Caller) -> None:
    path, later = await made(keys, **TEXT), keys.of("demo", OpenStack_API_Version="key-manager 1.2")
    body = {"service": "image", "resource_type": "image", "resource_id": "1"}
    shown = await keys.call("POST", f"{path}/consumers", body)
    assert shown["consumers"] == [body]
    await keys.call("POST", f"{path}/consumers", body)
    listed = await keys.get(f"{path}/consumers")
    assert (listed["total"], listed["consumers"][0]["service"]) == (1, "image")
    assert (await later.get(path))["consumers"] == [body]
    assert await refusal(later, "DELETE", path, None, 400) == (
        "Secret deletion issue seen - Secret cannot be deleted as it has consumers.."
    )
    await keys.call("DELETE", f"{path}/consumers", body)
    await keys.call("DELETE", f"{path}/consumers", body, 404)
    await later.call("DELETE", path, expect=204)
    await later.call("GET", path, expect=404)


async def test_api_version_is_shown_and_checked(keys: Caller) -> None:
    root = keys.of("demo")
    root._prefix = "/key-manager"
    plain = await root.call("GET", "/", expect=300)
    assert plain["versions"]["values"][0]["id"] == "v1"
    latest = await root.call("GET", "/", expect=300, OpenStack_API_Version="key-manager latest")
    assert latest["versions"][0]["max_version"] == "1.2"
    await keys.call("GET", "/secrets", expect=200)
    path = await made(keys)
    await keys.of("demo", OpenStack_API_Version="key-manager 1.9").call("GET", path, expect=406)


async def test_quotas_limit_a_project(keys: Caller) -> None:
    admin = keys.of("admin")
    path = "/project-quotas/demo-project"
    await keys.call("PUT", path, {"project_quotas": {"secrets": 1}}, 403)
    await admin.call("PUT", path, {"project_quotas": {"secrets": 1}}, 204)
    assert (await keys.get("/quotas"))["quotas"] == {
        "secrets": 1, "orders": -1, "containers": -1, "consumers": -1, "cas": -1,
    }  # fmt: skip
    assert (await admin.get("/project-quotas"))["total"] == 1
    await made(keys)
    assert await refusal(keys, "POST", "/secrets", {}, 403) == (
        "Secret creation issue seen - Creation not allowed because a quota has been reached."
    )
    await admin.call("DELETE", path, expect=204)
    assert await refusal(admin, "GET", path, None, 404) == "Project quotas not found."
    await made(keys)


async def test_payloads_are_encrypted_per_project(keys: Caller, cloud: Cloud) -> None:
    path = await made(keys, **TEXT)
    secrets = cloud.store.collection("key_manager.secret")
    (kept,) = secrets.values()
    files = (file for file in cloud.settings.cloud_dir.glob("cloud.sqlite*"))
    assert all(b"open sesame" not in file.read_bytes() for file in files)
    assert (cloud.settings.cloud_dir / "secrets.key").stat().st_mode & 0o777 == 0o600
    secrets.put({**kept, "project_id": "other-project"})
    assert (await keys.of("other").send("GET", f"{path}/payload")).status_code == 500
