"""Drift: external changes to the objects of a stack."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.pages import cut_sorted
from stoker.api.cfn.parameters import choice, required, values
from stoker.engine.model.stack_records.change_sets import Detection
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import isoformat

_STATES = {
    "same": "IN_SYNC",
    "changed": "MODIFIED",
    "gone": "DELETED",
    "internal": "NOT_CHECKED",
    "unknown": "UNKNOWN",
}
_DRIFTED = ("changed", "gone")


async def detect(call: Call) -> dict[str, Any]:
    """Start to compare the objects of a stack."""
    only = values(call.parameters, "LogicalResourceIds") or None
    detections = call.service.cloudformation.detections
    return {"StackDriftDetectionId": await detections.begin(call.caller, await call.stack(), only)}


async def status(call: Call) -> dict[str, Any]:
    """Return the progress of a detection, and whether anything has changed."""
    detection_id = required(call.parameters, "StackDriftDetectionId")
    found, stack = await call.service.cloudformation.detections.show(call.caller, detection_id)
    result: dict[str, Any] = {
        "StackId": stack.arn,
        "StackDriftDetectionId": found.id,
        "Timestamp": isoformat(found.started_at),
    }
    if found.ended_at is None:
        return {**result, "DetectionStatus": "DETECTION_IN_PROGRESS"}
    if found.fault:
        reason = {"DetectionStatusReason": found.fault}
        return {**result, "DetectionStatus": "DETECTION_FAILED", **reason}
    states = [each["state"] for each in found.found.values()]
    return {
        **result,
        "DetectionStatus": "DETECTION_COMPLETE",
        "StackDriftStatus": _of_all(states),
        "DriftedStackResourceCount": sum(state in _DRIFTED for state in states),
    }


def _of_all(states: Iterable[str]) -> str:
    known = set(states)
    if known.intersection(_DRIFTED):
        return "DRIFTED"
    return "UNKNOWN" if "unknown" in known else "IN_SYNC"


async def drift_information(call: Call, stack: StackAddress) -> dict[str, Any]:
    """Return the result of the last detection of a stack, if there was one."""
    found = await call.service.cloudformation.detections.latest(call.caller, stack)
    if found is None:
        return {}
    drift_status = _of_all(each["state"] for each in found.found.values())
    checked = isoformat(found.started_at)
    return {"DriftInformation": {"StackDriftStatus": drift_status, "LastCheckTimestamp": checked}}


async def index(call: Call) -> dict[str, Any]:
    """Return the result of the last detection for each resource."""
    stack = await call.stack()
    states = values(call.parameters, "StackResourceDriftStatusFilters")
    for one in states:
        choice({"Filter": one}, "Filter", (*_STATES.values(), "UNSUPPORTED"))
    found = await call.service.cloudformation.detections.latest(call.caller, stack)
    if found is None:
        return {"StackResourceDrifts": []}
    fitting = [
        each for each in found.found.values() if not states or _STATES[each["state"]] in states
    ]
    page, more = cut_sorted(call, fitting, lambda each: str(each["name"]))
    drifts = await call.api.compute(lambda: [_drift(each, stack, found) for each in page])
    return {"StackResourceDrifts": drifts, **more}


async def of_resource(call: Call) -> dict[str, Any]:
    """Return the drift of one object now."""
    name = required(call.parameters, "LogicalResourceId")
    stack = await call.stack()
    found = await call.service.cloudformation.detections.of_one(call.caller, stack, name)
    return {"StackResourceDrift": _drift(found.found[name], stack, found)}


def _drift(found: Mapping[str, Any], stack: StackAddress, detection: Detection) -> dict[str, Any]:
    differences = found["properties"]
    compared = found["state"] in ("same", "changed")
    return {
        "StackId": stack.arn,
        "LogicalResourceId": found["name"],
        "PhysicalResourceId": found["physical_id"],
        "ResourceType": found["type"],
        "ExpectedProperties": _json({n: old for n, old, _ in differences}) if compared else None,
        "ActualProperties": _json({n: live for n, _, live in differences}) if compared else None,
        "PropertyDifferences": [_difference(*each) for each in differences],
        "StackResourceDriftStatus": _STATES[found["state"]],
        "DriftStatusReason": found["reason"] or None,
        "Timestamp": isoformat(detection.started_at),
    }


def _difference(name: str, applied: Any, live: Any) -> dict[str, str]:
    kind = "ADD" if applied is None else "REMOVE" if live is None else "NOT_EQUAL"
    return {
        "PropertyPath": f"/{name}",
        "ExpectedValue": _json(applied),
        "ActualValue": _json(live),
        "DifferenceType": kind,
    }


def _json(value: Any) -> str:
    return json.dumps(value, default=str)
