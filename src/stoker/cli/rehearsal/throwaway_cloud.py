"""A local cloud with a service in a temporary directory, which ends and vanishes with the command.

Three processes belong to it. The local cloud is a child of the command, and the kernel kills it
when the command ends. A second child starts and kills the service, which is a third process, and
removes the directory when its standard input ends: at the end of the command, however that came.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from stoker.cli.client.client import Client
from stoker.cli.client.credentials import ADMINISTRATOR, CLOUD, in_data_dir
from stoker.cli.console.failures import CommandError
from stoker.cli.local.local_cloud import LocalCloud
from stoker.cli.local.serve_options import port_of, url_of
from stoker.cli.local.signal_handlers import signal_handler

_HOST = "127.0.0.1"
_CONTROL = "local-cloud"  # type of the cloud's own address in its catalog
_PREFIX = "stoker-rehearse-"
_LOG = "rehearsal.log"
_LOG_TAIL = 20
_END_SECONDS = 20.0
_SERVERS_SECONDS = 10.0


class ThrowawayCloud:
    """A running cloud with a service. :func:`throwaway_cloud` makes one."""

    def __init__(self, directory: Path, closing: ExitStack) -> None:
        """Start everything. The caller closes ``closing``, also after an error."""
        self.directory = directory
        self._kills = 0
        self._is_starting = False
        api, cfn, cloudwatch, cloud = [closing.enter_context(_listener()) for _ in range(4)]
        log = closing.enter_context((directory / _LOG).open("ab"))
        self._keeper = subprocess.Popen(  # noqa: S603 - our own command
            [
                *(sys.executable, "-m", "stoker.cli.rehearsal.service_process", str(directory)),
                *(str(each.fileno()) for each in (api, cfn, cloudwatch)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C reaches only the command.
            pass_fds=[each.fileno() for each in (api, cfn, cloudwatch)],
        )
        closing.callback(self._end_keeper)
        services = {
            "orchestration": f"{_url(api)}/v1/%(project_id)s",
            "cloudformation": f"{_url(cfn)}/v1",
            "cloudwatch": f"{_url(cloudwatch)}/v1",
            _CONTROL: _url(cloud),
        }
        self._cloud = LocalCloud(directory, cloud, services, log=log.fileno())
        closing.callback(self._cloud.close)
        self._cloud.await_ready()
        self._send("start")
        self._await_start()
        self.client = self._connected(CLOUD)
        closing.callback(self.client.close)
        self.administrator = self._connected(ADMINISTRATOR)
        closing.callback(self.administrator.close)
        closing.callback(self._end_servers)

    @property
    def kills(self) -> int:
        """Return how often the service was killed."""
        return self._kills

    def new_client(self) -> Client:
        """Return another client of the same user, for a thread of its own."""
        return self._connected(CLOUD)

    def kill_service(self) -> None:
        """Kill the service with SIGKILL, and start it again.

        Requests are answered when it has started, which this method does not wait for.
        """
        self._kill()
        self._kills += 1
        self._send("start")

    @contextmanager
    def disturbed(self, disturbances: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Disturb the calls of the service to the cloud inside the block."""
        if not disturbances:
            yield
            return
        body = {"disturbances": list(disturbances)}
        self.administrator.call(_CONTROL, "PUT", "/disturbances", body)
        try:
            yield
        finally:
            with suppress(CommandError):
                self.administrator.call(_CONTROL, "DELETE", "/disturbances")

    def _connected(self, cloud: str) -> Client:
        credentials = in_data_dir(self.directory, cloud)
        if credentials is None:
            raise self._not_started()
        return Client(credentials)

    def _kill(self) -> None:
        self._await_start()
        self._send("kill")
        self._expect("killed")

    def _await_start(self) -> None:
        if self._is_starting:
            self._is_starting = False
            self._expect("ready")

    def _send(self, request: str) -> None:
        """Send a request to the process that keeps the service."""
        assert self._keeper.stdin is not None
        self._is_starting = request == "start"
        with suppress(OSError):  # No answer will follow.
            self._keeper.stdin.write(f"{request}\n")
            self._keeper.stdin.flush()

    def _expect(self, answer: str) -> None:
        """Wait for the answer to a request. Raise CommandError for another one."""
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline().strip() != answer:
            raise self._not_started()

    def _not_started(self) -> CommandError:
        log = (self.directory / _LOG).read_text(encoding="utf-8", errors="replace")
        lines = log.splitlines()[-_LOG_TAIL:]
        words = (
            "the service of the throw-away cloud did not start; check this machine with"
            ' "stoker doctor". Its output:'
        )
        return CommandError("\n".join([words, *lines]))

    def _end_servers(self) -> None:
        """Delete the remaining servers: the files of some can be removed only by the cloud."""
        with suppress(CommandError):
            deadline = time.monotonic() + _SERVERS_SECONDS
            self._kill()
            while time.monotonic() < deadline:
                query = {"all_tenants": 1}
                left = self.administrator.get("compute", "/servers", query)["servers"]
                if not left:
                    return
                for server in left:
                    with suppress(CommandError):
                        self.administrator.call("compute", "DELETE", f"/servers/{server['id']}")
                time.sleep(0.1)

    def _end_keeper(self) -> None:
        assert self._keeper.stdin is not None
        with suppress(OSError):
            self._keeper.stdin.close()
        try:
            self._keeper.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()


@contextmanager
def throwaway_cloud() -> Iterator[ThrowawayCloud]:
    """Run a cloud with a service inside the block.

    SIGTERM and SIGHUP end the block as Ctrl-C does. Raise :class:`CommandError` if it cannot start.
    """
    with signal_handler(_exit, (signal.SIGTERM, signal.SIGHUP)):
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with ExitStack() as closing:
            yield ThrowawayCloud(directory, closing)


def _exit(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _listener() -> socket.socket:
    return socket.create_server((_HOST, 0))


def _url(listener: socket.socket) -> str:
    return url_of(_HOST, port_of(listener))
