"""The base of the built-in image ``host``, which the root directories of servers share.

It is a copy of the readable files in the host's /etc, an empty /var, /home and so on, and the layer
over the host's /usr for all servers.
"""

import hashlib
import os
import secrets
import shutil
import stat
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path

from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.kernel import Mount
from localcloud.guest.cloud_init.instance import SHARED_DIRECTORIES
from localcloud.guest.programs import commands

_DEFAULT_USER = "stoker"
# Further names of the default user, as images of distributions have them.
_USUAL_USERS = ("debian", "ubuntu", "cirros", "cloud-user", "fedora", "centos", "ec2-user")
_FORMAT = "10"
TOP_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_DIRECTORIES = (
    "etc", "usr", "opt", "home", "root", "srv", "mnt", "media", "boot", "proc", "sys", "dev", "run",
    "tmp", "var", "var/lib", "var/lib/dpkg", "var/lib/apt", "var/lib/misc", "var/log", "var/tmp",
    "var/cache", "var/cache/apt", "var/cache/apt/archives", "var/cache/apt/archives/partial",
    "var/spool", "var/spool/cron", "var/mail", "var/opt", "var/local", f"home/{_DEFAULT_USER}",
    # Here once, they need not be made by every server.
    *(f"var/lib/cloud/{name}" for name in SHARED_DIRECTORIES),
)  # fmt: skip
_NOT_COPIED = {
    "hostname", "hosts", "machine-id", "mtab", "resolv.conf", "passwd", "passwd-", "group",
    "group-",
    "shadow", "shadow-", "gshadow", "gshadow-", "subuid", "subuid-", "subgid", "subgid-", "ssh",
    "fstab", "crypttab", "sudoers", "sudoers.d", "NetworkManager", "netplan", "letsencrypt",
    "kubernetes", "docker", "wireguard", "krb5.keytab", "cloud", "systemd", "udev", "modprobe.d",
    "cron.d", "cron.daily", "cron.hourly", "cron.monthly", "cron.weekly", "crontab",
}  # fmt: skip
_LARGEST_COPIED_FILE = 4 << 20
_PACKAGES, _LISTS = Path("var/lib/dpkg"), Path("var/lib/apt/lists")
# Directories of the host that servers have as their own, with those below them: packages put files
# there, and the host's root is not root in servers.
_PROGRAMS, _STATES = ("usr", "opt"), ("var/lib/apt", "var/lib/dpkg")
# The most directories below one of the second level that become the servers' own. The upper ones
# count first; the deep ones of a large tree belong to one package.
_MOST_BELOW = 600
# Directories whose files dpkg links to and changes in place: servers have copies of these.
_CHANGED_BY_DPKG = (".", "triggers")
_LOCKS = (
    _PACKAGES / "lock",
    _PACKAGES / "lock-frontend",
    _PACKAGES / "triggers/Lock",
    _LISTS / "lock",
)
# In the base: the root directory, and our own directories in the place of those of the host.
BASE_ROOT, OWN = "root", "own"
# Beside the bases, in memory: thousands of directories in the place of those of /usr.
_MEMORY = "own"


def own_layers(base: Path) -> tuple[Path, Path]:
    """Return the directories in which there may be one of our own to lie over one of the host."""
    return base / OWN, base.parent / _MEMORY / base.name


def _is_for_everybody(entry: "os.DirEntry[str]") -> bool:
    """Return whether every user of the host may read a file or directory: servers see no others."""
    mode = entry.stat(follow_symlinks=False).st_mode
    required = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return stat.S_ISLNK(mode) or mode & required == required


