"""Objects that are put together from others."""

import hashlib
import json
from typing import Any

import pytest

from .conftest import Swift


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.fixture
async def segments(swift: Swift) -> dict[str, str]:
    """Put three segments, and return their descriptions."""
    await swift.put("/c")
    await swift.put("/s")
    found = {"s/part-1": "abcde", "s/part-2": "fghij", "s/part-3": "klm"}
    for path, text in found.items():
        await swift.put(f"/{path}", text.encode())
    return found


async def test_dynamic_large_object_joins_segments_by_prefix(
    swift: Swift, segments: dict[str, str]
) -> None:
    await swift.put("/c/big", X_Object_Manifest="s/part-", Content_Type="text/x")
    got = await swift("GET", "/c/big")
    assert (got.text, got.headers["x-object-manifest"]) == ("abcdefghijklm", "s/part-")
    etag = md5("".join(md5(text) for text in segments.values()))
    assert got.headers["etag"] == f'"{etag}"'
    assert (await swift("HEAD", "/c/big")).headers["content-length"] == "13"
    part = await swift("GET", "/c/big", headers={"Range": "bytes=3-11"})
    assert (part.status_code, part.text) == (206, "defghijkl")
    several = await swift("GET", "/c/big", headers={"Range": "bytes=4-5,-1"})
    assert all(f"\r\n\r\n{text}\r\n" in several.text for text in ("ef", "m"))
    await swift.put("/s/part-4", b"!")
    assert (await swift("GET", "/c/big")).text == "abcdefghijklm!"
    assert (await swift("GET", "/c/big?multipart-manifest=get")).text == ""
    assert (await swift("GET", "/c/big", headers={"If-None-Match": f'"{etag}"'})).text[-1] == "!"
    for query, manifest in (("", False), ("?multipart-manifest=get", True)):
        copy = await swift("COPY", f"/c/big{query}", headers={"Destination": "c/copy"})
        assert copy.status_code == 201
        shown = await swift("GET", "/c/copy")
        assert (shown.text, "x-object-manifest" in shown.headers) == ("abcdefghijklm!", manifest)


async def put_manifest(swift: Swift, path: str, entries: Any, **headers: str) -> Any:
    content = entries if isinstance(entries, str) else json.dumps(entries)
    return await swift("PUT", f"{path}?multipart-manifest=put", content=content, headers=headers)


async def test_static_large_object_joins_its_manifest(
    swift: Swift, segments: dict[str, str]
) -> None:
    entries = [
        {"path": "/s/part-3", "etag": md5("klm"), "size_bytes": 3},
        {"path": "s/part-1", "etag": None, "size_bytes": None, "range": "1-3"},
    ]
    made = await put_manifest(swift, "/c/big", entries, **{"Content-Type": "text/x"})
    assert made.status_code == 201, made.text
    etag = md5(md5("klm") + md5("abcde") + ":1-3;")
    assert made.headers["etag"] == f'"{etag}"'
    got = await swift("GET", "/c/big")
    assert (got.text, got.headers["etag"]) == ("klmbcd", f'"{etag}"')
    assert (got.headers["x-static-large-object"], got.headers["content-type"]) == ("True", "text/x")
    assert (await swift("GET", "/c/big", headers={"Range": "bytes=2-3"})).text == "mb"
    assert (await swift("POST", "/c/big", headers={"X-Object-Meta-A": "1"})).status_code == 202
    manifest = await swift("GET", "/c/big?multipart-manifest=get")
    assert manifest.headers["content-type"] == "application/json; charset=utf-8"
    assert [(s["name"], s["bytes"], s["hash"], s.get("range")) for s in manifest.json()] == [
        ("/s/part-3", 3, md5("klm"), None),
        ("/s/part-1", 5, md5("abcde"), "1-3"),
    ]
    (row,) = (await swift("GET", "/c?format=json")).json()
    assert (row["bytes"], row["slo_etag"]) == (6, f'"{etag}"')
    raw = (await swift("GET", "/c/big?multipart-manifest=get&format=raw")).json()
    assert raw[1] == {"path": "/s/part-1", "size_bytes": 5, "etag": md5("abcde"), "range": "1-3"}
    assert (await put_manifest(swift, "/c/copy", raw)).headers["etag"] == f'"{etag}"'
    copied = {"Destination": "c/again"}
    query = "?multipart-manifest=get&format=raw"
    assert (await swift("COPY", "/c/big" + query, headers=copied)).status_code == 201
    assert (await swift("GET", "/c/again")).text == "klmbcd"


