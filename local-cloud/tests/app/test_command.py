"""The command ``localcloud``, used without Stoker."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from cloud_testing.ports import free_port

_SECONDS = 60


class Command:
    """``localcloud`` on one data directory."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir

    def __call__(self, *words: str, code: int = 0) -> str:
        """Return the output of a command that ends with this code, or its errors."""
        done = subprocess.run(
            [sys.executable, "-m", "localcloud", *words, "--data-dir", str(self.data_dir)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr if code else done.stdout

    def variables(self, *words: str) -> dict[str, str]:
        """The variables of a shell that has evaluated ``localcloud env``."""
        script = f'eval "$1"; exec {sys.executable} -c "$2"'
        program = "import json, os; print(json.dumps(dict(os.environ)))"
        exports = self("env", *words)
        found = subprocess.run(
            ["sh", "-c", script, "sh", exports, program], capture_output=True, check=True
        )
        return {k: v for k, v in json.loads(found.stdout).items() if k.startswith("OS_")}


@pytest.fixture
def localcloud(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path / "data")
    yield command
    command("down")


def token(variables: dict[str, str]) -> httpx.Response:
    user = {
        "name": variables["OS_USERNAME"],
        "password": variables["OS_PASSWORD"],
        "domain": {"id": variables["OS_USER_DOMAIN_ID"]},
    }
    project = {
        "name": variables["OS_PROJECT_NAME"],
        "domain": {"id": variables["OS_PROJECT_DOMAIN_ID"]},
    }
    identity = {"methods": ["password"], "password": {"user": user}}
    auth = {"identity": identity, "scope": {"project": project}}
    return httpx.post(f"{variables['OS_AUTH_URL']}/auth/tokens", json={"auth": auth})


def test_background_cloud_is_used_stopped_and_resumed(localcloud: Command) -> None:
    port = free_port()
    options = ("--port", str(port), "--no-servers", "--region", "here")
    told = localcloud("up", *options, "--service", "orchestration=http://127.0.0.1:9/v1")
    assert f"http://127.0.0.1:{port}" in told
    assert f"localcloud env --data-dir {localcloud.data_dir}" in told
    assert localcloud("up") == told  # the same process

    demo = localcloud.variables()
    issued = token(demo)
    assert issued.status_code == 201
    catalog = {entry["type"]: entry for entry in issued.json()["token"]["catalog"]}
    assert {"compute", "orchestration"} <= catalog.keys()
    assert {e["region"] for e in catalog["compute"]["endpoints"]} == {"here"}
    admin = token(localcloud.variables("--user", "admin"))
    assert "admin" in {role["name"] for role in admin.json()["token"]["roles"]}
    clouds = yaml.safe_load(localcloud("env", "--clouds-yaml"))["clouds"]
    assert clouds["localcloud"]["auth"]["password"] == demo["OS_PASSWORD"]
    assert clouds["localcloud-admin"]["auth"]["username"] == "admin"

    assert localcloud("down") == ""
    with pytest.raises(httpx.ConnectError):
        token(demo)
    assert "no cloud runs" in localcloud("down")
    localcloud("up", "--no-servers")
    assert token(demo).status_code == 201  # where it was before, with the passwords it had


def test_what_keeps_a_cloud_from_starting_is_said(localcloud: Command, tmp_path: Path) -> None:
    port = str(free_port())
    localcloud("up", "--no-servers", "--port", port)
    other = Command(tmp_path / "other")
    assert f"cannot listen on 127.0.0.1 port {port}" in other(
        "up", "--no-servers", "--port", port, code=1
    )
    assert "no cloud runs" in other("down")


def test_a_cloud_whose_port_is_taken_has_another(localcloud: Command, tmp_path: Path) -> None:
    port = str(free_port())
    localcloud("up", "--no-servers", "--port", port)
    localcloud("down")
    with socket.create_server(("127.0.0.1", int(port))):
        told = localcloud("up", "--no-servers")
    assert f"http://127.0.0.1:{port} " not in told
    assert token(localcloud.variables()).status_code == 201


def test_where_there_is_no_cloud_none_is_described(localcloud: Command) -> None:
    assert '"localcloud up" makes one' in localcloud("env", code=1)
    assert "not of the form TYPE=http" in localcloud("up", "--service", "compute", code=2)