def copy_readable(source: Path, target: Path) -> None:
    """Copy the files that every user may read; skip those deleted meanwhile by package changes."""
    target.mkdir(exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            if target.name != "etc" or entry.name not in _NOT_COPIED:
                with suppress(PermissionError, FileNotFoundError):
                    _copy_entry(entry, target / entry.name)


def _copy_entry(entry: "os.DirEntry[str]", destination: Path) -> None:
    if not _is_for_everybody(entry):
        return
    if entry.is_symlink():
        destination.symlink_to(Path(entry.path).readlink())
    elif entry.is_dir(follow_symlinks=False):
        copy_readable(Path(entry.path), destination)
    elif entry.is_file() and entry.stat().st_size <= _LARGEST_COPIED_FILE:
        shutil.copyfile(entry.path, destination)
        destination.chmod(stat.S_IMODE(entry.stat().st_mode) & 0o755)


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
    nobody = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin"
    system["nobody"] = nobody.split(":")
    home = f"/home/{_DEFAULT_USER}"
    for name in (_DEFAULT_USER, *_USUAL_USERS):
        system[name] = [name, "x", "1000", "1000", "", home, "/bin/bash"]
    groups = {"root": ["root", "x", "0", ""]}
    for entry in _lines("/etc/group"):
        if len(entry) == 4 and entry[2].isdigit() and (0 < int(entry[2]) < 1000):
            groups[entry[0]] = [*entry[:3], ""]
    groups["nogroup"] = ["nogroup", "x", "65534", ""]
    groups[_DEFAULT_USER] = [_DEFAULT_USER, "x", "1000", ""]

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


def _stamp(many_users: bool) -> str:
    facts = [_FORMAT, sys.version, str(os.geteuid()), commands.digest(many_users)]
    looked_at = (
        "/etc", "/etc/ld.so.cache", "/etc/passwd", "/etc/group", "/etc/alternatives",
        "/var/lib/dpkg/status",
    )  # fmt: skip
    for path in (*looked_at, *commands.DIRECTORIES):
        try:
            facts.append(str(Path(path).stat().st_mtime_ns))
        except OSError:
            facts.append("-")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


class BaseImage:
    """The base in a directory of the cloud, made by a process of its own before it is needed."""

    def __init__(self, state: Path, many_users: bool) -> None:
        self._state = state
        self._many_users = many_users
        self._maker: int | None = None
        self._made: tuple[str, Path] | None = None

    def mount_memory(self) -> None:
        """Mount a file system in memory for :func:`own_layers`. Raises OSError."""
        place = self._state / _MEMORY
        place.mkdir(exist_ok=True)
        flags = Mount.NOSUID | Mount.NODEV
        kernel.mount("tmpfs", str(place), "tmpfs", flags, "mode=755,size=256m")

    def begin(self) -> None:
        """Make it in the background; to be called once."""
        if self._made is not None:
            return
        pid = os.fork()
        if pid == 0:
            try:
                kernel.die_with_parent()
                _make(self._state, self._many_users, _stamp(self._many_users))
            finally:
                os._exit(0)  # the next boot of a server retries, and reports errors
        self._maker = pid

    @property
    def directory(self) -> Path:
        """Return the directory for a server that boots now; wait up to 0.3 s until it is made.

        After a change of the host, as of its accounts or packages, there is a new directory.
        Running servers keep theirs; it is removed at the next start. Raises OSError.
        """
        if self._maker is not None:
            os.waitpid(self._maker, 0)
            self._maker = None
        stamp = _stamp(self._many_users)
        if self._made is None or self._made[0] != stamp:
            in_use = self._made is not None
            self._made = (stamp, _make(self._state, self._many_users, stamp, in_use=in_use))
        return self._made[1]


def _make(state: Path, many_users: bool, stamp: str, *, in_use: bool = False) -> Path:
    """Return the directory with the base of the ``host`` image: its root, and the layer over /usr.

    A new one is made after a change of the host's /etc, of its programs for administrators, or of
    our programs. Older ones are removed unless they are ``in_use``. A disk fits any of them,
    because it holds only the changes of its server.
    """
    base = state / f"host-{stamp}"
    _own_programs(own_layers(base)[1])
    if base.exists():
        return base
    for stale in () if in_use else (*state.glob("host-*"), *state.glob("making-*")):
        shutil.rmtree(stale, ignore_errors=True)
    whole = state / f"making-{secrets.token_hex(4)}"
    making = whole / BASE_ROOT
    for name in _DIRECTORIES:
        (making / name).mkdir(parents=True, mode=0o755)
    for name in ("tmp", "var/tmp"):
        (making / name).chmod(0o1777)
    (making / "root").chmod(0o711)
    (making / "var/run").symlink_to("/run")
    (making / "var/lock").symlink_to("/run/lock")
    for name in TOP_LINKS:
        host = Path("/", name)
        if host.is_symlink():
            (making / name).symlink_to(host.readlink())
        elif host.is_dir():
            (making / name).mkdir()
    copy_readable(Path("/etc"), making / "etc")
    _write_accounts(making / "etc")
    if not many_users and Path("/etc/apt").is_dir():
        settings = making / "etc/apt/apt.conf.d"
        settings.mkdir(parents=True, exist_ok=True)
        # apt drops to a user of its own for downloads; there is none but root in these servers.
        (settings / "90stoker").write_text('APT::Sandbox::User "root";\n')
    try:
        os.chown(making / "home" / _DEFAULT_USER, 1000, 1000)
    except OSError:
        # A single-id user namespace has no user but root.
        (making / "home" / _DEFAULT_USER).chmod(0o777)
    _own_files(whole / OWN, many_users)
    whole.rename(base)
    return base


def _own_directories(source: str, upper: str) -> None:
    """Make our own directories, in a layer between, in the place of those of the host.

    Where the host's root is not mapped, its directories could not be written to; a directory of
    the layer above shows the same content and decides who may write.
    """
    Path(upper).mkdir(parents=True)
    for first in _own_below(source, upper):
        for second in _own_below(source + first, upper + first):
            waiting, made = deque([first + second]), 0
            while waiting and made < _MOST_BELOW:
                path = waiting.popleft()
                below = _own_below(source + path, upper + path)
                waiting.extend(path + name for name in below)
                made += len(below)


def _own_below(source: str, upper: str) -> list[str]:
    """Make those directories below one that servers may see; returns their names, each after a
    slash.
    """
    made = []
    with suppress(PermissionError, FileNotFoundError), os.scandir(source) as entries:
        for entry in entries:  # packages change meanwhile
            if entry.is_dir(follow_symlinks=False) and _is_for_everybody(entry):
                made.append(f"/{entry.name}")
                os.mkdir(upper + made[-1], 0o755)  # noqa: PTH102 - there are thousands
    return sorted(made)


def _own_packages(own: Path) -> None:
    """Make files of the package manager that a server's root can change in place, and lock."""
    for name in _CHANGED_BY_DPKG:
        place = Path("/", _PACKAGES, name)
        for entry in os.scandir(place) if place.is_dir() else ():
            with suppress(PermissionError, FileNotFoundError):
                if entry.is_file(follow_symlinks=False) and _is_for_everybody(entry):
                    shutil.copy(entry.path, own / _PACKAGES / name / entry.name)
    for lock in _LOCKS:
        if (own / lock).parent.is_dir():
            (own / lock).touch(mode=0o640)
    partial = own / _LISTS / "partial"
    if partial.parent.is_dir():
        partial.mkdir(mode=0o700, exist_ok=True)
        with suppress(OSError):  # before Linux 6.6 if the file system is one in memory
            # That of the host belongs to a user of its own, and stays hidden.
            os.setxattr(partial, "user.overlay.opaque", b"y")


def _own_programs(own: Path) -> None:
    if own.exists() or _is_root_of_host():
        return
    making = own.with_name(f"making-{secrets.token_hex(4)}")
    for name in _PROGRAMS:
        if Path("/", name).is_dir():
            _own_directories(f"/{name}", str(making / name))
    making.rename(own)


def _is_root_of_host() -> bool:
    return Path("/usr").stat().st_uid == 0


def _own_files(own: Path, many_users: bool) -> None:
    own.mkdir()
    if not _is_root_of_host():
        for name in _STATES:
            if Path("/", name).is_dir():
                _own_directories(f"/{name}", str(own / name))
        _own_packages(own)
    # here once, they need not be written for every server; a directory would hide a link
    if not any(place.is_symlink() for place in commands.DIRECTORIES):
        commands.install(many_users, own)
