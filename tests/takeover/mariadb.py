"""A MariaDB of a test's own, on a socket in a directory of its own."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

_PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb")
_SYSTEM = "/usr/sbin:/usr/local/sbin"
_START_SECONDS = 60.0


@contextlib.contextmanager
def server() -> Iterator[Path]:
    """Run a server inside the block; yield its socket."""
    programs = {name: _program(name) for name in _PROGRAMS}
    if lacking := [name for name, found in programs.items() if found is None]:
        pytest.skip(f"there is no MariaDB: {', '.join(lacking)}")
    place = Path(tempfile.mkdtemp(prefix="stoker-mariadb-"))
    try:
        user = _user(place)
        common = ["--no-defaults", f"--datadir={place / 'data'}", *user]
        install = [programs["mariadb-install-db"], *common, "--skip-test-db"]
        install.append("--auth-root-authentication-method=normal")
        subprocess.run(install, stdout=subprocess.DEVNULL, check=True)  # type: ignore[arg-type]
        socket = place / "socket"
        command = [programs["mariadbd"], *common, f"--socket={socket}", "--skip-networking"]
        command += [f"--pid-file={place / 'pid'}", "--innodb-flush-log-at-trx-commit=0"]
        with (
            (place / "log").open("wb") as log,
            subprocess.Popen(command, stderr=log) as process,  # type: ignore[arg-type]
        ):
            try:
                _wait_for(socket, process, place / "log")
                yield socket
            finally:
                process.terminate()
    finally:
        shutil.rmtree(place)


def load(socket: Path, dump: Path) -> str:
    """Load a dump into a new database; return its URL."""
    _sql(socket, b"CREATE DATABASE heat CHARACTER SET utf8")
    _sql(socket, dump.read_bytes(), "heat")
    return f"mysql+pymysql://root@localhost/heat?unix_socket={socket}&charset=utf8mb4"


def _sql(socket: Path, statements: bytes, *database: str) -> None:
    command = ["mariadb", "--no-defaults", "-S", str(socket), "-uroot", *database]
    subprocess.run(command, input=statements, check=True)


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_SYSTEM}")


def _user(place: Path) -> Sequence[str]:
    """Return the option that names another user for root, whom the directory then belongs to."""
    if os.geteuid() != 0:
        return []
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("mysql" if "mysql" in names else "nobody")
    os.chown(place, user.pw_uid, user.pw_gid)
    return [f"--user={user.pw_name}"]


def _wait_for(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not socket.exists():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
