"""The directory of one service: where it is, who runs there, and that only one does.

A lock on the file ``serve.lock`` says that a service runs; the kernel takes it back when the
process ends, however it ends. The content says which process, and where it listens.
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
# A concurrent check whether a service runs holds the lock for a moment, too.
_PATIENCE_SECONDS = 1.0


class Running(Struct, frozen=True):
    """A service that runs, or ran, in a data directory."""

    pid: int
    url: str
    cloud_pid: int | None = None
    ready: bool = False
    cloud_port: int | None = None
    cfn_port: int | None = None
    cloudwatch_port: int | None = None
    # URL of the database whose engines drive the stacks; None if this process drives them itself.
    shares: str | None = None


def default_data_dir() -> Path:
    """``$STOKER_DATA_DIR``, else ``stoker`` among the user's data."""
    given = os.environ.get("STOKER_DATA_DIR")
    if given:
        return Path(given)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "stoker"


def make_data_dir(path: Path) -> None:
    """Make the directory, readable only by its owner, also if an older release made it.

    The mode of a directory that serves other purposes, too, is not changed.
    """
    if not path.exists():
        try:
            path.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise InputError(
                f"the data directory {path} cannot be made ({error.strerror}); name another with"
                " --data-dir or STOKER_DATA_DIR"
            ) from None
        path.chmod(0o700)  # whatever the umask is
        return
    mode = path.stat().st_mode
    shared = mode & stat.S_ISVTX or path.resolve() == Path.home().resolve()
    if mode & 0o077 and not shared and (path / _LOCK).exists() and os.access(path, os.W_OK):
        with contextlib.suppress(PermissionError):
            path.chmod(0o700)


class DataDirLock:
    """Held by the one service of a data directory until its process ends."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / _LOCK
        self._descriptor = -1

    def acquire(self) -> Running | None:
        """Acquire the lock; return the record of the previous service.

        Raises :class:`CommandError` if a service runs there.
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
        if before is not None:  # its "ready" is not ours
            self.write(replace(before, ready=False))
        return before

    def write(self, running: Running) -> None:
        """Say who holds the lock."""
        content = json.dumps(asdict(running)).encode()
        os.pwrite(self._descriptor, content, 0)
        os.ftruncate(self._descriptor, len(content))

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def running_in(data_dir: Path) -> Running | None:
    """Return the service that runs in a data directory, or None.

    Raises :class:`InputError` for the directory of another user.
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
