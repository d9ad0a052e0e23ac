"""The files in ``deploy/`` fit the command and each other."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from stoker.cli.configuration import findings_in
from stoker.cli.main import main
from stoker.config.files import ConfigFiles

DEPLOY = Path(__file__).parents[2] / "deploy"
CONFIGURATION = DEPLOY / "stoker.conf"
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
COMPOSE: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
INSTANCE = "8005"


def started_by(unit: Path) -> list[str]:
    [line] = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    program, *arguments = shlex.split(line.replace("%i", INSTANCE))
    assert program == "/opt/stoker/bin/stoker"
    return arguments


def started_by_image(name: str) -> list[str]:
    dockerfile = (DEPLOY / name).read_text()
    assert re.findall(r"^ENTRYPOINT (.*)$", dockerfile, re.MULTILINE) == ['["stoker"]']
    [command] = re.findall(r"^CMD (.*)$", dockerfile, re.MULTILINE)
    found: list[str] = yaml.safe_load(command)
    return found


def written_in_the_readme() -> list[list[str]]:
    text = (DEPLOY / "README.md").read_text()
    lines = re.findall(r"(?:^\$|exec engine) stoker (.*)$", text, re.MULTILINE)
    return [shlex.split(line.replace("deploy/stoker.conf", str(CONFIGURATION))) for line in lines]


COMMANDS = {
    **{unit.name: started_by(unit) for unit in UNITS},
    **{
        f"compose {name}": service["command"]
        for name, service in COMPOSE["services"].items()
        if "command" in service
    },
    "image": started_by_image("Dockerfile"),
    "image local": started_by_image("Dockerfile.local"),
    **{f"readme {' '.join(words)}": words for words in written_in_the_readme()},
}


def accepted(words: list[str]) -> click.Context:
    """Return the meaning of the command line; raise UsageError if it is refused."""
    words = [str(CONFIGURATION) if w == "/etc/stoker/stoker.conf" else w for w in words]
    command: click.Command = main
    context = click.Context(main)
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    return command.make_context(context.info_name, words, parent=context.parent)


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_the_command_accepts_what_is_started(words: list[str]) -> None:
    assert accepted(words).args == []


def test_command_lines_are_found_in_all_files() -> None:
    for expected in (
        "stoker.service",
        "stoker-api.service",
        "stoker-engine@.service",
        "compose engine",
        "image",
    ):
        assert expected in COMMANDS
    assert sum(name.startswith("readme") for name in COMMANDS) == 3


def test_a_command_line_that_is_wrong_is_refused() -> None:
    with pytest.raises(click.UsageError):
        accepted(["engine", "--ports", "1"])


def test_placeholders_of_the_configuration_are_reported() -> None:
    found = findings_in(ConfigFiles((CONFIGURATION,), ()))
    assert [finding.option for finding in found] == [
        "[DEFAULT] auth_encryption_key",
        "[DEFAULT] stack_domain_admin_password",
        "[keystone_authtoken] password",
        "[metrics] token",
    ]


def test_configuration_without_placeholders_needs_nothing(tmp_path: Path) -> None:
    edited = tmp_path / "stoker.conf"
    edited.write_text(CONFIGURATION.read_text().replace("CHANGE-ME", "0123456789abcdef" * 2))
    assert [str(finding) for finding in findings_in(ConfigFiles((edited,), ()))] == []


def test_containers_are_asked_where_they_answer() -> None:
    services = COMPOSE["services"]
    assert services["engine"]["deploy"]["replicas"] == 3
    for name in ("api-1", "api-2", "engine"):
        asked = re.findall(
            r"127\.0\.0\.1:(\d+)/healthcheck", services[name]["healthcheck"]["test"][-1]
        )
        port = accepted(services[name]["command"]).params["port"] or 8004
        assert asked == [str(port)]


def test_balancer_knows_containers_and_publishes_ports() -> None:
    text = (DEPLOY / "haproxy.cfg").read_text()
    servers = set(re.findall(r"server (\S+) (\S+):(\d+)", text))
    expected = {
        (name, name, port) for name in ("api-1", "api-2") for port in ("8004", "8000", "8003")
    }
    assert servers == expected
    bound = re.findall(r"bind :(\d+)", text)
    assert COMPOSE["services"]["balancer"]["ports"] == [f"{port}:{port}" for port in bound]


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.local"])
def test_images_run_without_root_and_check_their_health(name: str) -> None:
    text = (DEPLOY / name).read_text()
    assert "\nUSER 10001:10001\n" in text
    [port] = re.findall(r"127\.0\.0\.1:(\d+)/healthcheck", text)
    exposed = re.findall(r"^EXPOSE (.*)$", text, re.MULTILINE)[0].split()
    assert port in exposed
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE)
    allowed = re.findall(r"^!(.*)$", (DEPLOY / f"{name}.dockerignore").read_text(), re.MULTILINE)
    assert {path for line in copied for path in line.split()} <= set(allowed)


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in UNITS:
        runs = unit.read_text().replace("/opt/stoker/bin/stoker", sys.executable)
        (tmp_path / unit.name).write_text(runs)
    verified = subprocess.run(
        [program, "verify", *(str(tmp_path / unit.name) for unit in UNITS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [verified.returncode, verified.stderr] == [0, ""]
