"""A ``stoker serve`` process that a test can kill, and its remains in the kernel."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import httpx
import yaml

READY_SECONDS = 60.0
_POLL_SECONDS = 0.05
# For clients of plain HTTP: reading the certificates takes longer than most requests.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_TOKEN_SECONDS = 1800.0  # half the lifetime of a token of the local cloud


def free_ports(count: int) -> list[int]:
    """Return free ports below the ephemeral range, so that no client takes them meanwhile."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(15000, 30000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def until(claim: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Wait for a claim to become true; fail with ``what`` when it does not."""
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(_POLL_SECONDS)


@dataclass(frozen=True)
class Process:
    """A process, distinguished by its start time from a later one with the same number."""

    pid: int
    parent: int
    start: str
    state: str
    name: str

    @property
    def lives(self) -> bool:
        now = _process(self.pid)
        return now is not None and now.start == self.start and now.state not in "ZX"


def _process(pid: int) -> Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
    except OSError:
        return None
    name = stat.partition("(")[2].rpartition(")")[0]
    return Process(pid, int(fields[1]), fields[19], fields[0], name)


def processes() -> dict[int, Process]:
    found = (_process(int(e.name)) for e in Path("/proc").iterdir() if e.name.isdigit())
    return {process.pid: process for process in found if process is not None}


def descendants(pid: int) -> list[Process]:
    """All processes below this one."""
    everything = list(processes().values())
    found: list[Process] = []
    frontier = [pid]
    while frontier:
        above = frontier.pop()
        below = [process for process in everything if process.parent == above]
        found += below
        frontier += [process.pid for process in below]
    return found


@dataclass
class Service:
    """The service with its local cloud, in a data directory of its own."""

    data_dir: Path
    port: int = field(default_factory=lambda: free_ports(1)[0])
    cloud_port: int = field(default_factory=lambda: free_ports(1)[0])
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    configuration: str = ""  # text of a configuration file
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()  # further arguments of the command
    # Makes a database that two engine processes share; without it, one process uses SQLite.
    new_database: ClassVar[Callable[[], str] | None] = None
    # By cloud name: time of issue, token, project id.
    _tokens: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    _config: Path | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cloud_url(self) -> str:
        return f"http://127.0.0.1:{self.cloud_port}"

    @property
    def log_path(self) -> Path:
        return self.data_dir.with_name(f"{self.data_dir.name}.log")

    def log(self) -> str:
        """Return the output of the service in all its lives."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def config(self, text: str) -> None:
        """Give the service a configuration file, from its next start on."""
        self._config = self.data_dir.with_name(f"{self.data_dir.name}.conf")
        self._config.write_text(text)

    def launch(self) -> None:
        """Start the process; return immediately."""
        new_database = type(self).new_database
        if new_database is not None and "STOKER_DATABASE" not in self.environment:
            self.environment = {**self.environment, "STOKER_DATABASE": new_database()}
            self.arguments = (*self.arguments, "--engines", "2")
        command = [str(Path(sys.executable).parent / "stoker"), "serve"]
        if self._config is not None:
            command += ["--config-file", str(self._config)]
        command += ["--data-dir", str(self.data_dir)]
        command += ["--port", str(self.port), "--cloud-port", str(self.cloud_port)]
        command += self.arguments
        if self.configuration:
            file = self.data_dir.with_name(f"{self.data_dir.name}.conf")
            file.write_text(self.configuration)
            command += ["--config-file", str(file)]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, **self.environment},
            )
        self.started_at = time.monotonic()

    def start(self) -> None:
        """Start the process; returns when it says that it is ready."""
        before = self._readies()
        self.launch()
        self.await_ready(before)

    def await_ready(self, before: int) -> None:
        def ready() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, f"the service has ended by itself:\n{self.log()}"
            return self._readies() > before

        until(ready, f"ready; it printed:\n{self.log()}", READY_SECONDS)

    def _readies(self) -> int:
        return self.log().count("ready http")

    @property
    def readies(self) -> int:
        """Return the number of completed starts."""
        return self._readies()

    def kill(self) -> None:
        """Send SIGKILL to the process of the service only; return when it is gone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ask the service to end, and wait for it."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)

    def children(self) -> list[Process]:
        """All processes of the service, its cloud and its servers."""
        assert self.process is not None
        return descendants(self.process.pid)

    def cloud_process(self) -> Process:
        """The local cloud."""
        assert self.process is not None
        [cloud] = [p for p in self.children() if p.parent == self.process.pid]
        return cloud

    # -- HTTP

    def credentials(self, cloud: str) -> dict[str, str]:
        path = self.data_dir / "clouds.yaml"
        auth: dict[str, str] = yaml.safe_load(path.read_text())["clouds"][cloud]["auth"]
        return auth

    def authenticate(self, cloud: str = "stoker") -> tuple[str, str]:
        """A token and the id of its project; kept for a while, as tokens outlive the service."""
        given, token, project_id = self._tokens.get(cloud, (-_TOKEN_SECONDS, "", ""))
        if given + _TOKEN_SECONDS < time.monotonic():
            auth = self.credentials(cloud)
            user = {
                "name": auth["username"],
                "password": auth["password"],
                "domain": {"name": auth["user_domain_name"]},
            }
            project = {
                "name": auth["project_name"],
                "domain": {"name": auth["project_domain_name"]},
            }
            body = {
                "auth": {
                    "identity": {"methods": ["password"], "password": {"user": user}},
                    "scope": {"project": project},
                }
            }
            url = f"{auth['auth_url']}/auth/tokens"
            answer = httpx.post(url, json=body, timeout=20, verify=NO_CERTIFICATES)
            answer.raise_for_status()
            token = answer.headers["X-Subject-Token"]
            project_id = answer.json()["token"]["project"]["id"]
            self._tokens[cloud] = (time.monotonic(), token, project_id)
        return token, project_id

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """A request to the orchestration API, below the project."""
        token, project = self.authenticate()
        return httpx.request(
            method,
            f"{self.url}/v1/{project}{path}",
            json=body,
            headers={"X-Auth-Token": token},
            timeout=30,
            verify=NO_CERTIFICATES,
            follow_redirects=method == "GET",
        )

    def get(self, path: str) -> Any:
        answer = self.request("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def stack(self, name: str) -> dict[str, Any] | None:
        """Return the stack as it is shown, or None if it does not exist or the service is down."""
        try:
            answer = self.request("GET", f"/stacks/{name}?resolve_outputs=false")
        except httpx.TransportError:
            return None
        if answer.status_code != 200:
            return None
        stack: dict[str, Any] = answer.json()["stack"]
        return stack

    def cloud(self, path: str) -> Any:
        """Return the answer of the local cloud to the administrator."""
        token, _ = self.authenticate("stoker-admin")
        url, headers = f"{self.cloud_url}{path}", {"X-Auth-Token": token}
        answer = httpx.get(url, headers=headers, timeout=30, verify=NO_CERTIFICATES)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return answer.json()


def server_processes(data_dir: Path) -> list[Process]:
    """Processes whose file system is the disk of a server of this data directory."""
    servers = {place.name for place in (data_dir / "cloud/servers").glob("*")}
    found = []
    for process in processes().values():
        with contextlib.suppress(OSError):
            instance = Path(f"/proc/{process.pid}/root/var/lib/cloud/data/instance-id")
            if instance.read_text().strip() in servers:
                found.append(process)
    return found
