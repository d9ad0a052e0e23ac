"""Archives and disks come from users: nothing in them leads out of the disk they make."""

import gzip
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from cloud_testing.hostile_archives import (
    Member,
    beyond_path_max,
    directory,
    file,
    link,
    mode_of_host_file,
    packed,
)
from localcloud.fabric.interface import FabricError
from localcloud.fabric.isolation import tree
from localcloud.fabric.isolation.ownership import give_to_servers
from localcloud.fabric.storage.archives import copy, pack, unpack


def archive_with(place: Path, *members: Member) -> Path:
    path = place / "archive.tar"
    path.write_bytes(packed(members))
    return path


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the host, which must stay as it is."""
    found = tmp_path / "victim"
    found.mkdir()
    (found / "secret").write_text("of the host")
    (found / "secret").chmod(0o600)
    return found


def assert_whole(victim: Path) -> None:
    assert [path.name for path in victim.iterdir()] == ["secret"]
    secret = victim / "secret"
    found = secret.stat()
    assert (secret.read_text(), stat.S_IMODE(found.st_mode)) == ("of the host", 0o600)
    assert (found.st_nlink, os.listxattr(secret)) == (1, [])


def test_unpack_refuses_hard_link_to_host_file(tmp_path: Path, victim: Path) -> None:
    archive = archive_with(tmp_path, link("upper", "../victim/secret", tarfile.LNKTYPE))
    with pytest.raises(FabricError, match="leads out"):
        unpack(archive, tmp_path / "disk")
    assert_whole(victim)


def test_unpack_refuses_hard_link_through_symbolic_link(tmp_path: Path, victim: Path) -> None:
    hard = link("upper", "way/secret", tarfile.LNKTYPE)
    archive = archive_with(tmp_path, link("way", str(victim)), hard)
    with pytest.raises(FabricError, match="through a symbolic link"):
        unpack(archive, tmp_path / "disk")
    assert_whole(victim)


def test_unpack_refuses_member_through_symbolic_link(tmp_path: Path, victim: Path) -> None:
    way = link("upper/way", str(victim))
    archive = archive_with(tmp_path, directory("upper"), way, file("upper/way/secret", b"changed"))
    with pytest.raises(FabricError, match="through a symbolic link"):
        unpack(archive, tmp_path / "disk")
    assert_whole(victim)


def test_unpack_refuses_links_longer_than_paths_may_be(tmp_path: Path, victim: Path) -> None:
    """CVE-2025-4517: realpath(3) gives up on paths that the kernel resolves."""
    top = [directory("upper"), directory("upper/root")]
    archive = archive_with(tmp_path, *top, *beyond_path_max("upper/root/", victim))
    with pytest.raises(FabricError, match="through a symbolic link"):
        unpack(archive, tmp_path / "disk")
    assert_whole(victim)


def test_unpack_keeps_absolute_names_beneath_the_disk(tmp_path: Path, victim: Path) -> None:
    member = file(str(victim / "secret"), mode=0o666, attributes={"user.mine": "1"})
    with pytest.raises(FabricError, match='a disk has "root" and "upper"'):
        unpack(archive_with(tmp_path, member), tmp_path / "disk")
    assert_whole(victim)


def test_unpack_does_not_change_mode_through_later_link(tmp_path: Path, victim: Path) -> None:
    archive = archive_with(tmp_path, *mode_of_host_file(victim / "secret"))
    unpack(archive, tmp_path / "disk")
    assert (tmp_path / "disk/upper/root/x").is_symlink()
    assert_whole(victim)


@pytest.mark.parametrize("name", ["upper", "root", "upper/root", "upper/usr"])
def test_unpack_refuses_link_in_place_of_layer(tmp_path: Path, victim: Path, name: str) -> None:
    members = [directory("upper")] if "/" in name else []
    archive = archive_with(tmp_path, *members, link(name, str(victim)))
    with pytest.raises(FabricError, match="is no directory"):
        unpack(archive, tmp_path / "disk")
    assert_whole(victim)


def test_unpack_refuses_names_beside_layers(tmp_path: Path) -> None:
    with pytest.raises(FabricError, match='no "seen"'):
        unpack(archive_with(tmp_path, link("seen", "/")), tmp_path / "disk")


@pytest.mark.parametrize("work", [copy, pack])
@pytest.mark.parametrize("name", ["upper", "root", "upper/usr"])
def test_disk_with_link_as_layer_is_not_read(
    tmp_path: Path, victim: Path, work: Callable[[Path, Path], None], name: str
) -> None:
    place = tmp_path / "disk" / name
    place.parent.mkdir(parents=True)
    place.symlink_to(victim)
    with pytest.raises(FabricError, match="is no directory"):
        work(tmp_path / "disk", tmp_path / "result")


@pytest.mark.parametrize("kind", [stat.S_IFDIR, stat.S_IFREG])
def test_entry_replaced_by_link_is_not_opened(tmp_path: Path, victim: Path, kind: int) -> None:
    """A server may replace a directory by a link after it was listed, and before it is read."""
    target = victim if kind == stat.S_IFDIR else victim / "secret"
    (tmp_path / "replaced").symlink_to(target)
    listed = os.open(tmp_path, os.O_RDONLY)
    try:
        assert tree.open_entry(listed, "replaced", kind) is None
    finally:
        os.close(listed)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A disk with all that one may hold."""
    root = tmp_path / "disk/upper/root"
    (root / "directory").mkdir(parents=True)
    program = root / "directory/program"
    with program.open("wb") as written:
        written.write(b"#!/bin/sh\n")
        written.seek(1 << 20)
        written.write(b"end")
    program.chmod(0o4711)
    os.setxattr(program, "user.mine", b"\xff1")
    os.utime(program, (1, 2))
    (root / "again").hardlink_to(program)
    (root / "link").symlink_to("/etc/passwd")
    (root / "directory").chmod(0o1770)
    if os.geteuid() == 0:
        os.mknod(root / "deleted", stat.S_IFCHR, os.makedev(0, 0))
        os.lchown(root / "link", 1001, 1002)
        os.chown(program, 1003, 1004)
        program.chmod(0o4711)
    return tmp_path / "disk"


