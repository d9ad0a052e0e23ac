"""Nothing from outside reaches the terminal as a command to it."""

from __future__ import annotations

from typing import Any

import click
import httpx
import pytest
from click.testing import CliRunner

from stoker.cli.client.client import RefusedError
from stoker.cli.client.stacks import ORCHESTRATION
from stoker.cli.console.control_characters import all_visible, visible
from stoker.cli.console.failures import CommandError
from stoker.cli.console.findings import Finding, as_text
from tests.cli.test_client import client

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\x90q\x9c\r\x7f\u202etxt"
SHOWN = r"\x1b]0;PWNED\x07\x1b[2J\x9b31m\x90q\x9c\x0d\x7f\u202etxt"


def test_control_characters_are_written_out() -> None:
    assert visible(EVIL) == SHOWN
    assert visible("ü\tafter\nfeed \N{GRINNING FACE}") == "ü\tafter\nfeed \N{GRINNING FACE}"
    assert all_visible({EVIL: [EVIL, 1, None]}) == {SHOWN: [SHOWN, 1, None]}


def test_answers_of_services_hold_no_control_characters() -> None:
    stack = {"stack_name": "s", "outputs": [{EVIL: EVIL}], "number": 4}
    with_stack = client(lambda _: httpx.Response(200, json={"stack": stack}))
    found = with_stack.get(ORCHESTRATION, "/stacks/s")["stack"]
    assert found == {"stack_name": "s", "outputs": [{SHOWN: SHOWN}], "number": 4}


def test_refusals_of_services_hold_no_control_characters() -> None:
    body = {"error": {"message": EVIL, "type": "Invalid"}}
    refuses = client(lambda _: httpx.Response(400, json=body))
    with pytest.raises(RefusedError) as refused:
        refuses.get(ORCHESTRATION, "/stacks/s")
    assert SHOWN in refused.value.message
    assert EVIL not in refused.value.message


def test_failures_are_printed_without_control_characters() -> None:
    @click.command()
    def command() -> Any:
        raise CommandError(f"there is no file {EVIL}")

    assert CliRunner().invoke(command).output == f"stoker: there is no file {SHOWN}\n"


def test_findings_are_printed_without_control_characters() -> None:
    finding = Finding("t.yaml", 1, 1, "error", "code", f"message {EVIL}", f"path {EVIL}")
    printed = click.unstyle(as_text([finding], {"t.yaml": f"line {EVIL}"}))
    assert "\x1b" not in printed
    assert "\x9b" not in printed
    assert all(f"{what} {SHOWN[:20]}" in printed for what in ("message", "path", "line"))
