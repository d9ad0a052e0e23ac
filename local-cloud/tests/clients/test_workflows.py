"""The published client of the workflow service: ``openstack workflow ...``."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]

WORKFLOWS = """
version: '2.0'
hello:
  input: [name]
  output: {said: <% $.said %>}
  tasks:
    greet:
      action: std.echo output='Hello, <% $.name %>'
      publish: {said: <% task(greet).result %>}
failing:
  tasks:
    a: {action: std.fail}
networks:
  output: {names: <% $.names %>}
  tasks:
    list:
      action: neutron.list_networks
      publish: {names: '<% task(list).result.networks.select($.name).orderBy($) %>'}
"""
BOOK = """
version: '2.0'
name: book
workflows:
  inner: {tasks: {a: {action: std.noop}}}
"""
PATIENCE = 60


def written(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text)
    return path


def ended(openstack: Any, execution_id: str) -> Any:
    """An execution, when it has ended."""
    deadline = time.monotonic() + PATIENCE
    while True:
        (shown,) = openstack(f"workflow execution show {execution_id}")
        if shown["State"] != "RUNNING" or time.monotonic() > deadline:
            return shown


def test_workflows_are_defined_and_run(openstack: Any, tmp_path: Path) -> None:
    path = written(tmp_path, "workflows.yaml", WORKFLOWS)
    wrong = written(tmp_path, "wrong.yaml", "version: '2.0'\nw: {tasks: {a: {foo: 1}}}")
    made, listed = openstack(f"workflow create {path}", "workflow list")
    valid, invalid, definition = openstack(
        f"workflow validate {path} -f json",
        f"workflow validate {wrong} -f json",
        "workflow definition show hello",
        plain=True,
    )
    assert [each["Name"] for each in made] == ["hello", "failing", "networks"]
    assert valid == {"Valid": True, "Error": None}
    assert "'foo' was unexpected" in invalid["Error"]
    assert {each["Name"]: each["Input"] for each in listed}["hello"] == "name"
    assert definition.strip().startswith("version: '2.0'")
    given = written(tmp_path, "given.json", '{"name": "Ann"}')
    begun, failed, asked = openstack(
        f"workflow execution create hello {given} -d greets",
        "workflow execution create failing",
        "workflow execution create networks",
    )
    assert (begun["State"], begun["Description"]) == ("RUNNING", "greets")
    for each, state in ((begun, "SUCCESS"), (failed, "ERROR"), (asked, "SUCCESS")):
        shown = ended(openstack, each["ID"])
        assert shown["State"] == state, shown
    output, names, reported = openstack(
        f"workflow execution output show {begun['ID']}",
        f"workflow execution output show {asked['ID']}",
        f"workflow execution report show {failed['ID']}",
        plain=True,
    )
    (tasks,) = openstack(f"task execution list {begun['ID']}")
    assert output == {"said": "Hello, Ann"}
    assert names == {"names": ["private", "public"]}
    (task,) = tasks
    assert (task["Name"], task["State"]) == ("greet", "SUCCESS")
    assert "action 'std.fail' [ERROR]" in str(reported)
    actions, one = openstack(
        f"action execution list {task['ID']}", f"task execution show {task['ID']}"
    )
    result, published = openstack(
        f"task execution result show {task['ID']}",
        f"task execution published show {task['ID']}",
        plain=True,
    )
    assert result == "Hello, Ann"
    assert published == {"said": "Hello, Ann"}
    assert [each["Name"] for each in actions] == ["std.echo"]
    assert one["Workflow name"] == "hello"
    shown, gone = openstack(
        f"action execution output show {actions[0]['ID']}",
        f"workflow execution delete {failed['ID']}",
        plain=True,
    )
    assert shown == {"result": "Hello, Ann"}
    assert "has been accepted" in gone


def test_everything_else_is_managed(openstack: Any, tmp_path: Path) -> None:
    book = written(tmp_path, "book.yaml", BOOK)
    env = written(tmp_path, "env.json", json.dumps({"name": "mine", "variables": {"k": 1}}))
    action = written(tmp_path, "action.yaml", "version: '2.0'\nmine: {base: std.noop}\n")
    given = written(tmp_path, "given.json", '{"output": 5}')
    (run,) = openstack(f"action execution run std.echo {given}")
    made, env_made, action_made, trigger = openstack(
        f"workbook create {book}",
        f"workflow env create {env}",
        f"action definition create {action}",
        "cron trigger create often book.inner --pattern @hourly --count 3",
    )
    assert made["Name"] == "book"
    assert env_made["Name"] == "mine"
    assert [each["Name"] for each in action_made] == ["mine"]
    assert (trigger["Workflow"], trigger["Remaining executions"]) == ("book.inner", 3)
    assert run == {"result": 5}
    listed, known = openstack("cron trigger list", "action definition list")
    assert [each["Name"] for each in listed] == ["often"]
    assert {"mine", "std.http", "nova.servers_list"} <= {each["Name"] for each in known}
    (found,) = openstack("workflow show book.inner")
    (event,) = openstack(
        f"event trigger create started {found['ID']} nova notifications compute.instance.create.end"
    )
    assert event["Event"] == "compute.instance.create.end"
    rest = openstack(
        f"event trigger delete {event['ID']}",
        "cron trigger delete often",
        "workflow env delete mine",
        "action definition delete mine",
        "workbook delete book",
        "workflow delete book.inner",
    )
    assert all("has been accepted" in each for each in rest)
