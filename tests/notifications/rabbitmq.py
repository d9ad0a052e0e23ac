"""A RabbitMQ of a test's own, in a directory of its own, that it can stop and start again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.recovery.service import free_ports

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_SECONDS = 60.0


def missing() -> str | None:
    """Return why the machine cannot run RabbitMQ; None if it can."""
    if not SERVER.is_file():
        return f"{SERVER} does not exist: install Debian's package rabbitmq-server"
    if shutil.which("epmd") is None:
        return "the program epmd does not exist: install Debian's package erlang-base"
    return None


@dataclass
class RabbitMQ:
    """One broker. Its messages stay in the directory while it is stopped."""

    place: Path
    port: int = 0
    _ports: list[int] = field(default_factory=lambda: free_ports(3))
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.port = self._ports[0]

    @property
    def url(self) -> str:
        return f"rabbit://guest:guest@127.0.0.1:{self.port}/"

    def _environment(self) -> dict[str, str]:
        port, distribution, mapper = map(str, self._ports)
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.place),
            "ERL_EPMD_PORT": mapper,
            "RABBITMQ_NODENAME": "stoker@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": port,
            "RABBITMQ_DIST_PORT": distribution,
            "RABBITMQ_MNESIA_BASE": str(self.place / "data"),
            "RABBITMQ_LOG_BASE": str(self.place / "log"),
            "RABBITMQ_PID_FILE": str(self.place / "pid"),
            "RABBITMQ_CONF_ENV_FILE": str(self.place / "none"),
            "RABBITMQ_CONFIG_FILE": str(self.place / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.place / "plugins"),
            # it must not compete with the tests for the cores
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }

    def start(self) -> None:
        """Return when it accepts connections, immediately if it does already."""
        if self._running:
            return
        environment = self._environment()
        log = (self.place / "output").open("ab")
        commands = (["epmd", "-address", "127.0.0.1"], [str(SERVER)])
        for command in commands:
            self._running.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.place,
                )
            )
        log.close()
        deadline = time.monotonic() + _SECONDS
        while not self._answers():
            assert time.monotonic() < deadline, (self.place / "output").read_text()
            time.sleep(0.05)

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self) -> None:
        """End it, as a machine does that is shut down."""
        for process in reversed(self._running):
            process.terminate()
            process.wait(_SECONDS)
        self._running.clear()