async def test_static_large_objects_may_be_parts_of_others(
    swift: Swift, segments: dict[str, str]
) -> None:
    await put_manifest(swift, "/s/inner", [{"path": "s/part-1"}, {"path": "s/part-2"}])
    outer = await put_manifest(
        swift, "/c/o", [{"path": "s/inner", "range": "3-6"}, {"path": "s/part-3"}]
    )
    assert outer.status_code == 201, outer.text
    assert (await swift("GET", "/c/o")).text == "defgklm"
    assert (await swift("GET", "/c/o?multipart-manifest=get")).json()[0]["sub_slo"] is True


async def test_a_changed_segment_makes_the_object_unreadable(
    swift: Swift, segments: dict[str, str]
) -> None:
    await put_manifest(swift, "/c/o", [{"path": "s/part-1"}, {"path": "s/part-2"}])
    await swift.put("/s/part-2", b"other")
    assert (await swift("GET", "/c/o")).status_code == 409
    await swift("DELETE", "/s/part-2")
    assert (await swift("GET", "/c/o")).status_code == 409


async def test_manifests_that_are_wrong_are_refused(swift: Swift, segments: dict[str, str]) -> None:
    for entries, status, message in (
        ("{", 400, "Manifest must be valid JSON.\n"),
        ("[" * 100_000, 400, "Manifest must be valid JSON.\n"),
        ({}, 400, "Manifest must be a list"),
        ([], 400, "Manifest must be a list"),
        ([1, {}], 400, "Index 0: not a JSON object\nIndex 1: path does not refer to an object"),
        ([{"path": "/s/part-1", "colour": 1}], 400, 'Index 0: extraneous keys "colour"'),
        ([{"path": "/s/part-1", "size_bytes": "5"}], 400, "Index 0: invalid size_bytes"),
        ([{"path": "/s/\ud800"}], 400, "Index 0: path must be valid UTF-8"),
        ([{"path": "/s/none"}], 400, "Errors:\n/s/none, 404 Not Found\n"),
        ([{"path": "/s/part-1", "etag": "x"}], 400, "/s/part-1, Etag Mismatch"),
        ([{"path": "/s/part-1", "size_bytes": 4}], 400, "/s/part-1, Size Mismatch"),
        ([{"path": "/s/part-1", "range": "9-"}], 400, "/s/part-1, Unsatisfiable Range"),
        ([{"path": "/s/part-1"}] * 1001, 413, "Number of segments must be <= 1000"),
    ):
        answer = await put_manifest(swift, "/c/o", entries)
        assert (answer.status_code, message in answer.text) == (status, True), answer.text
    assert (await put_manifest(swift, "/c/o", [{"path": "s/part-1"}], ETag="x")).status_code == 422
    assert await swift.names("/c") == []


async def test_static_large_object_is_deleted_with_segments(
    swift: Swift, segments: dict[str, str]
) -> None:
    await put_manifest(swift, "/c/o", [{"path": "s/part-1"}, {"path": "s/part-2"}])
    answer = await swift("DELETE", "/c/o?multipart-manifest=delete")
    assert "Number Deleted: 3\n" in answer.text
    assert (await swift.names("/s"), await swift.names("/c")) == (["part-3"], [])
