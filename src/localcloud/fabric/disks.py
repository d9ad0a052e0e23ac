"""The disks of servers: what their root directory is made of.

The built-in ``host`` image is a base directory, made once (a copy of what is readable in /etc,
and an empty /var, /home and so on), below an overlay of the server's own; on top of that the
host's /usr, /opt and package database, each below an overlay of the server's own. Where the
kernel or the file system refuses overlays, the base is copied and /usr is read-only except
/usr/local.
"""

import hashlib
import os
import secrets
import shutil
import stat
import sys
from pathlib import Path

from localcloud.fabric import kernel
from localcloud.fabric.interface import FabricError

DEFAULT_USER = "stoker"
_FORMAT = "4"
_SHARED = ("/usr", "/opt", "/var/lib/dpkg", "/var/lib/apt")
_TOP_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_DIRECTORIES = (
    "etc", "usr", "opt", "home", "root", "srv", "mnt", "media", "boot", "proc", "sys", "dev", "run",
    "tmp", "var", "var/lib", "var/lib/dpkg", "var/lib/apt", "var/lib/misc", "var/log", "var/tmp",
    "var/cache", "var/cache/apt", "var/cache/apt/archives", "var/cache/apt/archives/partial",
    "var/spool", "var/spool/cron", "var/mail", "var/opt", "var/local", f"home/{DEFAULT_USER}",
)  # fmt: skip
_NOT_COPIED = {
    "hostname", "hosts", "machine-id", "mtab", "resolv.conf", "passwd", "passwd-", "group",
    "group-",
    "shadow", "shadow-", "gshadow", "gshadow-", "subuid", "subuid-", "subgid", "subgid-", "ssh",
    "fstab", "crypttab", "sudoers", "sudoers.d", "NetworkManager", "netplan", "letsencrypt",
    "kubernetes", "docker", "wireguard", "krb5.keytab", "cloud", "systemd", "udev", "modprobe.d",
    "cron.d", "cron.daily", "cron.hourly", "cron.monthly", "cron.weekly", "crontab",
}  # fmt: skip
_HOST_LOCAL = "/.host/usr-local"
_LARGEST_COPIED_FILE = 4 << 20


