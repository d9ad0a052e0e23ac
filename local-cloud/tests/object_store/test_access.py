"""Permissions: of owners, of those in access lists, and by temporary URLs."""

import hmac
from base64 import b64encode
from dataclasses import replace

import pytest

from cloud_testing.doubles import ManualClock, StaticTokens
from localcloud.core.cloud import Cloud

from .conftest import ACCOUNT, Swift


async def statuses(swift: Swift, token: str | None, **headers: str) -> dict[str, int]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    calls = {
        "account": ("GET", ""),
        "list": ("GET", "/c"),
        "read": ("GET", "/c/o"),
        "write": ("PUT", "/c/n"),
        "change": ("POST", "/c"),
        "none": ("GET", "/none/o"),
    }
    return {
        name: (await swift(method, path, token, headers=given)).status_code
        for name, (method, path) in calls.items()
    }


def all_but(status: int, **others: int) -> dict[str, int]:
    return dict.fromkeys(("account", "list", "read", "write", "change", "none"), status) | others


async def test_strangers_see_nothing(swift: Swift) -> None:
    await swift.put("/c")
    await swift.put("/c/o", b"x")
    assert await statuses(swift, "other") == all_but(403)
    assert await statuses(swift, "admin") == all_but(403)
    assert await statuses(swift, None) == all_but(401)
    assert await statuses(swift, "forged") == all_but(401)
    answer = await swift("GET", "/c", None)
    assert answer.headers["www-authenticate"] == 'Swift realm="AUTH_demo-project"'
    assert answer.text.startswith("<html><h1>Unauthorized</h1>")
    assert (await swift("GET", "", None, headers={"X-Storage-Token": "demo"})).status_code == 200
    odd = await swift.http.get("/v1/AUTH_x%0D%0ASet-Cookie:%20a=%E2%82%AC")
    assert odd.headers["www-authenticate"].startswith('Swift realm="AUTH_x%0D%0ASet-Cookie')


READ_LISTS = [
    (".r:*", None, {}, all_but(401, read=200)),
    (".r:*,.rlistings", None, {}, all_but(401, read=200, list=200)),
    (".r:*,.rlistings", "other", {}, all_but(403, read=200, list=200)),
    (".r:.example.com", None, {"Referer": "http://a.example.com/x"}, all_but(401, read=200)),
    (".r:.example.com", None, {"Referer": "http://aexample.com/x"}, all_but(401)),
    (".ref : *, .r:-bad.com", None, {"Referer": "http://bad.com/"}, all_but(401)),
    ("other-project:other-user", "other", {}, all_but(403, read=200, list=200)),
    ("other-project:*", "other", {}, all_but(403, read=200, list=200)),
    ("*:other-user", "other", {}, all_but(403, read=200, list=200)),
    ("*:*", "other", {}, all_but(403, read=200, list=200)),
    ("*:*", None, {}, all_but(401)),
    ("other-project:demo-user", "other", {}, all_but(403)),
    ("member", "other", {}, all_but(403)),
]


async def test_lists_of_readers_count(swift: Swift) -> None:
    await swift.put("/c")
    await swift.put("/c/o", b"x")
    for rules, token, headers, expected in READ_LISTS:
        await swift("POST", "/c", headers={"X-Container-Read": rules})
        assert await statuses(swift, token, **headers) == expected, rules
    assert "x-container-read" in (await swift("HEAD", "/c")).headers
    await swift("POST", "/c", headers={"X-Container-Read": "*:*", "X-Container-Meta-A": "1"})
    shown = (await swift("HEAD", "/c", "other")).headers
    assert ("x-container-read" in shown, shown["x-container-meta-a"]) == (False, "1")
    await swift("POST", "/c", headers={"X-Remove-Container-Read": "x"})
    assert (await swift("GET", "/c/o", "other")).status_code == 403


async def test_lists_of_writers_count(swift: Swift) -> None:
    await swift.put("/c", X_Container_Write="other-project:*")
    await swift.put("/c/o", b"x")
    assert await statuses(swift, "other") == all_but(403, write=201)
    assert (await swift("DELETE", "/c/o", "other")).status_code == 204
    assert (await swift("DELETE", "/c", "other")).status_code == 403
    await swift.put("/secret")
    await swift.put("/secret/o", b"x")
    stolen = {"X-Copy-From": "secret/o"}
    assert (await swift("PUT", "/c/copy", "other", headers=stolen)).status_code == 403
    segments = '[{"path": "/secret/o"}]'
    answer = await swift("PUT", "/c/big?multipart-manifest=put", "other", content=segments)
    assert (answer.status_code, "403 Forbidden" in answer.text) == (400, True)
    bulk = await swift("POST", "?bulk-delete", "other", content="/secret/o\n/c/n\n/c\n")
    assert "Number Deleted: 1\n" in bulk.text


