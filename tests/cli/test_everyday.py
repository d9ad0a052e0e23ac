"""Outputs, events and lists of stacks, and cancels, against a running service."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Served, command_line, environment_without_cloud

OUTPUTS = """heat_template_version: 2018-08-31
resources:
  zero: {type: OS::Heat::Value, properties: {value: 0, type: number}}
  inner: {type: inner.yaml}
outputs:
  address: {value: http://127.0.0.1/}
  key: {value: "first\\nsecond\\n"}
  bell: {value: "a\\x07b"}
  list: {value: [1, two]}
  broken:
    value: {yaql: {expression: 1 / $.data, data: {get_attr: [zero, value]}}}
"""
INNER = """heat_template_version: 2018-08-31
resources:
  word: {type: OS::Heat::RandomString}
"""
SLOW = """heat_template_version: 2018-08-31
parameters:
  seconds: {type: number, default: 0}
resources:
  slow:
    type: OS::Heat::TestResource
    properties:
      value: {get_param: seconds}
      action_wait_secs: {create: {get_param: seconds}, update: {get_param: seconds}}
"""


@pytest.fixture(scope="module")
def known(service: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A stack with outputs and a nested stack."""
    directory = tmp_path_factory.mktemp("known")
    (directory / "known.yaml").write_text(OUTPUTS)
    (directory / "inner.yaml").write_text(INNER)
    done = service.run("deploy", str(directory / "known.yaml"), "--tags", "first,second")
    assert done.exit_code == 0, done.output
    yield "known"
    assert service.run("destroy", "known", "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("address", "http://127.0.0.1/\n"),
        ("key", "first\nsecond\n"),
        ("bell", "a\x07b\n"),
        ("list", '[\n  1,\n  "two"\n]\n'),
    ],
)
def test_output_is_printed_for_scripts(
    service: Served, known: str, name: str, printed: str
) -> None:
    done = service.run("output", known, name)
    assert (done.output, done.exit_code) == (printed, 0)


def test_output_as_json_has_quotes(service: Served, known: str) -> None:
    assert service.run("output", known, "address", "--json").output == '"http://127.0.0.1/"\n'


def test_all_outputs_are_an_object(service: Served, known: str) -> None:
    done = service.run("output", known, "--json")
    values = json.loads(done.stdout)
    assert values["list"] == [1, "two"]
    assert values["broken"] is None
    assert done.exit_code == 1
    assert 'the output "broken" has no value' in done.stderr


def test_all_outputs_are_printed_without_control_characters(service: Served, known: str) -> None:
    done = service.run("output", known)
    assert "  address  http://127.0.0.1/" in done.stdout.splitlines()
    assert "a\\x07b" in done.stdout


def test_output_without_value_fails(service: Served, known: str) -> None:
    done = service.run("output", known, "broken")
    assert (done.stdout, done.exit_code) == ("", 1)
    assert 'the output "broken" has no value' in done.stderr


def test_unknown_output_names_nearest_one(service: Served, known: str) -> None:
    done = service.run("output", known, "adress")
    assert done.exit_code == 2
    assert 'there is no output "adress" in known (did you mean "address"?)' in done.output
    assert service.run("output", "knwon").exit_code == 2


def test_events_are_printed_in_order(service: Served, known: str) -> None:
    done = service.run("events", known)
    assert done.exit_code == 0
    lines = [line.split()[1:3] for line in done.output.splitlines()]
    assert lines[0] == ["CREATE_IN_PROGRESS", "known"]
    assert lines[-1] == ["CREATE_COMPLETE", "known"]
    assert ["CREATE_COMPLETE", "inner/word"] in lines


def test_events_of_resource_include_nested_ones(service: Served, known: str) -> None:
    done = service.run("events", known, "inner", "--json")
    rows = [json.loads(line) for line in done.output.splitlines()]
    assert {row["resource"] for row in rows} == {"inner", "inner/word"}
    assert {"time", "state", "reason", "physical_id", "stack", "stack_id", "id"} <= set(rows[0])


def test_last_events_are_limited_by_count(service: Served, known: str) -> None:
    every = service.run("events", known).output.splitlines()
    assert service.run("events", known, "-n", "3").output.splitlines() == every[-3:]


def test_events_are_limited_by_time(service: Served, known: str) -> None:
    every = service.run("events", known).output
    assert service.run("events", known, "--since", "1h").output == every
    assert service.run("events", known, "--since", "2020-01-31T12:00:00Z").output == every
    assert service.run("events", known, "--since", "2100-01-01").output == ""
    wrong = service.run("events", known, "--since", "yesterday")
    assert wrong.exit_code == 2
    assert "neither a time" in wrong.output


