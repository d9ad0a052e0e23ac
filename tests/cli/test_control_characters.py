"""Nothing from outside reaches the terminal as a command to it."""

from __future__ import annotations

import json
from typing import Any

import click
import httpx
import pytest
from click.testing import CliRunner

from stoker.cli.client.client import RefusedError
from stoker.cli.client.stacks import ORCHESTRATION
from stoker.cli.console.control_characters import all_visible, is_all_visible, visible
from stoker.cli.console.failures import CommandError
from stoker.cli.console.findings import Finding, as_text
from tests.cli.test_client import client

EVIL = "\x1b]0;PWNED\x07\x1b[2J\x9b31m\x90q\x9c\r\x7f\u202etxt"
SHOWN = r"\x1b]0;PWNED\x07\x1b[2J\x9b31m\x90q\x9c\x0d\x7f\u202etxt"


def test_control_characters_are_written_out() -> None:
    assert visible(EVIL) == SHOWN
    assert visible("ü\tafter\nfeed \N{GRINNING FACE}") == "ü\tafter\nfeed \N{GRINNING FACE}"
    assert all_visible({EVIL: [EVIL, 1, None]}) == {SHOWN: [SHOWN, 1, None]}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_without_control_characters_is_recognized(ascii_only: bool) -> None:
    for code in [*range(0x3000), *range(0xD7F0, 0xD810), 0xFFFE, 0x1F600]:
        text = f"a{chr(code)}b"
        written = json.dumps({"k": [text]}, ensure_ascii=ascii_only)
        assert not is_all_visible(written) or visible(text) == text
    assert is_all_visible(json.dumps({"k": ["a\n\tb", 1, None, 'say "x"']}))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be"])
def test_encoding_of_an_answer_hides_no_control_characters(encoding: str) -> None:
    content = json.dumps({"stack": EVIL[5:]}, ensure_ascii=False).encode(encoding)
    headers = {"content-type": "application/json; charset=us-ascii"}
    answers = client(lambda _: httpx.Response(200, content=content, headers=headers))
    assert answers.get(ORCHESTRATION, "/stacks/s") == {"stack": SHOWN[8:]}


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
