"""Accounts and containers: their counts, metadata and lists."""

import pytest

from .conftest import Swift


async def test_an_account_counts_what_is_in_it(swift: Swift) -> None:
    new = await swift("HEAD")
    assert (new.status_code, new.headers["x-account-container-count"]) == (204, "0")
    await swift.put("/c")
    await swift.put("/c/one", b"12345")
    await swift.put("/c/two", b"123")
    await swift.put("/c/two", b"1")
    headers = (await swift("HEAD")).headers
    counts = {
        n: headers[f"x-account-{n}"] for n in ("container-count", "object-count", "bytes-used")
    }
    assert counts == {"container-count": "1", "object-count": "2", "bytes-used": "6"}
    assert (await swift("GET")).text == "c\n"
    (row,) = (await swift("GET", "?format=json")).json()
    assert (row["name"], row["count"], row["bytes"]) == ("c", 2, 6)
    await swift("DELETE", "/c/one")
    assert (await swift("HEAD", "/c")).headers["x-container-bytes-used"] == "1"


async def test_a_container_comes_and_goes(swift: Swift) -> None:
    assert (await swift("HEAD", "/c")).status_code == 404
    assert (await swift("PUT", "/c")).status_code == 201
    assert (await swift("PUT", "/c/")).status_code == 202
    await swift.put("/c/o", b"x")
    refused = await swift("DELETE", "/c")
    assert refused.status_code == 409
    assert refused.text.startswith("<html><h1>Conflict</h1><p>There was a conflict")
    await swift("DELETE", "/c/o")
    assert (await swift("DELETE", "/c")).status_code == 204
    assert (await swift("GET", "/c")).status_code == 404
    assert (await swift("DELETE", "/c")).status_code == 404


@pytest.mark.parametrize(("path", "kind"), [("", "account"), ("/c", "container")])
async def test_metadata_is_merged_and_removed(swift: Swift, path: str, kind: str) -> None:
    await swift.put("/c")

    async def post(**headers: str) -> dict[str, str]:
        prefixed = {name.replace("_", f"-{kind}-meta-"): v for name, v in headers.items()}
        answer = await swift("POST", path, headers=prefixed)
        assert answer.status_code == 204, answer.text
        shown = (await swift("HEAD", path)).headers
        start = f"x-{kind}-meta-"
        return {n.removeprefix(start): v for n, v in shown.items() if n.startswith(start)}

    assert await post(X_Book="one", X_Page="3") == {"book": "one", "page": "3"}
    assert await post(X_Book="two", X_Line="1") == {"book": "two", "page": "3", "line": "1"}
    assert await post(X_Page="", **{"X-Remove_Line": "x"}) == {"book": "two"}


async def test_names_and_metadata_are_bounded(swift: Swift) -> None:
    await swift.put("/c")
    meta = "X-Container-Meta-"
    cases = [
        ({meta + "n" * 129: "v"}, "Metadata name too long"),
        ({meta + "n": "v" * 257}, "Metadata value longer than 256"),
        ({f"{meta}n{i}": "v" for i in range(91)}, "Too many metadata items; max 90"),
        ({f"{meta}n{i}": "v" * 256 for i in range(17)}, "Total metadata too large; max 4096"),
        ({f"{meta}Quota-Bytes": "many"}, "Invalid bytes quota"),
        ({"X-Container-Write": ".r:*"}, "Referrers not allowed in write ACL"),
        ({"X-Container-Read": ".x:y"}, "Unknown designator"),
    ]
    for headers, message in cases:
        answer = await swift("POST", "/c", headers=headers)
        assert (answer.status_code, message in answer.text) == (400, True), answer.text
    for path, message in (
        ("/" + "c" * 257, "Container name length of 257"),
        ("/c/" + "ü" * 513, "Object name length of 1026"),
    ):
        answer = await swift("PUT", path)
        assert (answer.status_code, message in answer.text) == (400, True), answer.text
    assert (await swift("PUT", "/" + "c" * 256)).status_code == 201
    assert (await swift("PUT", "/c/" + "ü" * 512)).status_code == 201
    for path in ("/%ff", "/c/a%00b"):
        assert (await swift("PUT", path)).status_code == 412
    shared = await swift("POST", headers={"X-Account-Access-Control": "{}"})
    assert (shared.status_code, "containers alone" in shared.text) == (501, True)
    versions = await swift("PUT", "/c", headers={"X-History-Location": "old"})
    assert (versions.status_code, "X-Versions-Location" in versions.text) == (501, True)


async def test_metadata_that_grows_over_several_requests_is_bounded(swift: Swift) -> None:
    await swift.put("/c")
    first = {f"X-Container-Meta-a{i}": "v" for i in range(60)}
    second = {f"X-Container-Meta-b{i}": "v" for i in range(60)}
    assert (await swift("POST", "/c", headers=first)).status_code == 204
    assert (await swift("POST", "/c", headers=second)).status_code == 400
    assert "x-container-meta-b0" not in (await swift("HEAD", "/c")).headers


