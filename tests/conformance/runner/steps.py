"""The operations of cases: each sends requests and returns the answers."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from stoker.kernel.values import replace
from tests.conformance.runner.comparison import without_help
from tests.conformance.runner.masking import UUID
from tests.conformance.runner.session import Session, json_of
from tests.conformance.runner.signatures import SignedRequest, signed_v2, signed_v4, unsigned
from tests.conformance.runner.stack_state import settled, state, waited

Step = Mapping[str, Any]
Seen = dict[str, Any]
_BODY = (
    "template",
    "template_url",
    "files",
    "environment",
    "environment_files",
    "parameters",
    "disable_rollback",
    "timeout_mins",
    "tags",
    "adopt_stack_data",
    "parent",
    "clear_parameters",
    "converge",
    "files_container",
)


async def play(session: Session, step: Step) -> Seen:
    """Do one step and return its result, in the form of the recordings."""
    seen = await _OPERATIONS[step["op"]](session, step, step.get("stack", "S"))
    return {key: value for key, value in seen.items() if key not in step.get("ignore", ())}


def _who(step: Step) -> str:
    return str(step.get("as", "user"))


def _body(session: Session, step: Step) -> dict[str, Any]:
    body = {name: session.filled(step[name]) for name in _BODY if name in step}
    return {**body, **session.filled(dict(step.get("extra") or {}))}


async def _create(session: Session, step: Step, key: str) -> Seen:
    body = _named_body(session, step, key)
    previews = step["op"] == "preview"
    answer = await session.send(
        "POST",
        "/stacks/preview" if previews else "/stacks",
        _who(step),
        body=body,
        query=step.get("query"),
    )
    data = json_of(answer)
    stack = data.get("stack") if isinstance(data, dict) else None
    if previews or answer.status_code != 201 or not (stack and stack.get("id")):
        return session.record(answer)
    session.made(key, body["stack_name"], stack["id"], _who(step))
    seen = session.record(answer, keep_body=step.get("keep_body", False))
    if step.get("wait", True):
        seen.update(await waited(session, key, _who(step), step, True))
    return seen


def _named_body(session: Session, step: Step, key: str) -> dict[str, Any]:
    body = _body(session, step)
    if step.get("omit_name"):
        return body
    if "stack_name" not in step:
        return {**body, "stack_name": session.name(key)}
    name = session.filled(step["stack_name"])
    if isinstance(name, str):
        if "${" in step["stack_name"]:
            session.masks.names[key] = name
        else:
            session.masks.names.setdefault(key, name)
    return {**body, "stack_name": name}


async def _update(session: Session, step: Step, key: str) -> Seen:
    operation = step["op"]
    previews = operation.startswith("preview")
    answer = await session.send(
        "PATCH" if operation.endswith("patch") else "PUT",
        session.path(key, "/preview" if previews else ""),
        _who(step),
        body=_body(session, step),
        query=step.get("query"),
    )
    seen = session.record(answer, keep_body=answer.status_code != 202)
    if answer.status_code == 202 and step.get("wait", True):
        seen.update(await waited(session, key, _who(step), step, "UPDATE"))
    elif previews and "resource_changes" in (seen.get("body") or {}):
        changes = seen["body"]["resource_changes"]
        seen["body"] = {kind: _changes(rows) for kind, rows in changes.items()}
    return seen


def _changes(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    fields = ("resource_name", "resource_type", "resource_action", "resource_status")
    shown = [{field: row.get(field) for field in fields} for row in rows]
    return sorted(shown, key=lambda row: str(row["resource_name"]))


async def _validate(session: Session, step: Step, key: str) -> Seen:
    answer = await session.send(
        "POST", "/validate", _who(step), body=_body(session, step), query=step.get("query")
    )
    return session.record(answer)


async def _action(session: Session, step: Step, key: str) -> Seen:
    answer = await session.send(
        "POST", session.path(key, "/actions"), _who(step), body=session.filled(step["body"])
    )
    seen = session.record(answer)
    if answer.is_success and step.get("wait"):
        seen.update(await waited(session, key, _who(step), step, True))
    return seen


async def _delete(session: Session, step: Step, key: str) -> Seen:
    seen = session.record(await session.send("DELETE", session.path(key), _who(step)))
    if step.get("wait", True):
        ends = ["DELETE_COMPLETE", "DELETE_FAILED"]
        seen["final"] = await settled(session, key, _who(step), ends, step.get("timeout", 60))
        if step.get("show_after"):
            seen.update(await state(session, key, _who(step), step.get("capture") or {}))
    return seen


async def _state(session: Session, step: Step, key: str) -> Seen:
    if step.get("wait"):
        return await waited(session, key, _who(step), step, True)
    return await state(session, key, _who(step), step.get("capture") or {})


async def _http(session: Session, step: Step, key: str) -> Seen:
    answer = await session.send(
        step["method"],
        session.filled(step["path"]),
        _who(step),
        body=session.filled(step.get("body")),
        raw=session.filled(step.get("raw")),
        headers=session.filled(step.get("headers")),
        query=session.filled(step.get("query")),
        from_root=step.get("absolute", False),
    )
    data = json_of(answer)
    _save(session, step, data)
    if "save_as_stack" in step and isinstance(data, dict):
        stack = data.get("stack") or {}
        if stack.get("id"):
            made = step["save_as_stack"]
            session.made(made, session.name(made), stack["id"], _who(step))
    seen = session.record(
        answer, keep_body=not step.get("no_body"), headers=step.get("record_headers") or ()
    )
    if "/resource_types" in step["path"] and "body" in seen:
        seen["body"] = without_help(seen["body"])
    seen = _reduced(step, seen)
    if step.get("wait") and answer.status_code < 300:
        seen.update(await waited(session, key, _who(step), step, True))
    return seen


def _save(session: Session, step: Step, data: Any) -> None:
    for variable, path in (step.get("save") or {}).items():
        value = _at(data, path)
        if value is not None:
            session.masks.variables[variable] = value


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, list) and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def _reduced(step: Step, seen: Seen) -> Seen:
    """The body reduced to the part that the step is about."""
    if step.get("only"):
        seen["body"] = _at(seen.get("body"), step["only"])
    if step.get("pick") and "body" in seen:
        name, rows = next(iter(seen["body"].items()))
        picked: Any
        if isinstance(rows, list):
            picked = [{field: row.get(field) for field in step["pick"]} for row in rows]
            if step.get("sort"):
                picked.sort(key=lambda row: json.dumps(row, sort_keys=True))
        else:
            picked = {field: rows.get(field) for field in step["pick"]}
        seen["body"] = {name: picked}
    if step.get("count") and "body" in seen:
        seen["body"] = {
            name: len(rows) if isinstance(rows, list) else rows
            for name, rows in seen["body"].items()
        }
    if step.get("keys_only") and isinstance(seen.get("body"), dict):
        seen["body"] = {name: _shape(value) for name, value in seen["body"].items()}
    return seen


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value)
    return "list" if isinstance(value, list) else type(value).__name__


async def _cfn(session: Session, step: Step, key: str) -> Seen:
    who = _who(step)
    signer = await session.signer(who)
    bad = {"badsecret": {"secret": "wrong" * 6}, "badaccess": {"access": "0" * 32}}
    signer = replace(signer, **bad.get(who, {}))
    parameters = {
        name: json.dumps(value) if isinstance(value, dict | list) else str(value)
        for name, value in session.filled(dict(step.get("params") or {})).items()
    }
    if step.get("action") is not None:
        parameters["Action"] = step["action"]
    method = step.get("method", "POST")
    url = signer.cfn_endpoint + step.get("path", "/")
    version = "none" if who == "none" else step.get("sig", "v4")
    if version == "none":
        request = unsigned(method, url, parameters)
    else:
        sign = signed_v2 if version == "v2" else signed_v4
        request = sign(method, url, parameters, signer.access, signer.secret)
    return await _send_signed(session, step, method, request)


async def _send_signed(session: Session, step: Step, method: str, request: SignedRequest) -> Seen:
    headers = {"Host": urlsplit(request.url).netloc, **(step.get("headers") or {})}
    answer = await session.send_whole(
        method, request.url, {**headers, **request.headers}, request.body
    )
    made = re.search(rf"<StackId>arn:[^<]*:stacks/([^/<]+)/({UUID})</StackId>", answer.text)
    if made:
        for key, name in session.masks.names.items():
            if name == made.group(1):
                session.made(key, name, made.group(2), "user")
    kind = answer.headers.get("Content-Type", "")
    seen: Seen = {"http": answer.status_code, "content_type": kind}
    if answer.text:
        seen.update(
            session.text_of(answer, kind)
            if "xml" in kind
            else {"text": session.masks.apply(answer.text[:2000])}
        )
    if step.get("wait") and answer.status_code == 200:
        key = step.get("stack", "S")
        seen["waited"] = await settled(session, key, "user", step["wait"], step.get("timeout", 60))
    return seen


async def _sleep(session: Session, step: Step, key: str) -> Seen:
    await asyncio.sleep(step["seconds"])
    return {}


async def _wait_resource(session: Session, step: Step, key: str) -> Seen:
    clock = asyncio.get_running_loop()
    end = clock.time() + step.get("timeout", 30)
    status = None
    while clock.time() < end and status not in step["status"]:
        answer = await session.send(
            "GET", session.path(key, f"/resources/{step['resource']}"), _who(step)
        )
        if answer.status_code == 200:
            resource = answer.json()["resource"]
            status = resource["resource_status"]
            for variable, path in (step.get("save") or {}).items():
                session.masks.variables[variable] = _at(resource, path)
        if status not in step["status"]:
            await asyncio.sleep(0.1)
    return {"resource_status": status}


_OPERATIONS: Mapping[str, Callable[[Session, Step, str], Awaitable[Seen]]] = {
    "create": _create,
    "adopt": _create,
    "preview": _create,
    "update": _update,
    "patch": _update,
    "preview_update": _update,
    "preview_patch": _update,
    "validate": _validate,
    "action": _action,
    "delete": _delete,
    "state": _state,
    "http": _http,
    "cfn": _cfn,
    "sleep": _sleep,
    "wait_resource": _wait_resource,
}
