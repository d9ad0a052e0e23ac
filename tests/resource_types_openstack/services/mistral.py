"""Workflows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml
from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service
from tests.resource_types_openstack.harness import Case

_RUN = "/executions/([^/]+)"


def service() -> Service:
    """The workflow service: a run takes a while, and shows its input as its output."""
    return Service(
        (
            Kind(
                "/cron_triggers",
                "cron_trigger",
                "cron_triggers",
                "name! workflow_id! workflow_input pattern first_execution_time"
                " remaining_executions",
                bare=True,
                unique=("name",),
                told=lambda item: {**item, "workflow_input": json.dumps(item["workflow_input"])},
            ),
            Kind("/workflows", "workflow", "workflows", "", bare=True),
            Kind("/executions", "execution", "executions", "", bare=True),
        ),
        actions=(
            ("POST", "/workflows", _create),
            ("PUT", "/workflows", _replace),
            ("POST", "/executions", _start),
            ("GET", _RUN, _look),
        ),
    )


def _create(service: Service, match: Any, body: bytes) -> Object:
    name = _named(body)
    if name in service.objects("/workflows"):
        raise RefusalError(409, f"Duplicate entry for WorkflowDefinition: {name}")
    return _written(service, name, body)


def _replace(service: Service, match: Any, body: bytes) -> Object:
    name = _named(body)
    if name not in service.objects("/workflows"):
        raise RefusalError(404, f"Workflow not found [workflow_identifier={name}]")
    return _written(service, name, body)


def _written(service: Service, name: str, body: bytes) -> Object:
    found = service.objects("/workflows")
    known = found.get(name) or {"id": f"id-of-{name}", "name": name, "scope": "private"}
    found[name] = {**known, "definition": body.decode()}
    return {"workflows": [found[name]]}


def _named(body: bytes) -> str:
    """The name of the one workflow that a document defines."""
    document = yaml.safe_load(body)
    if document.pop("version", None) != "2.0":
        raise RefusalError(400, "Invalid DSL: the version is 2.0")
    [(name, workflow)] = document.items()
    if not workflow.get("tasks") or workflow.get("type") not in ("direct", "reverse"):
        raise RefusalError(400, "Invalid DSL")
    if workflow.get("output") == {}:
        raise RefusalError(400, "Invalid DSL: {} should be non-empty")
    following = {each for task in workflow["tasks"].values() for each in task.get("on-success", ())}
    if absent := following - workflow["tasks"].keys():
        raise RefusalError(400, f"Task {absent} not found.")
    unknown = {key for task in workflow["tasks"].values() for key in task} & {"name", "on_success"}
    if unknown:
        raise RefusalError(400, f"Invalid DSL: {unknown}")
    return str(name)


def _start(service: Service, match: Any, body: Object) -> Object:
    runs = service.objects("/executions")
    if body["id"] not in runs:
        wanted = body["workflow_id"]
        flows = service.objects("/workflows").values()
        flow = next((each for each in flows if wanted in (each["id"], each["name"])), None)
        if flow is None:
            raise RefusalError(404, f"Workflow not found [workflow_identifier={wanted}]")
        texts = {name: json.dumps(body[name]) for name in ("input", "params")}
        given = {**body, **texts, "workflow_name": flow["name"]}
        runs[body["id"]] = {**given, "state": "RUNNING", "output": "{}"}
    return runs[body["id"]]


def _look(service: Service, match: Any, body: None) -> Object:
    run = service.objects("/executions").get(match[1])
    if run is None:
        raise RefusalError(404, f"WorkflowExecution not found [id={match[1]}]")
    fails = "fail" in json.loads(run["input"])
    told = {"state_info": "Failure caused by error in tasks: hello"} if fails else {}
    run.update(told, state="ERROR" if fails else "SUCCESS", output=run["input"])
    return dict(run)


def two_workflows(connections: Mapping[str, Any]) -> dict[str, str]:
    """The ids of two workflows that do nothing, by the words of the cases."""
    session = connections["demo"].session
    found = {}
    for word, name in (("w", "one"), ("w2", "two")):
        steps = "{t: {action: std.noop}}"
        text = f"version: '2.0'\n{name}:\n  input: [a: 1, b: 1]\n  tasks: {steps}\n"
        where = {"service_type": "workflow"}
        session.post(
            "/workflows",
            data=text,
            headers={"Content-Type": "text/plain"},
            endpoint_filter=where,
            raise_exc=False,
        )
        known = session.get(f"/workflows/{name}", endpoint_filter=where)
        found[word] = known.json()["id"]
    return found


WORKFLOW = Case(
    "OS::Mistral::Workflow",
    {
        "type": "direct",
        "tasks": [
            {"name": "hello", "action": "std.echo output=hello"},
            {"name": "bye", "action": "std.noop", "wait_before": 1},
        ],
        "input": {"a": 1},
        "params": {"env": {"b": 2}},
        "tags": ["one"],
        "description": "says hello",
        "output": {"said": "<% $.said %>"},
        "task_defaults": {"timeout": 5},
        "use_request_body_as_input": False,
    },
    changed={
        "type": "reverse",
        "tasks": [{"name": "bye", "action": "std.noop", "wait_before": 3, "keep_result": False}],
        "input": {"a": 1, "c": 2},
        "params": {"env": {}, "task_name": "hello"},
        "tags": ["two"],
        "description": "says goodbye",
        "output": {},
        "task_defaults": {"retry": {"count": 2, "delay": 1}},
        "use_request_body_as_input": True,
    },
    other={"name": "another"},
    unreported=frozenset({"params", "use_request_body_as_input"}),
    one_name=True,
)
SIZED = Case(
    "OS::Mistral::Workflow",
    {"type": "direct", "tasks": [{"name": "t", "action": "std.noop"}], "input": {"size": 0}},
)
CASES = (
    WORKFLOW,
    Case(
        "OS::Mistral::ExternalResource",
        {
            "actions": {
                action: {"workflow": "@workflow", "params": {"env": {"a": 1}}}
                for action in ("CREATE", "UPDATE", "SUSPEND", "RESUME", "DELETE")
            },
            "input": {"size": 1},
            "replace_on_change_inputs": ["kind"],
        },
        changed={"input": {"size": 2}},
        other={"description": "another"},
        dependencies={"@workflow": SIZED},
    ),
    Case(
        "OS::Mistral::CronTrigger",
        {"pattern": "0 0 * * *", "workflow": {"name": "w", "input": {"a": 1}}, "count": 3},
        other={"pattern": "1 0 * * *"},
        unreported=frozenset({"count"}),
        one_name=True,
    ),
)
