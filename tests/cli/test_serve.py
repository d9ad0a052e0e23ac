"""``stoker serve`` and ``stoker stop``: processes, ports, locks."""

from __future__ import annotations

import contextlib
import socket
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from stoker.cli.arguments.data_dir import DataDirLock, Running, running_in
from tests.cli.conftest import (
    Served,
    command_line,
    end,
    environment_without_cloud,
    free_port,
    serve_command,
    start,
    stoker,
)


def test_ready_service_writes_openstack_client_files(service: Served) -> None:
    clouds = yaml.safe_load((service.data_dir / "clouds.yaml").read_text())["clouds"]
    auth = clouds["stoker"]["auth"]
    assert auth["auth_url"] == f"http://127.0.0.1:{service.cloud_port}/identity/v3"
    assert f"OS_AUTH_URL={auth['auth_url']}" in (service.data_dir / "openrc").read_text()
    for name in ("clouds.yaml", "openrc"):
        assert stat.S_IMODE((service.data_dir / name).stat().st_mode) == 0o600


def test_second_service_in_directory_is_refused(
    service: Served,
) -> None:
    command = serve_command(service.data_dir, free_port(), free_port())
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert str(service.process.pid) in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--port", "--cloud-port"])
def test_busy_port_is_named_with_its_option(tmp_path: Path, option: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        busy = other.getsockname()[1]
        ports = {"--port": free_port(), "--cloud-port": free_port(), option: busy}
        command = serve_command(tmp_path, ports["--port"], ports["--cloud-port"])
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"port {busy}" in done.stderr
    assert option in done.stderr
    assert "Traceback" not in done.stderr


def test_service_with_taken_ports_finds_and_keeps_others(tmp_path: Path) -> None:
    with socket.socket() as api, socket.socket() as cloud:
        taken = []
        for other, port in ((api, 8004), (cloud, 35357)):
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):  # a port of another process is taken, too
                other.bind(("127.0.0.1", port))
                other.listen()
            taken.append(port)
        command = command_line("serve", "--data-dir", str(tmp_path))
        urls = []
        for _ in range(2):
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            assert process.stdout is not None
            urls.append(process.stdout.readline())
            end(Served(tmp_path, 0, 0, process))
    assert urls[0].startswith("ready http://127.0.0.1:")
    assert int(urls[0].rpartition(":")[2]) not in taken
    assert urls[0] == urls[1]


def test_killed_service_restarts_immediately_with_its_stacks(tmp_path: Path) -> None:
    template = tmp_path / "one.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\nresources: {r: {type: OS::Heat::RandomString}}\n"
    )
    first = start(tmp_path / "data", free_port(), free_port())
    assert first.run("deploy", str(template)).exit_code == 0
    first.process.kill()
    first.process.wait(10)
    assert first.process.stdout is not None
    first.process.stdout.close()
    second = start(first.data_dir, first.port, first.cloud_port)
    status = second.run("status", "one")
    assert "CREATE_COMPLETE" in status.output
    assert end(second) == 0
    assert running_in(first.data_dir) is None


def test_stop_ends_service_or_reports_none(tmp_path: Path) -> None:
    served = start(tmp_path, free_port(), free_port())
    assert served.run("stop").exit_code == 0
    assert served.process.wait(10) == 0
    assert served.process.stdout is not None
    served.process.stdout.close()
    assert served.run("stop").output.startswith("No service runs in ")


def test_wrong_configuration_file_is_refused_without_traceback(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.conf"
    wrong.write_text("[DEFAULT]\nmax_template_size = many\n")
    command = serve_command(tmp_path / "data", free_port(), free_port())
    command += ["--no-local-cloud", "--config-file", str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "max_template_size" in done.stderr
    assert "Traceback" not in done.stderr


def test_commands_without_service_suggest_starting_one() -> None:
    done = stoker("status")
    assert done.exit_code == 1
    assert "stoker serve" in done.output


def test_followed_operation_survives_a_killed_service(
    tmp_path: Path,
) -> None:
    template = tmp_path / "slow.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {r: {type: OS::Heat::TestResource, properties: {wait_secs: 5}}}\n"
    )
    first = start(tmp_path / "data", free_port(), free_port())
    following = subprocess.Popen(
        command_line("deploy", str(template), "--data-dir", str(first.data_dir)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment_without_cloud(), "PYTHONUNBUFFERED": "1"},
    )
    assert following.stdout is not None
    assert "CREATE_IN_PROGRESS" in following.stdout.readline()
    first.process.kill()
    first.process.wait(10)
    assert first.process.stdout is not None
    first.process.stdout.close()
    second = start(first.data_dir, first.port, first.cloud_port)
    said, complaints = following.communicate(timeout=60)
    assert end(second) == 0
    assert following.returncode == 0
    # whether the stream breaks, or something is asked while nothing answers, is a matter of luck
    assert all("waiting for it" in line for line in complaints.splitlines())
    assert "CREATE_COMPLETE      slow" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "[database]\nconnection = mysql+pymysql://heat:hidden@controller/heat\n",
            "names a mysql database",
        ),
        ("[keystone_authtoken]\nauth_url =\n", "needs auth_url"),
        ("[DEFAULT]\nmax_stacks_per_tenant = many\n", "max_stacks_per_tenant"),
        ("no section\n", "no section"),
        ("[DEFAULT]\nenvironment_dir = BAD\n", "resource_registry"),
    ],
)
def test_bad_configuration_is_reported_in_one_line(tmp_path: Path, content: str, said: str) -> None:
    identity = "[keystone_authtoken]\nauth_url = http://127.0.0.1:9/v3\nusername = stoker\n"
    (tmp_path / "environment.d").mkdir()
    (tmp_path / "environment.d/bad.yaml").write_text("resource_registry: [1]\n")
    file = tmp_path / "heat.conf"
    content = content.replace("BAD", str(tmp_path / "environment.d"))
    file.write_text(content if "keystone" in content else f"{identity}{content}")
    command = serve_command(tmp_path / "data", free_port(), free_port())
    command += ["--no-local-cloud", "--config-file", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "cannot be used" in line]
    assert len(lines) == 1
    assert said in lines[0]
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr


def test_only_the_owner_can_read_data_directory(service: Served) -> None:
    assert stat.S_IMODE(service.data_dir.stat().st_mode) == 0o700
    for path in service.data_dir.iterdir():
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def test_starting_service_is_not_ready_like_its_predecessor(tmp_path: Path) -> None:
    last = DataDirLock(tmp_path)
    last.acquire()
    last.write(Running(1, "http://127.0.0.1:8004", ready=True))
    last.release()
    starting = DataDirLock(tmp_path)
    starting.acquire()
    try:
        found = running_in(tmp_path)
    finally:
        starting.release()
    assert found == Running(1, "http://127.0.0.1:8004")
