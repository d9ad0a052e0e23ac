"""Overwritten objects, in containers that keep their versions."""

from cloud_testing.doubles import ManualClock
from localcloud.core.cloud import Cloud

from .conftest import Swift
from .test_objects import files


async def written(swift: Swift, clock: ManualClock, path: str, *contents: bytes) -> None:
    for content in contents:
        clock.advance(1)
        await swift.put(path, content)


async def content(swift: Swift, path: str) -> bytes:
    answer = await swift("GET", path)
    assert answer.status_code == 200, answer.text
    return answer.content


async def test_each_version_is_kept_and_comes_back(
    swift: Swift, cloud: Cloud, clock: ManualClock
) -> None:
    await swift.put("/old")
    await swift.put("/c", X_Versions_Location="old")
    assert (await swift("HEAD", "/c")).headers["x-versions-location"] == "old"
    await written(swift, clock, "/c/näme", b"one", b"two", b"three")
    first, second = await swift.names("/old")
    assert (first[:8], first < second) == ("005näme/", True)
    assert [await content(swift, f"/old/{name}") for name in (first, second)] == [b"one", b"two"]
    for wanted, left in ((b"two", 1), (b"one", 0)):
        assert (await swift("DELETE", "/c/näme")).status_code == 204
        assert await content(swift, "/c/näme") == wanted
        assert len(await swift.names("/old")) == left
    assert (await swift("DELETE", "/c/näme")).status_code == 204
    assert (await swift("DELETE", "/c/näme")).status_code == 404
    assert files(cloud) == 0


async def test_a_container_may_keep_versions_in_itself(swift: Swift, clock: ManualClock) -> None:
    await swift.put("/c")
    assert (await swift("POST", "/c", headers={"X-Versions-Location": "c"})).status_code == 204
    await written(swift, clock, "/c/o", b"one", b"two")
    version, name = await swift.names("/c")
    assert (version[:5], name) == ("001o/", "o")
    assert (await swift("DELETE", f"/c/{version}")).status_code == 204
    removed = await swift("POST", "/c", headers={"X-Remove-Versions-Location": "x"})
    assert removed.status_code == 204
    assert "x-versions-location" not in (await swift("HEAD", "/c")).headers
    await written(swift, clock, "/c/o", b"three")
    assert await swift.names("/c") == ["o"]


async def test_what_cannot_be_kept_is_not_written_over(swift: Swift, clock: ManualClock) -> None:
    await swift.put("/c", X_Versions_Location="none%20yet")
    await written(swift, clock, "/c/o", b"one")
    assert (await swift("PUT", "/c/o", content=b"two")).status_code == 412
    assert await content(swift, "/c/o") == b"one"
    await swift.put("/none yet", X_Container_Meta_Quota_Count=1)
    await written(swift, clock, "/c/o", b"two")
    assert (await swift("PUT", "/c/o", content=b"three")).status_code == 413
    assert await content(swift, "/c/o") == b"two"
    refused = await swift("POST", "/c", headers={"X-Versions-Location": "a/b"})
    assert refused.status_code == 412