def test_events_of_unknown_resource_name_nearest_one(service: Served, known: str) -> None:
    done = service.run("events", known, "iner")
    assert done.exit_code == 2
    assert 'did you mean "inner"?' in done.output


def test_followed_events_end_with_deleted_stack(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "followed.yaml"
    template.write_text(INNER)
    assert service.run("deploy", str(template)).exit_code == 0
    words = command_line(
        "events", "followed", "--follow", "--json", "--data-dir", str(service.data_dir)
    )
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=environment_without_cloud()
    ) as following:
        assert following.stdout is not None
        first = json.loads(following.stdout.readline())
        assert service.run("destroy", "followed", "--yes").exit_code == 0
        rows = [first, *(json.loads(line) for line in following.stdout)]
        assert following.wait(30) == 0
    assert len({row["id"] for row in rows}) == len(rows)
    states = [row["state"] for row in rows if row["resource"] == ""]
    assert states[0] == "CREATE_IN_PROGRESS"
    assert states[-1] == "DELETE_COMPLETE"
    again = service.run("events", first["stack_id"], "--follow", "-n", "1", "--json")
    assert json.loads(again.output) == rows[-1]


def test_list_is_filtered_by_name_status_and_tag(service: Served, known: str) -> None:
    def names(*options: str) -> list[str]:
        done = service.run("list", "--json", *options)
        assert done.exit_code == 0, done.output
        return [row["name"] for row in json.loads(done.output)]

    assert known in names()
    assert names("--name", "kno*") == [known]
    assert names("--name", "no*") == []
    assert names("--tag", "first", "--tag", "second") == [known]
    assert names("--tag", "third") == []
    assert known in names("--status", "create_complete")
    assert known not in names("--status", "FAILED")


def test_list_prints_table_and_pages(service: Served, known: str, tmp_path: Path) -> None:
    template = tmp_path / "newer.yaml"
    template.write_text(INNER)
    assert service.run("deploy", str(template)).exit_code == 0
    [newest] = json.loads(service.run("list", "--limit", "1", "--json").output)
    assert newest["name"] == "newer"
    rest = service.run("list", "--after", newest["id"]).output.splitlines()
    assert rest[0].split() == ["Stack", "State", "Created", "Updated", "Id"]
    assert known in [line.split()[0] for line in rest]
    assert "newer" not in [line.split()[0] for line in rest]
    assert service.run("list", "--name", "absent").output == "There are no such stacks.\n"
    assert service.run("destroy", "newer", "--yes").exit_code == 0


def updating(service: Served, template: Path) -> None:
    """Deploy a stack, and start an update of it that takes a minute."""
    template.write_text(SLOW)
    assert service.run("deploy", str(template)).exit_code == 0
    more = ("-P", "seconds=60", "--no-wait", "--yes")
    assert service.run("deploy", str(template), *more).exit_code == 0
    while "slow" not in service.run("events", template.stem, "-n", "1").output:
        time.sleep(0.05)


def test_cancel_restores_state_before_update(service: Served, tmp_path: Path) -> None:
    updating(service, tmp_path / "cancelled.yaml")
    done = service.run("cancel", "cancelled")
    assert done.exit_code == 0, done.output
    assert "ROLLBACK_COMPLETE" in done.output
    again = service.run("cancel", "cancelled")
    assert again.exit_code == 1
    assert "cancelled is ROLLBACK_COMPLETE: no create or update is in progress" in again.output
    assert service.run("destroy", "cancelled", "--yes").exit_code == 0


def test_cancel_without_rollback_leaves_failed_update(service: Served, tmp_path: Path) -> None:
    updating(service, tmp_path / "stopped.yaml")
    done = service.run("cancel", "stopped", "--no-rollback", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["state"] == "UPDATE_FAILED"
    assert "stoker deploy TEMPLATE --name stopped" in done.stderr
    assert service.run("destroy", "stopped", "--yes").exit_code == 0


def test_cancelled_create_is_left_as_it_is(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "unmade.yaml"
    template.write_text(SLOW)
    started = service.run("deploy", str(template), "-P", "seconds=60", "--no-wait")
    assert started.exit_code == 0
    refused = service.run("cancel", "unmade", "--rollback")
    assert refused.exit_code == 1
    assert "there is no earlier state to restore" in refused.output
    done = service.run("cancel", "unmade")
    assert done.exit_code == 0, done.output
    assert "CREATE_FAILED" in done.output
    assert service.run("destroy", "unmade", "--yes").exit_code == 0
