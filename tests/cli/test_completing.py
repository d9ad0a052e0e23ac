"""Names that shells complete, against a running service."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Served, command_line, environment_without_cloud

TEMPLATE = """heat_template_version: 2018-08-31
parameters:
  length: {type: number, default: 8}
  letters: {type: string, default: a}
outputs:
  random: {value: {get_attr: [first, value]}}
  server_name: {value: {get_attr: [server, name]}}
resources:
  first: {type: OS::Heat::RandomString}
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{network: private}]}
"""


def completed(data_dir: Path, *words: str, timeout: float = 60, **more: str) -> list[str]:
    environment = {
        **environment_without_cloud(),
        **more,
        "STOKER_DATA_DIR": str(data_dir),
        "_STOKER_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["stoker", *words]),
        "COMP_CWORD": str(len(words)),
    }
    program = Path(command_line()[0]).with_name("stoker")
    done = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env=environment,
        cwd=os.fspath(data_dir),
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_stacks_resources_servers_and_parameters_are_completed(
    service: Served, tmp_path: Path
) -> None:
    template = tmp_path / "completed.yaml"
    template.write_text(TEMPLATE)
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output
    assert "completed" in completed(service.data_dir, "status", "comp")
    assert completed(service.data_dir, "why", "completed", "") == ["first", "server"]
    assert completed(service.data_dir, "logs", "completed", "s") == ["server"]
    assert completed(service.data_dir, "events", "completed", "f") == ["first"]
    assert completed(service.data_dir, "output", "completed", "") == ["random", "server_name"]
    assert "completed" in completed(service.data_dir, "cancel", "")
    assert "completed" in completed(service.data_dir, "deploy", str(template), "--name", "com")
    assert completed(service.data_dir, "deploy", str(template), "-P", "le") == [
        "length=",
        "letters=",
    ]
    made = service.run("snapshot", "create", "completed", "--name", "early", "--json")
    assert json.loads(made.stdout)["name"] == "early"
    assert completed(service.data_dir, "snapshot", "restore", "completed", "") == ["early"]
    gone = service.run("destroy", "completed", "--yes", "--json")
    assert json.loads(gone.stdout)["state"] == "DELETE_COMPLETE"


def test_stacks_are_completed_after_data_directory(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "elsewhere.yaml"
    template.write_text("heat_template_version: 2018-08-31\nresources: {}\n")
    assert service.run("deploy", str(template)).exit_code == 0
    words = ("status", "--data-dir", str(service.data_dir), "else")
    assert completed(tmp_path, *words) == ["elsewhere"]
    assert completed(tmp_path, *words, OS_CLOUD="another") == ["elsewhere"]
    assert service.run("destroy", "elsewhere", "--yes").exit_code == 0


@pytest.mark.parametrize("content", ["clouds: [", "clouds: {stoker: {auth: 7}}"])
def test_completion_with_broken_credentials_is_silent(tmp_path: Path, content: str) -> None:
    (tmp_path / "clouds.yaml").write_text(content)
    assert completed(tmp_path, "status", "") == []


def test_completion_gives_up_on_hanging_service(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/identity/v3"
        auth = f"auth_url: {url}, username: a, password: b, project_name: c"
        (tmp_path / "clouds.yaml").write_text(f"clouds: {{stoker: {{auth: {{{auth}}}}}}}\n")
        assert completed(tmp_path, "status", "", timeout=20) == []


def test_completion_without_service_is_silent(tmp_path: Path) -> None:
    assert completed(tmp_path, "status", "") == []
    assert completed(tmp_path, "deploy", "absent.yaml", "-P", "") == []
