"""A service without a local cloud of its own, on a cloud that survives it and can be made slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.recovery.service import NO_CERTIFICATES, free_ports, until

_START_SECONDS = 120.0
_CONFIGURATION = """
[DEFAULT]
cloud_request_timeout = {timeout}
max_resources_per_stack = -1
stack_user_domain_name = stoker
stack_domain_admin = stoker_domain_admin
stack_domain_admin_password = {domain_password}
[keystone_authtoken]
auth_url = {auth_url}
www_authenticate_uri = {auth_url}
username = stoker
password = {password}
project_name = {project}
user_domain_name = Default
project_domain_name = Default
region_name = {region}
"""


@dataclass
class SlowCloud:
    """The cloud, and the service beside it."""

    directory: Path
    ports: list[int] = field(default_factory=lambda: free_ports(2))
    service: subprocess.Popen[bytes] | None = None
    starts: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.ports[1]}/v1/{self.project}"

    def start_cloud(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "localcloud", "serve", "--no-servers"]
        command += ["--data-dir", str(self.directory), "--port", str(self.ports[0])]
        command += ["--parent", str(os.getpid())]
        command += [
            "--service",
            f"orchestration=http://127.0.0.1:{self.ports[1]}/v1/%(project_id)s",
        ]
        cloud = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert cloud.stdout is not None
        assert cloud.stdout.readline().startswith("ready")
        known = json.loads((self.directory / "cloud/credentials.json").read_text())
        self.known, self.users = known, known["users"]
        self.token, self.project = self._token("demo")
        self.admin, _ = self._token("admin")
        return cloud

    def configure(self, request_timeout: float) -> None:
        """The service limits a request to this time, and searches twice as long."""
        service = self.users["stoker"]
        self._file.write_text(
            _CONFIGURATION.format(
                timeout=request_timeout,
                auth_url=self.known["auth_url"],
                password=service["password"],
                project=service["project"],
                domain_password=self.users["stoker_domain_admin"]["password"],
                region=self.known["region"],
            )
        )

    @property
    def _file(self) -> Path:
        return self.directory / "stoker.conf"

    def _token(self, user: str) -> tuple[str, str]:
        known = self.users[user]
        account = {
            "name": user,
            "domain": {"id": known["domain"]},
            "password": known["password"],
        }
        project = {"name": known["project"], "domain": {"id": known["domain"]}}
        identity = {"methods": ["password"], "password": {"user": account}}
        auth = {"identity": identity, "scope": {"project": project}}
        url = f"{self.url}/identity/v3/auth/tokens"
        answer = httpx.post(
            url, json={"auth": auth}, timeout=30, verify=NO_CERTIFICATES
        ).raise_for_status()
        return answer.headers["x-subject-token"], answer.json()["token"]["project"]["id"]

    def start_service(self) -> None:
        """Start the service; returns when it says that it is ready."""
        self.launch()
        until(lambda: self.log().count("ready http") >= self.starts, self.log(), _START_SECONDS)

    def launch(self) -> None:
        command = [str(Path(sys.executable).parent / "stoker"), "serve", "--no-local-cloud"]
        command += ["--config-file", str(self._file), "--port", str(self.ports[1])]
        command += ["--data-dir", str(self.directory / "service")]
        with (self.directory / "service.log").open("ab") as log:
            self.service = subprocess.Popen(command, stdout=log, stderr=log)
        self.starts += 1

    def log(self) -> str:
        return (self.directory / "service.log").read_text(errors="replace")

    def kill(self) -> None:
        assert self.service is not None
        self.service.kill()
        self.service.wait()

    def disturb(self, *rules: dict[str, Any]) -> None:
        """The calls of the cloud are disturbed like this from now on."""
        headers = {"X-Auth-Token": self.admin}
        body = {"disturbances": rules}
        url = f"{self.url}/disturbances"
        answer = httpx.put(url, json=body, headers=headers, timeout=60, verify=NO_CERTIFICATES)
        answer.raise_for_status()

    def counted(self, what: str) -> int:
        """Return the number of calls that the disturbances have ``seen`` or hold back."""
        headers = {"X-Auth-Token": self.admin}
        url = f"{self.url}/disturbances"
        listed = httpx.get(url, headers=headers, timeout=60, verify=NO_CERTIFICATES).json()
        return sum(rule[what] for rule in listed["disturbances"])

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"X-Auth-Token": self.token}
        options = {"headers": headers, "timeout": 60, "verify": NO_CERTIFICATES}
        return httpx.request(method, self.api + path, json=body, **options)

    def create(self, name: str, template: dict[str, Any]) -> str:
        """Ask for a stack; its id."""
        body = {"stack_name": name, "template": template, "timeout_mins": 60}
        answer = self.request("POST", "/stacks", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["stack"]["id"])

    def stacks(self) -> dict[str, str]:
        """Status by name."""
        listed = self.request("GET", "/stacks").json()["stacks"]
        return {stack["stack_name"]: stack["stack_status"] for stack in listed}

    def names(self, paths: Iterable[str]) -> list[str]:
        """The names of all objects in these collections, of the project of the stacks."""
        found: list[str] = []
        for path in paths:
            headers = {"X-Auth-Token": self.token, "X-OpenStack-Nova-API-Version": "2.15"}
            url = self.url + path
            body = httpx.get(url, headers=headers, timeout=60, verify=NO_CERTIFICATES).json()
            [items] = [value for value in body.values() if isinstance(value, list)]
            found += [f"{path.rsplit('/', 1)[-1]} {item.get('name', '')}" for item in items]
        return sorted(found)


@contextmanager
def slow_cloud(directory: Path) -> Iterator[SlowCloud]:
    """A cloud that runs inside the block; its user starts and kills the service."""
    pair = SlowCloud(directory)
    cloud = pair.start_cloud()
    try:
        yield pair
    finally:
        if pair.service is not None and pair.service.poll() is None:
            pair.kill()
        cloud.kill()
        cloud.wait()
        assert cloud.stdout is not None
        cloud.stdout.close()
