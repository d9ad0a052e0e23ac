"""The command ``python -m localcloud serve`` as other programs see it."""

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cloud_testing.ports import free_port

_SECONDS = 30
_FS_IOC_GETFLAGS, _FS_TOPDIR_FL = 0x80086601, 0x20000  # of ioctl_iflags(2)


class Process:
    """A local cloud without servers, in a process of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self._start()

    def command(self) -> list[str]:
        options = ["--no-servers", "--data-dir", str(self.data_dir), "--port", str(self.port)]
        foreign = "orchestration=http://127.0.0.1:8004/v1/%(project_id)s"
        options += ["--service", foreign, "--parent", str(os.getpid())]
        return [sys.executable, "-m", "localcloud", "serve", *options]

    def _start(self) -> "subprocess.Popen[str]":
        process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == f"ready {self.url}\n"
        return process

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def again(self) -> None:
        self.process = self._start()

    def environment(self, user: str) -> dict[str, str]:
        """Variables that make the openstack command this user."""
        path = self.data_dir / "cloud" / "clouds.yaml"
        return {"OS_CLIENT_CONFIG_FILE": str(path), "OS_CLOUD": user}

    def token(self, user: str) -> httpx.Response:
        credentials = json.loads((self.data_dir / "cloud" / "credentials.json").read_text())
        password = credentials["users"][user]["password"]
        account = {"name": user, "domain": {"id": "default"}, "password": password}
        auth = {"identity": {"methods": ["password"], "password": {"user": account}}}
        return httpx.post(f"{credentials['auth_url']}/auth/tokens", json={"auth": auth})


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    running = Process(tmp_path)
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGTERM)


def test_process_ends_cleanly_on_sigterm(process: Process) -> None:
    assert httpx.get(f"{process.url}/healthcheck").text == "OK"
    types = {v["service_type"] for v in httpx.get(process.url).json()["versions"]}
    assert {"identity", "image", "network", "compute"} <= types
    assert process.end(signal.SIGTERM) == 0


def test_acknowledged_changes_survive_kill_9(process: Process) -> None:
    headers = {"X-Auth-Token": process.token("admin").headers["x-subject-token"]}
    path = f"{process.url}/identity/v3/projects"
    ids = set()
    for number in range(20):
        made = httpx.post(path, json={"project": {"name": f"p{number}"}}, headers=headers)
        ids.add(made.json()["project"]["id"])
    process.end(signal.SIGKILL)
    process.again()
    kept = httpx.get(path, headers=headers).json()["projects"]
    assert ids <= {project["id"] for project in kept}


def test_ext4_spreads_directories_of_servers(process: Process) -> None:
    servers = process.data_dir / "cloud/servers"
    command = ["stat", "--file-system", "--format=%T", str(servers)]
    kind = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if kind != "ext2/ext3":  # which is ext4, too
        pytest.skip(f"the data is on {kind}, not on ext4")
    opened = os.open(servers, os.O_RDONLY)
    try:
        (flags,) = struct.unpack("=i", fcntl.ioctl(opened, _FS_IOC_GETFLAGS, bytes(4)))
    finally:
        os.close(opened)
    assert flags & _FS_TOPDIR_FL


def test_a_taken_port_is_reported(process: Process, tmp_path: Path) -> None:
    second = [*process.command(), "--data-dir", str(tmp_path / "other")]
    found = subprocess.run(second, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert found.returncode == 1
    assert f"port {process.port}" in found.stderr
    assert "Traceback" not in found.stderr


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys;"
        "command = [*sys.argv[1:], '--parent', str(os.getpid())];"
        "child = subprocess.Popen(command, stdout=subprocess.PIPE);"
        "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()"
    )
    port = str(free_port())
    command = ["-m", "localcloud", "serve", "--no-servers", "--data-dir", str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", script, sys.executable, *command, "--port", port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended, _, _ = select.select([child], [], [], _SECONDS)
    os.close(child)
    assert ended


def openstack(process: Process, user: str, commands: list[str]) -> list[Any]:
    """Run commands in one session of the real client; return the parsed output of each."""
    client = Path(sys.executable).parent / "openstack"
    if not client.exists():
        pytest.skip("python-openstackclient is not installed")
    found = subprocess.run(
        [client],
        input="".join(f"{command} -f json\n" for command in commands),
        env={**os.environ, **process.environment(user)},
        capture_output=True,
        text=True,
        timeout=4 * _SECONDS,
        check=False,
    )
    assert found.stderr == "", found.stdout
    decoder, text, results = json.JSONDecoder(), found.stdout.strip(), []
    while text:
        result, end = decoder.raw_decode(text)
        results.append(result)
        text = text[end:].strip()
    assert len(results) == len(commands), found.stdout + found.stderr
    return results


def test_the_openstack_command_works_on_identity_and_images(
    process: Process, tmp_path: Path
) -> None:
    data = tmp_path / "image.raw"
    data.write_bytes(b"x" * 1000)
    results = openstack(
        process,
        "admin",
        [
            "token issue",
            "catalog list",
            "project create p1 --tag a",
            "user create u1 --project p1 --password s",
            "role create r1",
            "role list",
            "project list",
            "user list",
            f"image create i1 --disk-format raw --container-format bare --file {data}",
            "image show i1",
            "image list",
            "ec2 credentials create",
            "trust create --project admin --role member admin demo",
            "application credential create ac1 --role member",
            "role assignment list --user admin --project admin --names",
        ],
    )
    token, catalog, project, user, role, roles, projects, users, *rest = results
    made, image, images, key, trust, application, assignments = rest
    assert token["project_id"] in {p["ID"] for p in projects}
    assert {"identity", "image", "orchestration"} <= {entry["Type"] for entry in catalog}
    assert project["id"] in {p["ID"] for p in projects}
    assert user["default_project_id"] == project["id"]
    assert user["id"] in {u["ID"] for u in users}
    assert role["id"] in {r["ID"] for r in roles}
    assert (made["id"], image["status"], image["size"]) == (image["id"], "active", 1000)
    assert {i["Name"] for i in images} >= {"host", "i1", "cirros", "debian"}
    assert (len(key["access"]), key["project_id"]) == (32, token["project_id"])
    assert trust["trustor_user_id"] == token["user_id"]
    assert application["Secret"]
    assert [a["Role"] for a in assignments] == ["admin"]


def test_the_openstack_command_deletes_and_reports_errors(process: Process) -> None:
    client = Path(sys.executable).parent / "openstack"
    if not client.exists():
        pytest.skip("python-openstackclient is not installed")
    commands = ["project create p", "project delete p", "project show p", "user list"]
    found = subprocess.run(
        [client],
        input="\n".join(commands) + "\n",
        env={**os.environ, **process.environment("admin")},
        capture_output=True,
        text=True,
        timeout=4 * _SECONDS,
        check=False,
    )
    assert "No Project found for p" in found.stdout + found.stderr
    assert "stoker" in found.stdout


def test_connections_are_cut_as_configured(process: Process) -> None:
    headers = {"X-Auth-Token": process.token("admin").headers["x-subject-token"]}
    path = f"{process.url}/identity/v3/projects"

    def names() -> set[str]:
        return {p["name"] for p in httpx.get(path, headers=headers).json()["projects"]}

    for outcome, error in (
        ("reset", httpx.ReadError),
        ("lose", httpx.ReadError),
        ("truncate", httpx.RemoteProtocolError),
    ):
        rules = {"disturbances": [{"method": "POST", "outcome": outcome}]}
        changed = httpx.put(f"{process.url}/disturbances", json=rules, headers=headers)
        assert changed.status_code == 200
        with pytest.raises(error):
            httpx.post(path, json={"project": {"name": outcome}}, headers=headers)
    assert {"lose", "truncate"} <= names()
    assert "reset" not in names()
    assert process.end(signal.SIGTERM) == 0
