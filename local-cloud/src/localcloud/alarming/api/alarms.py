"""The requests on alarms."""

import json
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute

from localcloud.alarming import actions
from localcloud.alarming.api.queries import page, simple
from localcloud.alarming.errors import invalid
from localcloud.alarming.instance import Alarming
from localcloud.alarming.model import rules, schedule
from localcloud.alarming.model.state import STATES, UNKNOWN
from localcloud.core.store import Document
from localcloud.web.http import (
    Answer,
    BadRequestError,
    ForbiddenError,
    RequestContext,
    context,
    read_body,
    read_json,
    route,
)

SEVERITIES = ("low", "moderate", "critical")
ACTIONS = ("ok_actions", "alarm_actions", "insufficient_data_actions")
_RULES = tuple(rules.field_of(kind) for kind in rules.KINDS)
_FIELDS = frozenset(
    {
        "name", "description", "enabled", "type", "severity", "state", "repeat_actions",
        "time_constraints", "project_id", "user_id", "alarm_id", "timestamp", "state_timestamp",
        "state_reason", "evaluate_timestamp", *ACTIONS, *_RULES,
    }
)  # fmt: skip


class Alarms:
    """The requests on alarms, their states and their history."""

    def __init__(self, alarming: Alarming) -> None:
        self._alarming = alarming
        self._state = alarming.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        many, one = "/v2/alarms", "/v2/alarms/{id}"
        return [
            route("GET", many, self._list),
            route("POST", many, self._create, 201),
            route("GET", one, self._show),
            route("PUT", one, self._replace),
            route("DELETE", one, self._delete),
            route("GET", f"{one}/state", self._show_state),
            route("PUT", f"{one}/state", self._set_state),
            route("GET", f"{one}/history", self._history),
        ]

    async def _list(self, request: Request) -> Answer:
        found = [shown(alarm) for alarm in self._state.visible(context(request))]
        return JSONResponse(page(request, simple(request, found)))

    async def _show(self, request: Request) -> Document:
        return shown(self._found(request))

    async def _create(self, request: Request) -> Answer:
        given, who = await read_json(request), context(request)
        project = who.require_project()
        made = _parsed(given)
        limit = self._state.limit(project)
        if 0 <= limit <= sum(1 for _ in self._state.alarms.find(project_id=project)):
            raise ForbiddenError(
                f"Alarm quota exceeded for user {who.user_id} on project {project}"
            )
        now = self._state.now()
        alarm = {
            "id": str(uuid4()),
            "user_id": who.user_id,
            "project_id": project,
            "state": UNKNOWN,
            "state_reason": "Not evaluated yet",
            "state_timestamp": now,
            "timestamp": now,
            **made,
        }
        with self._state.cloud.store.transaction():
            alarm = actions.bound(alarm, who, self._alarming.trusts)
            self._state.alarms.put(alarm)
            self._state.record(alarm, "creation", shown(alarm), who)
        self._alarming.watch.soon(alarm["id"])
        where = f"{self._state.cloud.settings.url}/alarming/v2/alarms/{alarm['id']}"
        return JSONResponse(shown(alarm), 201, headers={"Location": where})

    async def _replace(self, request: Request) -> Document:
        given, who, old = await read_json(request), context(request), self._found(request)
        changed = {**old, **_parsed(given), "timestamp": self._state.now()}
        with self._state.cloud.store.transaction():
            self._release(old)
            if who.project_id != old["project_id"]:
                self._refuse_trust(changed)
            changed = actions.bound(changed, who, self._alarming.trusts)
            self._state.alarms.put(changed)
            before, after = shown(old), shown(changed)
            detail = {k: v for k, v in after.items() if before.get(k) != v and k != "timestamp"}
            self._state.record(changed, "rule change", detail, who)
        self._alarming.watch.soon(changed["id"])
        return shown(changed)

    def _refuse_trust(self, alarm: Document) -> None:
        """Raise ForbiddenError if a user of another project would act for the alarm's project."""
        if any(actions.needs_trust(each) for name in ACTIONS for each in alarm[name]):
            raise ForbiddenError(
                "Actions with a trust are changed by the project of the alarm alone."
            )

    async def _delete(self, request: Request) -> None:
        alarm = self._found(request)
        with self._state.cloud.store.transaction():
            self._release(alarm)
            self._state.alarms.delete(alarm["id"])
            self._state.record(alarm, "deletion", shown(alarm), context(request))

    def _release(self, alarm: Document) -> None:
        """Remove the trust of an alarm's actions."""
        found = {actions.trust_of(each) for name in ACTIONS for each in alarm[name]}
        for trust_id in found - {None}:
            self._alarming.trusts.remove(str(trust_id))

    async def _show_state(self, request: Request) -> Answer:
        return JSONResponse(self._found(request)["state"])

    async def _set_state(self, request: Request) -> Answer:
        content = await read_body(request)
        try:
            state = json.loads(content)
        except (ValueError, RecursionError):
            state = None
        if state not in STATES:
            raise invalid("state", content.decode(errors="replace"), f"One of {', '.join(STATES)}.")
        alarm = self._found(request)
        if alarm["state"] != state:
            self._state.move(alarm, state, "Manually set via API")
        return JSONResponse(state)

    async def _history(self, request: Request) -> Answer:
        who, alarm_id = context(request), request.path_params["id"]
        found = [change(c) for c in self._changes(who) if c["alarm_id"] == alarm_id]
        if not found:
            self._found(request)
        return JSONResponse(page(request, simple(request, found[::-1])))

    def _changes(self, who: RequestContext) -> list[Document]:
        every = self._state.changes
        return list(every.values() if who.is_admin else every.find(project_id=who.project_id))

    def _found(self, request: Request) -> Document:
        return self._state.found(context(request), request.path_params["id"])