async def test_large_object_hides_unreadable_segments(swift: Swift) -> None:
    await swift.put("/c", X_Container_Read=".r:*")
    await swift.put("/secret")
    await swift.put("/secret/o", b"x")
    await swift.put("/c/dynamic", X_Object_Manifest="secret/o")
    await swift("PUT", "/c/static?multipart-manifest=put", content='[{"path": "/secret/o"}]')
    assert (await swift("GET", "/c/dynamic")).text == "x"
    assert (await swift("GET", "/c/dynamic", None)).status_code == 401
    assert (await swift("GET", "/c/static", None)).status_code == 409


async def test_roles_and_names_count(
    swift: Swift, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    await swift.put("/c", X_Container_Read="guest:ann,Watcher")
    await swift.put("/c/o", b"x")
    demo = StaticTokens.contexts["demo"]
    users = {
        "reader": replace(demo, roles=("reader",)),
        "watcher": replace(demo, roles=("watcher",)),
        "nobody": replace(demo, roles=("heat_stack_user",)),
        "reseller": replace(demo, project_id="far", roles=("ResellerAdmin",)),
        "ann": replace(demo, project_id="far", project_name="guest", user_name="ann",
                       user_domain_id="default", roles=()),
        "double": replace(demo, project_id="far", project_name="guest", user_name="ann",
                          user_domain_id="elsewhere", roles=()),
    }  # fmt: skip
    monkeypatch.setattr(StaticTokens, "contexts", {**StaticTokens.contexts, **users})
    reads = {"account": 200, "list": 200, "read": 200, "none": 404}
    assert await statuses(swift, "reader") == all_but(403, **reads)
    assert await statuses(swift, "watcher") == all_but(403, list=200, read=200)
    assert await statuses(swift, "nobody") == all_but(403)
    assert await statuses(swift, "reseller") == all_but(200, write=201, change=204, none=404)
    assert await statuses(swift, "ann") == all_but(403, list=200, read=200)
    assert await statuses(swift, "double") == all_but(403)


def signed(path: str, expires: int, method: str = "GET", **options: str) -> str:
    """The query of a temporary URL."""
    digest, key = options.pop("digest", "sha256"), options.pop("key", "key")
    path = f"{ACCOUNT}{path}"
    if "temp_url_prefix" in options:
        path = f"prefix:{ACCOUNT}/c/{options['temp_url_prefix']}"
    start = f"ip={options['temp_url_ip_range']}\n" if "temp_url_ip_range" in options else ""
    message = f"{start}{method}\n{expires}\n{path}"
    mac = hmac.new(key.encode(), message.encode(), digest)
    sig = mac.hexdigest()
    if options.pop("form", "") == "base64":
        sig = f"{digest}:{b64encode(mac.digest(), b'-_').decode().rstrip('=')}"
    rest = "".join(f"&{name}={value}" for name, value in options.items())
    return f"?temp_url_sig={sig}&temp_url_expires={options.pop('shown', '') or expires}{rest}"


@pytest.fixture
async def keyed(swift: Swift, clock: ManualClock) -> int:
    """Keys of the account and of a container, an object; a moment that is to come."""
    await swift(
        "POST",
        headers={"X-Account-Meta-Temp-URL-Key": "key", "X-Account-Meta-Temp-URL-Key-2": "two"},
    )
    await swift.put("/c", X_Container_Meta_Temp_URL_Key="mine")
    await swift.put("/d")
    await swift.put("/c/a/o", b"data", X_Object_Meta_A="1", X_Object_Meta_Public_B="2")
    return int(clock.now().timestamp()) + 100


async def test_temporary_url_is_valid_for_signed_request_only(swift: Swift, keyed: int) -> None:
    o = "/c/a/o"
    for query, status in (
        (signed(o, keyed), 200),
        (signed(o, keyed, digest="sha1"), 200),
        (signed(o, keyed, digest="sha512"), 200),
        (signed(o, keyed, digest="sha512", form="base64"), 200),
        (signed(o, keyed, key="two"), 200),
        (signed(o, keyed, key="mine"), 200),
        (signed(o, keyed, key="wrong"), 401),
        (signed(o, keyed, method="PUT"), 401),
        (signed("/c/b/o", keyed), 401),
        (signed(o, keyed - 101), 401),
        (signed(o, keyed).replace(str(keyed), str(keyed + 1)), 401),
        (signed(o, keyed).replace(str(keyed), "2026-01-01T00:01:40Z"), 200),
        (signed(o, keyed, temp_url_prefix="a/"), 200),
        (signed(o, keyed, temp_url_prefix=""), 200),
        (signed(o, keyed, temp_url_prefix="b/"), 401),
        (signed(o, keyed, temp_url_ip_range="127.0.0.0/8"), 200),
        (signed(o, keyed, temp_url_ip_range="10.0.0.0/8"), 401),
        (signed(o, keyed, temp_url_ip_range="nonsense"), 401),
        (f"?temp_url_expires={keyed}", 401),
        ("?temp_url_sig=zz", 401),
    ):
        answer = await swift("GET", o + query, None)
        assert answer.status_code == status, query
    assert (await swift("GET", o + signed(o, keyed, key="wrong"))).status_code == 401


async def test_methods_of_temporary_urls(swift: Swift, keyed: int) -> None:
    for method in ("HEAD", "GET", "PUT", "POST"):
        query = signed("/c/a/o", keyed, method=method)
        assert (await swift("HEAD", "/c/a/o" + query, None)).status_code == 200
    new = signed("/c/new", keyed, method="PUT", key="mine")
    assert (await swift("PUT", "/c/new" + new, None, content=b"x")).status_code == 201
    assert (await swift("GET", "/c/new" + new, None)).status_code == 401
    manifest = {"X-Object-Manifest": "d/secret"}
    assert (await swift("PUT", "/c/new" + new, None, headers=manifest)).status_code == 400
    gone = signed("/c/new", keyed, method="DELETE")
    assert (await swift("DELETE", "/c/new" + gone, None)).status_code == 204
    assert (await swift("GET", "/c" + signed("/c", keyed), None)).status_code == 401


async def test_container_key_opens_no_other_container(swift: Swift, keyed: int) -> None:
    await swift.put("/d/secret", b"x")
    await swift.put("/c/big", X_Object_Manifest="d/s")
    for key, status in (("mine", 401), ("key", 200)):
        query = signed("/c/big", keyed, key=key)
        assert (await swift("GET", "/c/big" + query, None)).status_code == status
    copy = {"X-Copy-From": "d/secret"}
    query = signed("/c/new", keyed, method="PUT", key="mine")
    assert (await swift("PUT", "/c/new" + query, None, headers=copy)).status_code == 401


async def test_who_may_only_write_copies_nothing(swift: Swift, keyed: int) -> None:
    await swift.put("/c/secret", b"x")
    query = signed("/c/new", keyed, method="PUT")
    copy = {"X-Copy-From": "c/secret"}
    assert (await swift("PUT", "/c/new" + query, None, headers=copy)).status_code == 401
    manifest = query + "&multipart-manifest=put"
    answer = await swift("PUT", "/c/new" + manifest, None, content='[{"path": "/c/secret"}]')
    assert (answer.status_code, "403 Forbidden" in answer.text) == (400, True)
    assert await swift.names("/c") == ["a/o", "secret"]


async def test_copy_from_other_account_needs_read_access(swift: Swift) -> None:
    await swift.put("/open", X_Container_Read="other-project:*")
    await swift.put("/secret")
    await swift.put("/secret/o", b"x")
    await swift("PUT", "/open/static?multipart-manifest=put", content='[{"path": "/secret/o"}]')
    await swift.put("/open/dynamic", X_Object_Manifest="secret/o")
    await swift.put("/open/plain", b"plain")
    there = "/v1/AUTH_other-project"
    token = {"X-Auth-Token": "other"}
    for container in ("mine", "secret"):
        assert (await swift.http.put(f"{there}/{container}", headers=token)).status_code == 201
    for name, status in (("static", 409), ("dynamic", 403), ("plain", 201)):
        headers = {**token, "X-Copy-From": f"open/{name}"}
        headers["X-Copy-From-Account"] = "AUTH_demo-project"
        answer = await swift.http.put(f"{there}/mine/{name}", headers=headers)
        assert answer.status_code == status, name
    assert (await swift.http.get(f"{there}/mine", headers=token)).text == "plain\n"


async def test_browsers_keep_or_show_what_they_get(swift: Swift, keyed: int) -> None:
    async def shown(query: str) -> str:
        answer = await swift("GET", "/c/a/o" + signed("/c/a/o", keyed) + query, None)
        assert answer.headers["expires"] == "Thu, 01 Jan 2026 00:01:40 GMT"
        assert "x-object-meta-a" not in answer.headers
        assert answer.headers["x-object-meta-public-b"] == "2"
        return answer.headers["content-disposition"]

    assert await shown("") == "attachment; filename=\"o\"; filename*=UTF-8''o"
    assert await shown("&filename=b%20%22%0A") == (
        "attachment; filename=\"b %22%0A\"; filename*=UTF-8''b%20%22%0A"
    )
    assert await shown("&inline") == "inline"
    assert await shown("&inline&filename=x") == "inline; filename=\"x\"; filename*=UTF-8''x"


async def test_only_owners_see_the_keys(swift: Swift, keyed: int) -> None:
    assert (await swift("HEAD")).headers["x-account-meta-temp-url-key"] == "key"
    await swift("POST", "/c", headers={"X-Container-Read": "*:*"})
    assert "x-container-meta-temp-url-key" in (await swift("HEAD", "/c")).headers
    assert "x-container-meta-temp-url-key" not in (await swift("HEAD", "/c", "other")).headers
