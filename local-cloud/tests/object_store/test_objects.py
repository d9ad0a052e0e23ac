"""Objects: data, headers, ranges, conditions, copies, expiry."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

from cloud_testing.doubles import ManualClock
from localcloud.core.cloud import Cloud, LazyService
from localcloud.object_store.service import ObjectStoreService

from .conftest import Swift

TEXT = b"0123456789"


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def files(cloud: Cloud) -> int:
    return len(list((cloud.settings.cloud_dir / "objects").iterdir()))


async def test_an_object_comes_back_as_it_was_put(swift: Swift, cloud: Cloud) -> None:
    await swift.put("/c")
    data = bytes(range(256)) * 4000
    put = await swift.put(
        "/c/dir/näme%0Ax", chunks(data[:5], data[5:700_000], data[700_000:]),
        X_Object_Meta_Color="blue", Content_Encoding="x", Content_Disposition="attachment",
        Content_Type="text/x; charset=utf-8",
    )  # fmt: skip
    assert put.headers["etag"] == md5(data)
    got = await swift("GET", "/c/dir/näme%0Ax", headers={"Accept-Encoding": "identity"})
    assert got.content == data
    expected = {
        "etag": md5(data),
        "content-length": str(len(data)),
        "content-type": "text/x; charset=utf-8",
        "content-encoding": "x",
        "content-disposition": "attachment",
        "x-object-meta-color": "blue",
        "accept-ranges": "bytes",
        "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        "x-timestamp": "1767225600.00000",
    }
    assert expected.items() <= dict(got.headers).items()
    assert got.headers["x-trans-id"].startswith("tx")
    head = await swift("HEAD", "/c/dir/näme%0Ax")
    assert (head.content, dict(head.headers).items() >= expected.items()) == (b"", True)
    assert (await swift("DELETE", "/c/dir/näme%0Ax")).status_code == 204
    assert (await swift("GET", "/c/dir/näme%0Ax")).status_code == 404
    assert files(cloud) == 0


async def test_names_that_differ_in_slashes_are_different_objects(swift: Swift) -> None:
    await swift.put("/c")
    for name in ("o", "o/", "/o", "o//", "a//b"):
        await swift.put(f"/c/{name}", name.encode())
    for name in ("o", "o/", "/o", "o//", "a//b"):
        assert (await swift("GET", f"/c/{name}")).text == name
    assert len(await swift.names("/c")) == 5


async def test_refused_put_leaves_object_unchanged(
    swift: Swift, cloud: Cloud, service: LazyService
) -> None:
    await swift.put("/c")
    await swift.put("/c/o", b"old")
    cases: list[tuple[int, dict[str, str], Any]] = [
        (422, {"ETag": md5(b"other")}, b"new"),
        (412, {"If-None-Match": "*"}, b"new"),
        (400, {"If-None-Match": "abc"}, b"new"),
        (400, {"X-Delete-At": "1"}, b"new"),
        (400, {"X-Delete-After": "soon"}, b"new"),
        (400, {"X-Object-Manifest": "c"}, b"new"),
        (400, {"X-Object-Meta-": "v"}, b"new"),
        (413, {"Content-Length": str(6 << 30)}, b"new"),
        (501, {"X-Symlink-Target": "c/p"}, b"new"),
        (501, {}, b"new"),
    ]
    for status, headers, content in cases:
        query = "?extract-archive=tar" if status == 501 and not headers else ""
        answer = await swift("PUT", f"/c/o{query}", content=content, headers=headers)
        assert answer.status_code == status, (headers, answer.text)
    assert (await swift("PUT", "/none/o", content=b"new")).status_code == 404
    missing = swift.http.build_request("PUT", "/v1/AUTH_demo-project/c/o", content=b"new")
    missing.headers["X-Auth-Token"] = "demo"
    del missing.headers["content-length"]
    assert (await swift.http.send(missing)).status_code == 411
    assert (await swift("GET", "/c/o")).content == b"old"
    assert files(cloud) == 1


async def test_data_beyond_the_bound_is_not_kept(cloud: Cloud, client_of: Any) -> None:
    object.__setattr__(cloud.settings, "object_bytes", 1 << 20)
    service = ObjectStoreService(cloud)
    await service.start()
    async with client_of(service, token=None) as client:
        swift = Swift(client)
        await swift.put("/c")
        for content in (b"x" * ((1 << 20) + 1), chunks(*[b"x" * (1 << 18)] * 5)):
            answer = await swift("PUT", "/c/o", content=content)
            assert (answer.status_code, answer.text) == (413, "Your request is too large.")
        assert (await swift.put("/c/o", b"x" * (1 << 20))).status_code == 201
    assert files(cloud) == 1
    await service.stop()


async def test_an_upload_that_breaks_off_leaves_nothing(swift: Swift, cloud: Cloud) -> None:
    await swift.put("/c")

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (1 << 19)
        raise ConnectionResetError

    assert (await swift("PUT", "/c/o", content=broken())).status_code == 500
    assert (await swift("GET", "/c/o")).status_code == 404
    assert files(cloud) == 0


async def test_new_version_does_not_disturb_readers(swift: Swift, cloud: Cloud) -> None:
    await swift.put("/c")
    old, new = b"a" * (1 << 20), b"b" * (1 << 20)
    await swift.put("/c/o", old)

    async def read() -> bytes:
        return (await swift("GET", "/c/o")).content

    found = await asyncio.gather(
        *(read() for _ in range(8)), swift.put("/c/o", new), *(read() for _ in range(8))
    )
    assert {content[:1] * (1 << 20) for content in found if isinstance(content, bytes)} <= {
        old,
        new,
    }
    assert all(content in (old, new) for content in found if isinstance(content, bytes))
    assert await read() == new
    assert files(cloud) == 1


async def test_missing_content_type_is_guessed(swift: Swift) -> None:
    await swift.put("/c")
    for name, headers, kind in (
        ("a.html", {}, "text/html"),
        ("a", {}, "application/octet-stream"),
        ("a.json", {"Content_Type": "text/x"}, "text/x"),
        ("a.json", {"Content_Type": "text/x", "X_Detect_Content_Type": "true"}, "application/json"),
    ):
        await swift.put(f"/c/{name}", b"x", **headers)
        assert (await swift("HEAD", f"/c/{name}")).headers["content-type"] == kind


RANGES = [
    ("bytes=0-2", 206, b"012", "bytes 0-2/10"),
    ("bytes=7-", 206, b"789", "bytes 7-9/10"),
    ("bytes=-4", 206, b"6789", "bytes 6-9/10"),
    ("bytes=-40", 206, TEXT, "bytes 0-9/10"),
    ("bytes=9-400", 206, b"9", "bytes 9-9/10"),
    ("bytes=10-", 416, None, "bytes */10"),
    ("bytes=-0", 416, None, "bytes */10"),
    ("bytes=5-2", 200, TEXT, None),
    ("bytes=x", 200, TEXT, None),
    ("lines=1-2", 200, TEXT, None),
    ("bytes=" + ",".join("0-1" for _ in range(51)), 416, None, "bytes */10"),
]


async def test_ranges_are_read(swift: Swift) -> None:
    await swift.put("/c")
    await swift.put("/c/o", TEXT)
    for asked, status, content, shown in RANGES:
        answer = await swift("GET", "/c/o", headers={"Range": asked})
        assert (answer.status_code, answer.headers.get("content-range")) == (status, shown), asked
        assert content in (None, answer.content), asked
    several = await swift("GET", "/c/o", headers={"Range": "bytes=0-1,8-,70-"})
    assert several.status_code == 206
    boundary = several.headers["content-type"].removeprefix("multipart/byteranges;boundary=")
    kind = "Content-Type: application/octet-stream\r\n"
    assert several.text == (
        f"--{boundary}\r\n{kind}Content-Range: bytes 0-1/10\r\n\r\n01\r\n"
        f"--{boundary}\r\n{kind}Content-Range: bytes 8-9/10\r\n\r\n89\r\n--{boundary}--"
    )
    assert several.headers["content-length"] == str(len(several.content))


async def test_conditions_are_kept(swift: Swift) -> None:
    await swift.put("/c")
    etag = (await swift.put("/c/o", TEXT)).headers["etag"]
    before, at = "Wed, 31 Dec 2025 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"
    for headers, status in (
        ({"If-Match": etag}, 200),
        ({"If-Match": f'"x", "{etag}"'}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": "x"}, 412),
        ({"If-None-Match": "x"}, 200),
        ({"If-None-Match": f'"{etag}"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-Modified-Since": before}, 200),
        ({"If-Modified-Since": at}, 304),
        ({"If-Modified-Since": "nonsense"}, 200),
        ({"If-Unmodified-Since": before}, 412),
        ({"If-Unmodified-Since": at}, 200),
        ({"Range": "bytes=0-1", "If-Range": "x"}, 200),
        ({"Range": "bytes=0-1", "If-Range": f'"{etag}"'}, 206),
    ):
        answer = await swift("GET", "/c/o", headers=headers)
        assert answer.status_code == status, headers
        assert status != 304 or (answer.headers["etag"], answer.content) == (f'"{etag}"', b"")


async def test_a_post_replaces_the_metadata(swift: Swift) -> None:
    await swift.put("/c")
    await swift.put("/c/o", TEXT, X_Object_Meta_A="1", Content_Encoding="gz", Content_Type="text/x")
    answer = await swift("POST", "/c/o", headers={"X-Object-Meta-B": "2"})
    assert (answer.status_code, "is accepted for processing" in answer.text) == (202, True)
    shown = (await swift("HEAD", "/c/o")).headers
    assert (shown["x-object-meta-b"], shown["content-type"]) == ("2", "text/x")
    assert not {"x-object-meta-a", "content-encoding"} & shown.keys()
    assert (await swift("POST", "/c/none")).status_code == 404


async def test_expired_objects_are_gone_and_swept(
    swift: Swift, cloud: Cloud, clock: ManualClock
) -> None:
    await swift.put("/c")
    now = int(clock.now().timestamp())
    await swift.put("/c/after", b"1", X_Delete_After=10)
    await swift.put("/c/at", b"2", X_Delete_At=now + 20)
    await swift.put("/c/kept", b"3", X_Delete_After=10)
    assert (await swift("HEAD", "/c/after")).headers["x-delete-at"] == str(now + 10)
    assert (await swift("POST", "/c/kept")).status_code == 202
    clock.advance(10)
    for method in ("GET", "HEAD", "POST", "DELETE"):
        assert (await swift(method, "/c/after")).status_code == 404
    assert (await swift("PUT", "/c/after", headers={"If-None-Match": "*"})).status_code == 201
    clock.advance(10)
    service = ObjectStoreService(cloud)  # sweeps when it starts, and from time to time
    await service.start()
    await service.stop()
    assert await swift.names("/c") == ["after", "kept"]
    await asyncio.get_running_loop().shutdown_default_executor()
    assert files(cloud) == 2


async def test_objects_are_copied(swift: Swift) -> None:
    await swift.put("/c")
    await swift.put("/d")
    await swift.put("/c/ö", TEXT, X_Object_Meta_A="1", Content_Type="text/x")
    copied = await swift(
        "COPY", "/c/ö", headers={"Destination": "/d/%C3%B6", "X-Object-Meta-B": "2"}
    )
    assert copied.status_code == 201
    assert copied.headers["x-copied-from"] == "c/%C3%B6"
    assert copied.headers["etag"] == md5(TEXT)
    answer = await swift("GET", "/d/ö")
    assert (answer.content, answer.headers["content-type"]) == (TEXT, "text/x")
    assert (answer.headers["x-object-meta-a"], answer.headers["x-object-meta-b"]) == ("1", "2")
    fresh = {"X-Copy-From": "d/%C3%B6", "X-Fresh-Metadata": "true", "Content-Type": "text/y"}
    assert (await swift("PUT", "/c/2", headers=fresh)).status_code == 201
    shown = (await swift("HEAD", "/c/2")).headers
    assert ("x-object-meta-a" in shown, shown["content-type"]) == (False, "text/y")
    for method, path, headers, status in (
        ("COPY", "/c/2", {"Destination": "d"}, 412),
        ("COPY", "/c/2", {"Destination": "none/x"}, 404),
        ("COPY", "/c/none", {"Destination": "d/x"}, 404),
        ("PUT", "/c/3", {"X-Copy-From": "/c"}, 412),
        ("PUT", "/c/3", {"X-Copy-From": "c/2", "Content-Length": "3"}, 400),
    ):
        content = b"abc" if status == 400 else b""
        answer = await swift(method, path, content=content, headers=headers)
        assert answer.status_code == status, answer.text


async def test_objects_outlive_the_process_and_leftovers_do_not(
    swift: Swift, cloud: Cloud, client_of: Any
) -> None:
    await swift.put("/c", X_Container_Meta_A="1")
    await swift.put("/c/o", TEXT, X_Object_Meta_A="1")
    (cloud.settings.cloud_dir / "objects" / "leftover").write_bytes(b"half of an upload")
    again = Cloud(type(cloud.store)(cloud.settings.cloud_dir / "cloud.sqlite"), cloud.tokens,
                  cloud.fabric, cloud.clock, cloud.settings)  # fmt: skip
    service = ObjectStoreService(again)
    await service.start()
    async with client_of(service, token=None) as client:
        found = await Swift(client)("GET", "/c/o")
        assert (found.content, found.headers["x-object-meta-a"]) == (TEXT, "1")
        assert (await Swift(client)("HEAD")).headers["x-account-bytes-used"] == "10"
    await service.stop()
    again.store.close()
    assert files(cloud) == 1
