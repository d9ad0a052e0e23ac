"""The service of a throw-away cloud: can be killed and started again within a fraction of a second.

This process loads the service once, and forks a child that serves for each "start" on its standard
input; "kill" kills the child. Each request is answered with one line. The listeners belong to the
command, so that requests to a killed service wait for the next one.

When the standard input ends, the command has ended, in whatever way. Then this process kills the
service, removes the directory and ends.

    python -m stoker.cli.rehearsal.service_process DIRECTORY API_FD CFN_FD CLOUDWATCH_FD
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import shutil
import signal
import socket
import sys
import time
import traceback
from pathlib import Path

from stoker.cli.local import serving
from stoker.cli.local.serve_options import Listeners, ServeOptions

START, KILL = "start", "kill"
READY, FAILED, KILLED = "ready", "failed", "killed"
_PR_SET_PDEATHSIG = 1
_IN_FLIGHT_SECONDS = 0.4  # The local cloud finishes the calls of a killed service within this time.
# Modules that a service imports with its first operation. They are loaded before the second start.
_PRELOADED = (
    "stoker.clouds.keystone", "httpx", "oslo_policy.policy", "sqlalchemy.dialects.sqlite.aiosqlite",
    "stoker.server.aws_apis", "uvicorn.lifespan.off", "anyio._backends._asyncio",
)  # fmt: skip
_REMOVAL_SECONDS = 10.0  # The local cloud may still be ending, and writes until then.


class ServiceProcess:
    """The child that serves, if there is one."""

    def __init__(self, directory: Path, listeners: Listeners) -> None:
        self._directory = directory
        self._listeners = listeners
        self._pid = 0

    def start(self) -> str:
        """Start the service; return the answer when it is ready or has failed."""
        if self._pid:
            for module in _PRELOADED:
                importlib.import_module(module)
            time.sleep(_IN_FLIGHT_SECONDS)
        options = ServeOptions(self._directory, cloud_since=time.time())
        reader, writer = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(reader)
            self._serve(options, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            return READY if answer.readline() else FAILED

    def _serve(self, options: ServeOptions, ready: int) -> None:
        """Serve until the end of this process, which is a child."""
        code = 1
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(2, 1)  # Only the parent answers the command.

            def report() -> None:
                os.write(ready, b"ready\n")
                os.close(ready)

            serving.serve(options, self._listeners, None, report)
            code = 0
        except Exception:  # noqa: BLE001 - the log shows it
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def kill(self) -> str:
        """Kill the service, and wait for its end."""
        if self._pid:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        return KILLED


def main() -> None:
    """Carry out requests until the standard input ends, then remove everything."""
    directory = Path(sys.argv[1])
    listeners = Listeners(*(socket.socket(fileno=int(number)) for number in sys.argv[2:5]))
    process = ServiceProcess(directory, listeners)
    actions = {START: process.start, KILL: process.kill}
    try:
        for line in sys.stdin:
            print(actions[line.strip()](), flush=True)
    finally:
        process.kill()
        _remove(directory)


def _remove(directory: Path) -> None:
    deadline = time.monotonic() + _REMOVAL_SECONDS
    while directory.exists() and time.monotonic() < deadline:
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