def shown(alarm: Document) -> Document:
    """Return an alarm as answers have it."""
    hidden = ("id", "rule", *ACTIONS)
    return {
        **{name: value for name, value in alarm.items() if name not in hidden},
        "alarm_id": alarm["id"],
        **{name: [actions.shown(each) for each in alarm[name]] for name in ACTIONS},
        rules.field_of(alarm["type"]): alarm["rule"],
        "evaluate_timestamp": alarm["state_timestamp"],
    }


def change(document: Document) -> Document:
    """Return an entry of an alarm's history as responses have it."""
    names = ("alarm_id", "type", "detail", "timestamp", "severity", "user_id")
    return {
        **{name: document[name] for name in names},
        "event_id": document["id"],
        "on_behalf_of": document["project_id"],
        "project_id": document["by_project_id"],
    }


def _parsed(given: Document) -> Document:
    """Return the alarm of a request, which has to be a whole one; raises BadRequestError."""
    unknown = sorted(given.keys() - _FIELDS)
    if unknown:
        raise BadRequestError(f"Unknown attribute: {unknown[0][:100]}")
    kind, name = given.get("type"), given.get("name")
    if kind not in rules.KINDS:
        raise invalid("type", kind, f"One of {', '.join(rules.KINDS)} is expected.")
    if not isinstance(name, str) or not 0 < len(name) <= 255:
        raise invalid("name", name, "A text of 1 to 255 characters is expected.")
    foreign = [each for each in _RULES if given.get(each) and each != rules.field_of(kind)]
    if foreign:
        raise BadRequestError(f"{foreign[0]} must not be set for {kind} type alarm")
    made = {
        "name": name,
        "type": kind,
        "description": _description(given, kind),
        "rule": rules.parsed(kind, given.get(rules.field_of(kind))),
        "enabled": _flag(given, "enabled", True),
        "repeat_actions": _flag(given, "repeat_actions", False),
        "severity": _choice(given, "severity", SEVERITIES, "low"),
        "time_constraints": schedule.parsed(given.get("time_constraints") or []),
        **{each: actions.parsed(each, given.get(each) or []) for each in ACTIONS},
    }
    if given.get("state") is not None:
        made["state"] = _choice(given, "state", STATES, UNKNOWN)
    return made


def _description(given: Document, kind: str) -> str:
    found = given.get("description")
    if found is not None and (not isinstance(found, str) or len(found) > 4096):
        raise invalid("description", found, "A text of at most 4096 characters is expected.")
    return found or f"{kind} alarm rule"


def _flag(given: Document, name: str, default: bool) -> bool:
    found = given.get(name)
    if found is not None and not isinstance(found, bool):
        raise invalid(name, found, "A boolean is expected.")
    return default if found is None else found


def _choice(given: Document, name: str, choices: tuple[str, ...], default: str) -> Any:
    found = given.get(name)
    if found is not None and found not in choices:
        raise invalid(name, found, f"One of {', '.join(choices)} is expected.")
    return found or default
