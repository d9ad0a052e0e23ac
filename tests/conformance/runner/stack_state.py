"""The state of a stack after a step: status, outputs, resources, events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.conformance.runner.session import Session

GONE = "GONE"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.06, 0.5
_NO_REASON = ("state changed", "", None)


async def settled(session: Session, key: str, who: str, wanted: Any, seconds: float) -> str:
    """Return the final status of the stack.

    ``wanted`` is a list of statuses, an action, or True for the end of any action.
    """
    status = None
    pause = _FIRST_PAUSE
    clock = asyncio.get_running_loop()
    end = clock.time() + seconds
    while clock.time() < end:
        answer = await session.send(
            "GET", session.path(key), who, query={"resolve_outputs": "false"}
        )
        if answer.status_code == 404:
            return GONE
        if answer.status_code == 200:
            status = str(answer.json()["stack"]["stack_status"])
            if _is_wanted(status, wanted):
                return status
        await asyncio.sleep(pause)
        pause = min(pause * 1.4, _LONGEST_PAUSE)
    return f"TIMEOUT in {status}"


def _is_wanted(status: str, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return status in wanted
    if status.endswith("_IN_PROGRESS"):
        return False
    return wanted is True or status.startswith(f"{wanted}_")


async def waited(
    session: Session, key: str, who: str, step: Mapping[str, Any], wanted: Any
) -> dict[str, Any]:
    """Wait as a step says and read the stack. ``wanted`` is the default."""
    asked = step.get("wait")
    wanted = asked if isinstance(asked, list | str) else wanted
    status = await settled(session, key, who, wanted, step.get("timeout", 60))
    found = {"wait": status} if status.startswith("TIMEOUT") else {}
    return {**found, **await state(session, key, who, step.get("capture") or {})}


async def state(session: Session, key: str, who: str, capture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stack in the form of the recordings; ``capture`` chooses the parts."""
    answer = await session.send("GET", session.path(key), who)
    if answer.status_code != 200:
        return {"stack": session.record(answer)}
    stack = answer.json()["stack"]
    masked = session.masks.apply
    found: dict[str, Any] = {
        "stack_status": stack["stack_status"],
        "stack_status_reason": masked(stack["stack_status_reason"]),
    }
    if capture.get("stack_fields"):
        found["stack"] = {name: masked(stack.get(name)) for name in capture["stack_fields"]}
    if stack.get("outputs") is not None:
        shown = {"output_value", "output_error"}
        shown |= {"description"} if capture.get("output_descriptions") else set()
        found["outputs"] = {
            output["output_key"]: {k: masked(v) for k, v in output.items() if k in shown}
            for output in stack["outputs"]
        }
    if capture.get("resources", True):
        found["resources"] = await _resources(session, key, who, capture)
    found.update(await _details(session, key, who, capture))
    if capture.get("events", True):
        found.update(await _events(session, key, who, capture))
    return found


async def _resources(session: Session, key: str, who: str, capture: Mapping[str, Any]) -> Any:
    depth = capture.get("nested_depth")
    answer = await session.send(
        "GET", session.path(key, "/resources"), who, query={"nested_depth": depth}
    )
    if answer.status_code != 200:
        return session.record(answer)
    before = session.physical.get(key)
    now: dict[Any, Any] = {}
    rows = []
    for resource in answer.json()["resources"]:
        row = _row(resource)
        place = _place(resource)
        now[place] = resource.get("physical_resource_id")
        if before is not None and place in before:
            row["same_physical_id"] = before[place] == now[place]
        rows.append(session.masks.apply(row))
    session.physical[key] = now
    rows.sort(key=lambda row: (row.get("parent", ""), row["name"], json.dumps(row, sort_keys=True)))
    return rows


def _row(resource: Mapping[str, Any]) -> dict[str, Any]:
    row = {
        "name": resource["resource_name"],
        "type": resource["resource_type"],
        "status": resource["resource_status"],
    }
    if resource.get("resource_status_reason") not in _NO_REASON:
        row["status_reason"] = resource["resource_status_reason"]
    if resource.get("required_by"):
        row["required_by"] = sorted(resource["required_by"])
    if resource.get("parent_resource"):
        row["parent"] = resource["parent_resource"]
    return row


def _place(resource: Mapping[str, Any]) -> tuple[Any, ...]:
    links = resource.get("links")
    stack = re.sub(r".*/stacks/([^/]*).*", r"\1", links[0]["href"]) if links else ""
    return resource.get("parent_resource"), resource["resource_name"], stack


async def _details(
    session: Session, key: str, who: str, capture: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    shown = (
        "attributes",
        "description",
        "resource_status",
        "resource_type",
        "required_by",
        "physical_resource_id",
        "logical_resource_id",
    )
    for name in capture.get("resource_detail") or ():
        answer = session.record(
            await session.send("GET", session.path(key, f"/resources/{name}"), who)
        )
        resource = (answer.get("body") or {}).get("resource")
        if resource:
            answer = {field: resource.get(field) for field in shown if field in resource}
        found.setdefault("resource_detail", {})[name] = answer
    for name in capture.get("metadata") or ():
        path = session.path(key, f"/resources/{name}/metadata")
        found.setdefault("metadata", {})[name] = session.record(
            await session.send("GET", path, who)
        )
    return found


async def _events(
    session: Session, key: str, who: str, capture: Mapping[str, Any]
) -> dict[str, Any]:
    answer = await session.send(
        "GET", session.path(key, "/events"), who, query=capture.get("events_query")
    )
    if answer.status_code != 200:
        return {}
    events = [
        (session.masks.apply(event["resource_name"]), event["resource_status"])
        for event in answer.json()["events"]
    ]
    if capture.get("events") == "ordered":
        return {"events_in_order": [f"{name} {status}" for name, status in events]}
    grouped: dict[str, list[str]] = {}
    for name, status in events:
        grouped.setdefault(name, []).append(status)
    return {"events_by_resource": dict(sorted(grouped.items()))}
