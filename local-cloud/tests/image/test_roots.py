import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from cloud_testing.hostile_archives import beyond_path_max, directory, file, packed
from localcloud.core.cloud import Cloud
from localcloud.image.model.images import Images
from localcloud.image.model.rootfs_cache import RootfsCache, UnusableImageError


def archive(*members: tuple[str, bytes, str, str], mode: str = "w:gz") -> bytes:
    """A tar archive with members given as name, type, link target and text."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as tar:
        for name, kind, link, text in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, link, len(text)
            info.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
            tar.addfile(info, io.BytesIO(text.encode()))
    return target.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
async def test_a_tar_archive_is_unpacked_once(cloud: Cloud, upload: Any, mode: str) -> None:
    data = archive(
        ("./etc", tarfile.DIRTYPE, "", ""),
        ("./etc/motd", tarfile.REGTYPE, "", "hello"),
        ("./bin", tarfile.SYMTYPE, "usr/bin", ""),
        ("./etc/mtab", tarfile.SYMTYPE, "/proc/self/mounts", ""),
        ("./etc/issue", tarfile.LNKTYPE, "./etc/motd", ""),
        ("./dev/null", tarfile.CHRTYPE, "", ""),
        mode=mode,
    )
    roots = cloud.one(RootfsCache)
    image_id = await upload(data)
    root = await roots.root(image_id)
    assert root is not None
    assert (root / "etc/motd").read_text() == (root / "etc/issue").read_text() == "hello"
    assert (root / "bin").readlink() == Path("usr/bin")
    assert not (root / "dev/null").exists()
    (root / "etc/motd").write_text("kept")
    assert await roots.root(image_id) == root
    assert (root / "etc/motd").read_text() == "kept"


@pytest.mark.parametrize(
    "data",
    [
        b"no archive",
        archive(("../out", tarfile.REGTYPE, "", "x")),
        archive(("up", tarfile.SYMTYPE, "/tmp", ""), ("up/out", tarfile.REGTYPE, "", "x")),
        archive(("hard", tarfile.LNKTYPE, "../../cloud.sqlite", "")),
    ],
    ids=["no archive", "out by name", "out by symbolic link", "out by hard link"],
)
async def test_invalid_or_escaping_archive_is_refused(
    cloud: Cloud, upload: Any, data: bytes
) -> None:
    image_id = await upload(data)
    with pytest.raises(UnusableImageError):
        await cloud.one(RootfsCache).root(image_id)
    assert not cloud.one(Images).unpacked(image_id).exists()


async def test_links_longer_than_paths_may_be_lead_nowhere(
    cloud: Cloud, upload: Any, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    image_id = await upload(packed(beyond_path_max("", victim)))
    with pytest.raises(UnusableImageError, match="through a symbolic link"):
        await cloud.one(RootfsCache).root(image_id)
    assert not list(victim.iterdir())


async def test_modes_of_image_stay_without_set_user_id(cloud: Cloud, upload: Any) -> None:
    data = packed([directory("tmp", 0o1777), file("su", mode=0o4755), directory("closed", 0o000)])
    root = await cloud.one(RootfsCache).root(await upload(data))
    assert root is not None
    modes = {path.name: path.stat().st_mode & 0o7777 for path in root.iterdir()}
    assert modes == {"tmp": 0o1777, "su": 0o755, "closed": 0o700}


async def test_host_image_has_no_root_directory(cloud: Cloud, api: Any) -> None:
    (host,) = cloud.one(Images).records.find(name="host")
    assert await cloud.one(RootfsCache).root(host["id"]) is None


async def test_an_image_without_data_gives_no_root(cloud: Cloud, api: Any) -> None:
    image_id = (await api("POST", "/images", {})).json()["id"]
    with pytest.raises(UnusableImageError, match="no data"):
        await cloud.one(RootfsCache).root(image_id)


async def test_deleting_an_image_removes_its_files(cloud: Cloud, api: Any, upload: Any) -> None:
    image_id = await upload(archive(("x", tarfile.REGTYPE, "", "x")))
    images = cloud.one(Images)
    await cloud.one(RootfsCache).root(image_id)
    assert (await api("DELETE", f"/images/{image_id}")).status_code == 204
    assert not list((cloud.settings.cloud_dir / "images").glob(f"{image_id}*"))
    assert images.path(image_id) is None


async def test_deleted_image_stays_unpacked_while_used(cloud: Cloud, api: Any, upload: Any) -> None:
    image_id = await upload(archive(("x", tarfile.REGTYPE, "", "x")))
    images, roots = cloud.one(Images), cloud.one(RootfsCache)
    root = await roots.root(image_id)
    held = {image_id}
    images.holders.append(held.__contains__)
    assert (await api("DELETE", f"/images/{image_id}")).status_code == 204
    assert (await api("GET", f"/images/{image_id}")).status_code == 404
    assert await roots.root(image_id) == root
    held.clear()
    images.start()
    assert root is not None
    assert not root.exists()
