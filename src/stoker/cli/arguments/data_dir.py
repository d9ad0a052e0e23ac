"""The data directory of a service: its place, and a lock for the single service in it.

The service holds a lock on the file ``serve.lock``. The kernel releases it when the process ends,
in any way. The content of the file has the process and its ports.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from stoker.cli.console.failures import CommandError, InputError
from stoker.kernel.values import replace

_LOCK = "serve.lock"
_PATIENCE_SECONDS = 1.0  # A check for a running service also holds the lock for a moment.


class Running(Struct, frozen=True):
    """A service that runs or ran in a data directory."""

    pid: int
    url: str
    cloud_pid: int | None = None
    ready: bool = False
    cloud_port: int | None = None
    cfn_port: int | None = None
    cloudwatch_port: int | None = None
    # URL of the database with the engines that drive the stacks; None if this process does.
    shares: str | None = None


def default_data_dir() -> Path:
    """Return ``$STOKER_DATA_DIR``, or ``stoker`` in the user's data directory."""
    configured = os.environ.get("STOKER_DATA_DIR")
    if configured:
        return Path(configured)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "stoker"


def make_data_dir(path: Path) -> None:
    """Create the directory, readable only by its owner, even if an older release created it.

    The mode of a directory for other purposes is not changed.
    """
    if not path.exists():
        try:
            path.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise InputError(
                f"the data directory {path} cannot be made ({error.strerror}); name another with"
                " --data-dir or STOKER_DATA_DIR"
            ) from None
        path.chmod(0o700)  # The mode must not depend on the umask.
        return
    mode = path.stat().st_mode
    shared = mode & stat.S_ISVTX or path.resolve() == Path.home().resolve()
    if mode & 0o077 and not shared and (path / _LOCK).exists() and os.access(path, os.W_OK):
        with contextlib.suppress(PermissionError):
            path.chmod(0o700)


class DataDirLock:
    """The lock of a service on its data directory, until its process ends."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / _LOCK
        self._descriptor = -1

    def acquire(self) -> Running | None:
        """Acquire the lock; return the record of the previous service.

        Raise :class:`CommandError` if a service is running there.
        """
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _try_lock(self._descriptor, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                other = _read(self._path)
                who = f"process {other.pid}, {other.url}" if other else "another process"
                raise CommandError(
                    f"a service runs in {self._path.parent} already ({who}); use it, end it with"
                    ' "stoker stop", or choose another directory with --data-dir'
                )
            time.sleep(0.02)
        before = _read(self._path)
        if before is not None:  # The record is of another process, so it is not "ready".
            self.write(replace(before, ready=False))
        return before

    def write(self, running: Running) -> None:
        """Write the record of the holder."""
        content = json.dumps(asdict(running)).encode()
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def running_in(data_dir: Path) -> Running | None:
    """Return the running service in a data directory, or None.

    Raise :class:`InputError` for the directory of another user.
    """
    path = data_dir / _LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        raise InputError(
            f"{data_dir} belongs to another user; choose a directory of your own with --data-dir"
        ) from None
    except OSError:
        return None
    try:
        return None if _try_lock(descriptor, fcntl.LOCK_SH) else _read(path)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> Running | None:
    try:
        return Running(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