def _copy_readable(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in os.scandir(source):
        if target.name == "etc" and entry.name in _NOT_COPIED:
            continue
        if entry.name == "private" and source.name == "ssl":
            continue
        destination = target / entry.name
        try:
            if entry.is_symlink():
                destination.symlink_to(Path(entry.path).readlink())
            elif entry.is_dir(follow_symlinks=False):
                _copy_readable(Path(entry.path), destination)
            elif entry.is_file() and entry.stat().st_size <= _LARGEST_COPIED_FILE:
                shutil.copyfile(entry.path, destination)
                destination.chmod(stat.S_IMODE(entry.stat().st_mode) & 0o755)
        except PermissionError:
            continue


def _lines(path: str) -> list[list[str]]:
    try:
        return [line.split(":") for line in Path(path).read_text().splitlines() if ":" in line]
    except OSError:
        return []


def _write_accounts(etc: Path) -> None:
    system = {"root": ["root", "x", "0", "0", "root", "/root", "/bin/bash"]}
    for entry in _lines("/etc/passwd"):
        if len(entry) == 7 and entry[2].isdigit() and (0 < int(entry[2]) < 1000):
            system[entry[0]] = entry
    system["nobody"] = [
        "nobody",
        "x",
        "65534",
        "65534",
        "nobody",
        "/nonexistent",
        "/usr/sbin/nologin",
    ]
    home = f"/home/{DEFAULT_USER}"
    system[DEFAULT_USER] = [DEFAULT_USER, "x", "1000", "1000", "", home, "/bin/bash"]
    groups = {"root": ["root", "x", "0", ""]}
    for entry in _lines("/etc/group"):
        if len(entry) == 4 and entry[2].isdigit() and (0 < int(entry[2]) < 1000):
            groups[entry[0]] = [*entry[:3], ""]
    groups["nogroup"] = ["nogroup", "x", "65534", ""]
    groups[DEFAULT_USER] = [DEFAULT_USER, "x", "1000", ""]

    def table(rows: list[list[str]]) -> str:
        return "".join(":".join(row) + "\n" for row in rows)

    (etc / "passwd").write_text(table(list(system.values())))
    (etc / "group").write_text(table(list(groups.values())))
    (etc / "shadow").write_text(
        table([[name, "*", "19000", "0", "99999", "7", "", "", ""] for name in system])
    )
    (etc / "gshadow").write_text(table([[name, "*", "", ""] for name in groups]))
    for name in ("shadow", "gshadow"):
        (etc / name).chmod(0o640)
    (etc / "fstab").write_text("")


def _stamp() -> str:
    facts = [_FORMAT, sys.version, str(os.geteuid())]
    for path in ("/etc", "/etc/ld.so.cache", "/etc/passwd", "/etc/alternatives"):
        try:
            facts.append(str(Path(path).stat().st_mtime_ns))
        except OSError:
            facts.append("-")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def make_base(state: Path) -> Path:
    """Return the directory with the base of the ``host`` image.

    It is made anew, and older ones removed, when the host's /etc has changed. A disk fits any of
    them: what its server has changed lies above.
    """
    base = state / f"host-{_stamp()}"
    if base.exists():
        return base
    for stale in (*state.glob("host-*"), *state.glob("making-*")):
        shutil.rmtree(stale, ignore_errors=True)
    making = state / f"making-{secrets.token_hex(4)}"
    for name in _DIRECTORIES:
        (making / name).mkdir(parents=True, mode=0o755)
    for name in ("tmp", "var/tmp"):
        (making / name).chmod(0o1777)
    (making / "root").chmod(0o711)
    (making / "var/run").symlink_to("/run")
    (making / "var/lock").symlink_to("/run/lock")
    for name in _TOP_LINKS:
        host = Path("/", name)
        if host.is_symlink():
            (making / name).symlink_to(host.readlink())
        elif host.is_dir():
            (making / name).mkdir()
    _copy_readable(Path("/etc"), making / "etc")
    _write_accounts(making / "etc")
    try:
        os.chown(making / "home" / DEFAULT_USER, 1000, 1000)
    except OSError:
        # A single-id user namespace has no user but root.
        (making / "home" / DEFAULT_USER).chmod(0o777)
    making.rename(base)
    return base


def _escaped(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


def overlay(lower: Path, upper: Path, work: Path, target: Path) -> None:
    """Mount a writable view of ``lower`` at ``target``; changes are kept in ``upper``."""
    upper.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    shape = lower.stat()
    upper.chmod(stat.S_IMODE(shape.st_mode))
    paths = f"lowerdir={_escaped(lower)},upperdir={_escaped(upper)},workdir={_escaped(work)}"
    kernel.mount("overlay", str(target), "overlay", options=f"{paths},userxattr")


def _own_directories(source: Path, upper: Path, depth: int) -> None:
    """Make directories in an upper layer that stand for those of the host, but are ours.

    Where the host's root is not mapped, its directories could not be written to; a directory of
    the upper layer shows the same content and decides who may write.
    """
    for entry in os.scandir(source):
        if entry.is_dir(follow_symlinks=False):
            mine = upper / entry.name
            mine.mkdir(parents=True, exist_ok=True)
            mine.chmod(stat.S_IMODE(entry.stat().st_mode) & 0o755)
            if depth > 1:
                _own_directories(Path(entry.path), mine, depth - 1)


def _own_usr(upper: Path) -> None:
    if Path("/usr").stat().st_uid == 0 or (upper / "usr").exists():
        return
    _own_directories(Path("/usr"), upper / "usr", depth=1)
    _own_directories(Path("/usr/local"), upper / "usr/local", depth=4)


def _mount_overlaid(disk: Path, base: Path, root: Path, shared: tuple[str, ...]) -> None:
    overlay(base, disk / "upper/root", disk / "work/root", root)
    if shared:
        _own_usr(disk / "upper")
    for path in shared:
        source = Path(path)
        if source.is_dir() and any(source.iterdir()):
            name = path.strip("/").replace("/", "-")
            overlay(source, disk / "upper" / name, disk / "work" / name, root / path.lstrip("/"))


def _link_local(local: Path) -> None:
    """Make a writable /usr/local whose entries are links to the host's."""
    for place in Path("/usr/local").iterdir():
        if place.is_symlink() or not place.is_dir():
            continue
        (local / place.name).mkdir(parents=True)
        for entry in place.iterdir():
            target = f"{_HOST_LOCAL}/{place.name}/{entry.name}"
            (local / place.name / entry.name).symlink_to(target)


def _mount_copied(base: Path, root: Path) -> None:
    if not (root / "etc").exists():
        shutil.copytree(base, root, symlinks=True, dirs_exist_ok=True)
        _link_local(root / "local")
        (root / _HOST_LOCAL.lstrip("/")).mkdir(parents=True)
    kernel.bind(str(root), str(root))
    for path in _SHARED:
        source = Path(path)
        if source.is_dir() and any(source.iterdir()):
            kernel.bind(path, str(root / path.lstrip("/")))
            kernel.seal(str(root / path.lstrip("/")))
    shown = str(root / _HOST_LOCAL.lstrip("/"))
    kernel.bind("/usr/local", shown)
    kernel.seal(shown)
    kernel.bind(str(root / "local"), str(root / "usr/local"))


def _show_python(root: Path) -> None:
    """Make the interpreter's installation visible where it lies outside the shared directories."""
    prefix = Path(sys.base_prefix).resolve()
    if any(prefix.is_relative_to(path) for path in _SHARED):
        return
    target = root / str(prefix).lstrip("/")
    target.mkdir(parents=True, exist_ok=True)
    kernel.bind(str(prefix), str(target))
    kernel.seal(str(target))
    if not Path("/usr/bin/python3").exists():
        link = root / "usr/local/bin/python3"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(prefix / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")


def mount_disk(disk: Path, base: Path, image: Path | None, overlays: bool) -> Path:
    """Mount a server's root directory in the current mount namespace and return its path.

    Raises OSError when a mount is refused, FabricError when an image needs overlays that the
    machine does not have.
    """
    root = disk / "root"
    root.mkdir(parents=True, exist_ok=True)
    if not overlays:
        if image is not None:
            raise FabricError(
                f"disk {disk}: an unpacked image needs overlay mounts, which this machine or the "
                "file system of the data directory refuses; use the image 'host', or put the data "
                "directory on ext4, xfs, btrfs or tmpfs"
            )
        _mount_copied(base, root)
    else:
        _mount_overlaid(disk, image or base, root, () if image else _SHARED)
    if image is None:
        for name in _TOP_LINKS:
            if Path("/", name).is_dir() and not Path("/", name).is_symlink():
                kernel.bind(f"/{name}", str(root / name))
                kernel.seal(str(root / name))
        _show_python(root)
    return root


def probe_overlay(state: Path) -> OSError | None:
    """Mount an overlay once in a child's mount namespace; None when it works."""
    place = state / f"probe-{secrets.token_hex(4)}"
    for name in ("lower", "root"):
        (place / name).mkdir(parents=True, exist_ok=True)
    try:
        overlay(place / "lower", place / "upper", place / "work", place / "root")
        (place / "root/file").write_text("x")
        kernel.unmount(str(place / "root"))
    except OSError as error:
        return error
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return None


def remove_disk(disk: Path) -> None:
    """Remove a server's disk with all its files; an unknown one is fine."""
    if disk.exists():
        shutil.rmtree(disk)
