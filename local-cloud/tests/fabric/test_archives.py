"""Archives of snapshots come from users too: nothing in them leads out of the disk they make."""

import io
import tarfile
from pathlib import Path

import pytest

from localcloud.fabric.archives import unpack
from localcloud.fabric.interface import FabricError


def archive_with(place: Path, *members: tarfile.TarInfo) -> Path:
    path = place / "archive.tar"
    with tarfile.open(path, "w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b""))
    return path


def link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def test_a_hard_link_to_a_file_of_the_host_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    archive = archive_with(tmp_path, link("upper", "../secret", tarfile.LNKTYPE))
    with pytest.raises(FabricError, match="leads out"):
        unpack(archive, tmp_path / "disk")
    assert secret.stat().st_nlink == 1


def test_a_hard_link_through_a_symbolic_one_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    through = link("way", str(tmp_path), tarfile.SYMTYPE)
    archive = archive_with(tmp_path, through, link("upper", "way/secret", tarfile.LNKTYPE))
    with pytest.raises(FabricError, match="leads out"):
        unpack(archive, tmp_path / "disk")
    assert secret.stat().st_nlink == 1
