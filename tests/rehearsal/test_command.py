"""The command itself: exit codes, output, and leftovers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.recovery.service import until
from tests.rehearsal.conftest import Rehearse, Write, copy_as

from stoker.cli.client.stacks import find_stack, list_stacks
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError
from stoker.cli.rehearsal.throwaway_cloud import ThrowawayCloud

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GONE_SECONDS = 30.0
VALUE = "resources: {r: {type: OS::Heat::TestResource, properties: {value: VALUE, fail: FAIL}}}\n"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """The directory for temporary directories, which must be empty at the end."""
    found = tmp_path / "temporary"
    found.mkdir()
    yield found
    assert list(found.iterdir()) == []


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "stoker", "rehearse", *arguments]


def environment(directory: Path, **more: str) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
    return {**own, "TMPDIR": str(directory), "STOKER_DATA_DIR": str(directory / "none"), **more}


def test_create_is_reported_in_json_and_junit(tmp_path: Path, directory: Path) -> None:
    junit = tmp_path / "out.xml"
    template = tmp_path / "app.yaml"
    text = VALUE.replace("VALUE", "a").replace("FAIL", "false")
    template.write_text(f"heat_template_version: 2018-08-31\n{text}")
    done = subprocess.run(
        command(str(template), "--json", "--junit", str(junit)),
        env=environment(directory),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["passed"]
    assert [each["scenario"] for each in report["scenarios"]] == ["plain", "rollback"]
    cases = ET.parse(junit).findall("testsuite/testcase")
    assert [case.get("name") for case in cases] == ["plain", "rollback"]
    assert ET.parse(junit).find(".//failure") is None


def test_failing_update_of_existing_stack_exits_with_one(
    cloud: ThrowawayCloud, written: Write, tmp_path: Path, directory: Path
) -> None:
    first = written(VALUE.replace("VALUE", "a").replace("FAIL", "false"), "shop")
    cloud.client.call("orchestration", "POST", "/stacks", first.create_body())
    written(VALUE.replace("VALUE", "b").replace("FAIL", "true"), "next")
    junit = tmp_path / "out.xml"
    given = (str(tmp_path / "next.yaml"), "--stack", "shop", "--no-rollback", "--junit", str(junit))
    configuration = str(cloud.directory / "clouds.yaml")
    try:
        done = subprocess.run(
            command(*given),
            env=environment(directory, OS_CLOUD="stoker", OS_CLIENT_CONFIG_FILE=configuration),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        made = find_stack(cloud.client, "shop")
        assert made is not None
        cloud.client.call("orchestration", "DELETE", made.path)
        until(lambda: not list_stacks(cloud.client), "the stack is deleted")
    assert done.returncode == 1, done.stderr
    assert "shop: plain failed" in done.stdout
    failure = ET.parse(junit).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "it does not complete: UPDATE_FAILED"


def test_unknown_stack_and_import_are_input_errors(cloud: ThrowawayCloud, directory: Path) -> None:
    configuration = str(cloud.directory / "clouds.yaml")
    variables = environment(directory, OS_CLOUD="stoker", OS_CLIENT_CONFIG_FILE=configuration)
    for option, words in (("--stack=no", 'no stack "no"'), ("--import=r=1", "--import")):
        done = subprocess.run(
            command(str(EXAMPLES / "hello.yaml"), option),
            env=variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert words in done.stderr


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)],
)
def test_interrupted_command_leaves_nothing(directory: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        command(str(EXAMPLES / "web-app.yaml")),
        env=environment(directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + GONE_SECONDS
        while not list(directory.glob("*/cloud/servers/*")):
            assert time.monotonic() < deadline, "no server was started"
            assert process.poll() is None
            time.sleep(0.05)
        assert processes_of(directory)
        process.send_signal(number)
        assert process.wait(GONE_SECONDS) != 0
    finally:
        process.kill()
        process.communicate()
    deadline = time.monotonic() + GONE_SECONDS
    while list(directory.iterdir()) or processes_of(directory):
        assert time.monotonic() < deadline, processes_of(directory)
        time.sleep(0.05)


def processes_of(directory: Path) -> list[str]:
    """Return the command lines that name the directory."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes()
        except OSError:
            continue
        if os.fsencode(directory) in line:
            found.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return found


def test_wrong_parameter_of_update_is_input_error(rehearse: Rehearse, written: Write) -> None:
    text = VALUE.replace("VALUE", "a").replace("FAIL", "false")
    copied = copy_as(written(text, "shop"))
    with pytest.raises(InputError) as refused:
        rehearse(written(text, "shop", unknown="1"), copied)
    assert isinstance(refused.value, DocumentError)
    assert "unknown" in refused.value.findings[0].message