def facts(disk: Path) -> dict[str, object]:
    def of(path: Path) -> object:
        found = path.lstat()
        content: object = None
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = path.read_bytes(), os.getxattr(path, "user.mine")
        times = found.st_mtime if stat.S_ISREG(found.st_mode) else None
        return found.st_mode, found.st_uid, found.st_gid, found.st_rdev, times, content

    return {str(path.relative_to(disk)): of(path) for path in sorted(disk.rglob("*"))}


def test_copy_of_disk_has_the_same_facts(tmp_path: Path, disk: Path) -> None:
    copy(disk, tmp_path / "copy")
    assert facts(tmp_path / "copy") == facts(disk)
    one, other = (tmp_path / "copy/upper/root" / name for name in ("again", "directory/program"))
    assert one.samefile(other)
    assert one.stat().st_blocks * 512 < 1 << 20, "the hole has been filled"


def test_disk_of_archive_has_the_same_facts(tmp_path: Path, disk: Path) -> None:
    pack(disk, tmp_path / "archive")
    unpack(tmp_path / "archive", tmp_path / "copy")
    assert facts(tmp_path / "copy") == facts(disk)
    one, other = (tmp_path / "copy/upper/root" / name for name in ("again", "directory/program"))
    assert one.samefile(other)
    assert one.stat().st_blocks * 512 < 1 << 20, "the hole has been filled"


@pytest.mark.parametrize("work", [copy, pack])
def test_directories_deeper_than_the_limit_are_refused(
    tmp_path: Path, work: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "disk/upper" / "/".join("d" * 400)).mkdir(parents=True)
    with pytest.raises(FabricError, match="directories in each other"):
        work(tmp_path / "disk", tmp_path / "result")


def bomb(kind: bytes, size: int, content: bytes) -> bytes:
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, size
    return gzip.compress(header.tobuf(tarfile.GNU_FORMAT) + content)


@pytest.mark.parametrize(
    "data",
    [
        bomb(tarfile.XHDTYPE, 1 << 30, b"x" * 2048),
        bomb(tarfile.GNUTYPE_LONGNAME, 1 << 30, b"x" * 2048),
        bomb(tarfile.REGTYPE, 1 << 50, b"x" * 2048),
        b"\x1f\x8b\x08" + bytes(100),
        b"\xfd7zXZ\0" + bytes(100),
    ],
    ids=["attributes", "name", "file", "gzip", "xz"],
)
def test_unpack_refuses_what_no_archive_has(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "archive").write_bytes(data)
    with pytest.raises(FabricError, match="is not that of a disk"):
        unpack(tmp_path / "archive", tmp_path / "disk")


@pytest.mark.skipif(os.geteuid() != 0, reason="changing owners takes root")
def test_giving_disk_to_servers_follows_no_link(tmp_path: Path, victim: Path) -> None:
    root = tmp_path / "disk/upper/root"
    root.mkdir(parents=True)
    (root / "file").symlink_to(victim / "secret")
    (root / "directory").symlink_to(victim)
    (root / "program").touch(0o755)
    (root / "program").chmod(0o4755)
    give_to_servers(tmp_path / "disk", 1 << 20)
    assert (root / "program").stat().st_uid == 1 << 20
    assert stat.S_IMODE((root / "program").stat().st_mode) == 0o4755
    assert (victim / "secret").stat().st_uid == victim.stat().st_uid == 0
    assert_whole(victim)
