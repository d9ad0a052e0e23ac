"""Output of the command about itself and about the machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from stoker.cli.machine import examine
from stoker.cli.main import COMMANDS, main
from tests.cli.conftest import EXAMPLES, free_port, stoker


def test_help_lists_commands_and_first_step() -> None:
    done = stoker("--help")
    assert done.exit_code == 0
    assert "stoker deploy examples/web-app.yaml" in done.output
    for name in COMMANDS:
        assert f"\n  {name} " in done.output


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_teaches_by_examples(name: str) -> None:
    done = stoker(name, "--help")
    assert done.exit_code == 0
    assert f"stoker {name}" in done.output.partition("Examples")[2]


# Commands whose output is a text for another program, or only says that something is done.
WITHOUT_JSON = {
    "serve", "api", "engine", "stop", "logs", "open", "ssh", "exec", "completion", "config sample",
    "policy sample", "db backup", "db rotate-key", "db forget-keys", "snapshot delete",
    "fmt", "schema", "new", "console", "convert", "lsp",
}  # fmt: skip


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def test_every_command_with_data_has_json() -> None:
    assert isinstance(main, click.Group)
    without = {
        name
        for name, command in commands(main)
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == WITHOUT_JSON


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_call_the_command(shell: str) -> None:
    done = stoker("completion", shell)
    assert done.exit_code == 0
    assert "_STOKER_COMPLETE" in done.output


def test_an_unknown_command_is_bad_input() -> None:
    done = stoker("destory")
    assert done.exit_code == 2
    assert 'did you mean "destroy"?' in done.output
    assert "Traceback" not in done.output


def test_a_parameter_without_a_value_is_bad_input() -> None:
    done = stoker("deploy", "x.yaml", "-P", "title")
    assert done.exit_code == 2
    assert "NAME=VALUE" in done.output


def ports() -> list[str]:
    return ["--port", str(free_port()), "--cloud-port", str(free_port())]


def test_doctor_json_shows_good_and_needed_checks() -> None:
    done = stoker("doctor", "--json", *ports())
    checks = {check["name"]: check for check in json.loads(done.output)}
    assert checks["memory"]["detail"]
    assert checks["security groups"]["good"] in (True, False)
    lacking = any(check["needed"] and not check["good"] for check in checks.values())
    assert done.exit_code == (1 if lacking else 0)


def test_doctor_lacks_a_chosen_port_that_is_busy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        busy = other.getsockname()[1]
        done = stoker("doctor", "--port", str(busy), "--cloud-port", str(free_port()))
    assert done.exit_code == 1
    assert f"lacks  port {busy}" in done.output
    assert "stoker serve --port PORT" in done.output


def test_doctor_notes_a_usual_port_that_is_busy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        busy = other.getsockname()[1]
        checks = examine(tmp_path, {"--port": busy}, own=frozenset(), chosen=frozenset())
    [found] = [check for check in checks if check.name == f"port {busy}"]
    assert not found.good
    assert not found.needed
    assert found.detail == "taken; a free port is used instead"


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--data-dir", "/proc/nothing"),
        ("serve", "--host", "no.such.host.invalid"),
        ("serve", "--port", "80000"),
        ("deploy", "web-app.yaml", "--data-dir", "/proc/nothing"),
        ("deploy", "no-such-file.yaml"),
        ("deploy", "."),
        ("validate", "/dev/null"),
        ("status", "--url", "http://["),
        ("logs", "x", "--url", "nonsense"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("OS_AUTH_URL", "http://127.0.0.1:9")
    for name in ("USERNAME", "PASSWORD", "PROJECT_NAME"):
        monkeypatch.setenv(f"OS_{name}", "x")
    if arguments[:2] == ("deploy", "web-app.yaml"):
        monkeypatch.delenv("OS_AUTH_URL")
    done = stoker(*arguments)
    assert done.exit_code in (1, 2)
    assert isinstance(done.exception, SystemExit)
    assert done.output.strip()