LISTINGS: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["a", "b/", "b/1", "b/2/x", "b/2/y", "b0", "c/3"]),
    ({"limit": "2"}, ["a", "b/"]),
    ({"limit": "0"}, []),
    ({"marker": "b/2/x"}, ["b/2/y", "b0", "c/3"]),
    ({"end_marker": "b/2/x"}, ["a", "b/", "b/1"]),
    ({"marker": "a", "end_marker": "b/2"}, ["b/", "b/1"]),
    ({"prefix": "b/"}, ["b/", "b/1", "b/2/x", "b/2/y"]),
    ({"delimiter": "/"}, ["a", "b/", "b0", "c/"]),
    ({"delimiter": "/", "limit": "2"}, ["a", "b/"]),
    ({"delimiter": "/", "marker": "b/"}, ["b0", "c/"]),
    ({"delimiter": "/", "marker": "b/1"}, ["b/", "b0", "c/"]),
    ({"delimiter": "/", "prefix": "b/"}, ["b/", "b/1", "b/2/"]),
    ({"delimiter": "2/"}, ["a", "b/", "b/1", "b/2/", "b0", "c/3"]),
    ({"reverse": "true"}, ["c/3", "b0", "b/2/y", "b/2/x", "b/1", "b/", "a"]),
    ({"reverse": "on", "marker": "b/2/x"}, ["b/1", "b/", "a"]),
    ({"reverse": "1", "end_marker": "b/2/y", "limit": "1"}, ["c/3"]),
    ({"reverse": "1", "delimiter": "/"}, ["c/", "b0", "b/", "a"]),
    ({"reverse": "1", "delimiter": "/", "marker": "b/"}, ["a"]),
    ({"path": ""}, ["a", "b/", "b0"]),
    ({"path": "b"}, ["b/1"]),
    ({"path": "b/2/"}, ["b/2/x", "b/2/y"]),
    ({"prefix": "z"}, []),
]


async def test_lists_show_the_part_that_is_asked_for(swift: Swift) -> None:
    await swift.put("/c")
    for name in ("b0", "b/2/y", "a", "b/", "c/3", "b/1", "b/2/x"):
        await swift.put(f"/c/{name}")
    for query, names in LISTINGS:
        assert await swift.names("/c", **query) == names, query
    for name in ("c1", "d-1", "d-2"):
        await swift.put(f"/{name}")
    assert await swift.names("", prefix="d") == ["d-1", "d-2"]
    assert await swift.names("", delimiter="-", marker="c") == ["c1", "d-"]
    for limit in ("10001", "x"):
        assert (await swift("GET", f"/c?limit={limit}")).status_code == 412


async def test_lists_come_as_text_json_and_xml(swift: Swift) -> None:
    await swift.put("/c")
    assert (await swift("GET", "/c")).status_code == 204
    assert (await swift("GET", "/c?format=json")).json() == []
    await swift.put("/c/a <b>ü", b"data", Content_Type="text/x")
    await swift.put("/c/d/e")
    plain = await swift("GET", "/c")
    assert (plain.text, plain.headers["content-type"]) == (
        "a <b>ü\nd/e\n",
        "text/plain; charset=utf-8",
    )
    row = (await swift("GET", "/c?delimiter=/", headers={"Accept": "application/json"})).json()[0]
    assert row == {
        "name": "a <b>ü",
        "hash": "8d777f385d3dfec8815d20f7496026dc",
        "bytes": 4,
        "content_type": "text/x",
        "last_modified": "2026-01-01T00:00:00.000000",
    }
    xml = (await swift("GET", "/c?format=xml&delimiter=/")).text
    assert '<container name="c"><object><name>a &lt;b&gt;ü</name><hash>8d77' in xml
    assert '<subdir name="d/"><name>d/</name></subdir></container>' in xml
    assert (
        '<account name="AUTH_demo-project"><container><name>c</name><count>2</count>'
        in (await swift("GET", "?format=xml")).text
    )
    assert (await swift("GET", "/c", headers={"Accept": "image/png"})).status_code == 406


async def test_quotas_of_a_container_hold(swift: Swift) -> None:
    await swift.put("/c", X_Container_Meta_Quota_Bytes=10, X_Container_Meta_Quota_Count=2)
    await swift.put("/c/a", b"12345678")
    too_long = await swift("PUT", "/c/b", content=b"123")
    assert (too_long.status_code, too_long.text) == (413, "Upload exceeds quota.")
    await swift.put("/c/a", b"1234567890")
    await swift.put("/c/b", b"")
    assert (await swift("PUT", "/c/d")).status_code == 413
    assert await swift.names("/c") == ["a", "b"]
    assert (await swift("POST", "/c/a", headers={"X-Object-Meta-X": "1"})).status_code == 202


async def test_many_things_are_deleted_by_one_request(swift: Swift) -> None:
    for path in ("/c", "/d", "/e"):
        await swift.put(path)
    for path in ("/c/a b", "/c/x", "/d/o"):
        await swift.put(path)
    body = "/c/a%20b\nc/x\n/c/none\n/d\n\n/e\n"
    answer = await swift(
        "POST", "?bulk-delete", content=body, headers={"Accept": "application/json"}
    )
    assert answer.json() == {
        "Number Deleted": 3,
        "Number Not Found": 1,
        "Response Body": "",
        "Response Status": "400 Bad Request",
        "Errors": [["/d", "409 Conflict"]],
    }
    assert await swift.names() == ["c", "d"]
    plain = await swift("DELETE", "?bulk-delete", content="/d/o\n/d\n")
    assert "Number Deleted: 2\nNumber Not Found: 0\n" in plain.text
    assert (await swift("POST", "?bulk-delete", content="/c/x\n" * 10_001)).status_code == 413
    assert (await swift("DELETE")).status_code == 405


async def test_the_service_says_what_it_can_do(swift: Swift) -> None:
    said = (await swift.http.get("/info")).json()
    assert said["swift"]["max_file_size"] == 5 * 2**30 + 2
    assert said["slo"]["max_manifest_segments"] == 1000
    assert "sha256" in said["tempurl"]["allowed_digests"]
    assert (await swift.http.get("/healthcheck")).text == "OK"
