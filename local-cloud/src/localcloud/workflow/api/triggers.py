"""Requests on cron triggers and event triggers."""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.routing import BaseRoute

from localcloud.core.store import Collection, Document
from localcloud.web.http import BadRequestError
from localcloud.workflow.api import views
from localcloud.workflow.api.call import Call, json_map, listed, routed, text_field
from localcloud.workflow.errors import duplicate, not_found
from localcloud.workflow.instance import Workflows
from localcloud.workflow.language.workflows import completed, inputs_of
from localcloud.workflow.triggers.cron import FORMAT, check_pattern, next_time
from localcloud.workflow.triggers.event_triggers import TOPICS

_GIVEN = "%Y-%m-%d %H:%M"
_MOST_RUNS = 1_000_000_000


class TriggerRequests:
    """The requests on triggers."""

    def __init__(self, service: Workflows) -> None:
        self._service = service
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/cron_triggers", self._list_cron),
            routed("POST", "/v2/cron_triggers", self._create_cron, 201),
            routed("GET", "/v2/cron_triggers/{id}", self._show_cron),
            routed("DELETE", "/v2/cron_triggers/{id}", self._delete_cron),
            routed("GET", "/v2/event_triggers", self._list_events),
            routed("POST", "/v2/event_triggers", self._create_event, 201),
            routed("GET", "/v2/event_triggers/{id}", self._show_event),
            routed("DELETE", "/v2/event_triggers/{id}", self._delete_event),
        ]

    def _list_cron(self, call: Call) -> dict[str, Any]:
        every = call.flag("all_projects")
        found = self._state.visible(call.context, self._state.cron_triggers, every)
        return listed(call, "cron_triggers", found, views.cron_trigger)

    def _create_cron(self, call: Call) -> dict[str, Any]:
        names = (
            "id", "name", "pattern", "first_execution_time", "remaining_executions", "scope",
            "workflow_id", "workflow_name", "workflow_input", "workflow_params",
        )  # fmt: skip
        given = call.fields("cron_trigger", names)
        pattern, first, count = self._times(given)
        fields = self._common(call, given, self._state.cron_triggers, "cron trigger")
        now = self._state.cloud.clock.now()
        made = self._state.made(
            call.context,
            **fields,
            pattern=pattern or None,
            first_execution_time=first,
            next_execution_time=first or next_time(pattern, now),
            remaining_executions=count,
        )
        self._keep(call, self._state.cron_triggers, made)
        self._service.cron.begin()
        return views.cron_trigger(made)

    def _times(self, given: dict[str, Any]) -> tuple[str, str | None, int | None]:
        pattern, asked = text_field(given, "pattern"), text_field(given, "first_execution_time")
        count = given.get("remaining_executions")
        if not pattern and not asked:
            raise BadRequestError("Pattern or first_execution_time must be specified.")
        if count is not None:
            if isinstance(count, str) and count.isdecimal():
                count = int(count)
            if not isinstance(count, int) or not 1 <= count <= _MOST_RUNS:
                detail = f"Value: '{count!r:.50}'. Value should be greater or equal to 1"
                raise BadRequestError(
                    f"Invalid input for field/attribute remaining_executions. {detail}"
                )
        first = None
        if asked:
            try:
                moment = datetime.strptime(asked, _GIVEN).replace(tzinfo=UTC)
            except ValueError as error:
                raise BadRequestError(str(error)) from error
            if moment < self._state.cloud.clock.now() + timedelta(minutes=1):
                raise BadRequestError(
                    "first_execution_time must be at least 1 minute in the future."
                )
            first = moment.strftime(FORMAT)
        if not pattern:
            if count is not None and count > 1:
                raise BadRequestError("Pattern must be provided if count is superior to 1.")
            count = 1
        else:
            check_pattern(pattern)
        return pattern, first, count

    def _common(
        self, call: Call, given: dict[str, Any], collection: Collection, kind: str
    ) -> dict[str, Any]:
        name = text_field(given, "name")
        if not name and kind == "cron trigger":
            raise BadRequestError("Please provide the name of a cron trigger.")
        identifier = text_field(given, "workflow_id") or text_field(given, "workflow_name")
        workflow = self._service.starts.workflow(call.context, identifier)
        taken = json_map("trigger", given, "workflow_input")
        completed(workflow["name"], inputs_of(workflow["spec"]), taken)
        if name and next(collection.find(name=name, project_id=call.project), None):
            raise duplicate(kind, name)
        self._state.room(call.context, collection)
        return {
            "name": name,
            "workflow_id": workflow["id"],
            "workflow_name": workflow["name"],
            "workflow_input": taken,
            "workflow_params": json_map("trigger", given, "workflow_params"),
            "scope": "private",
            "user_id": call.context.user_id,
            "openstack": {
                "user_id": call.context.user_id,
                "user_name": call.context.user_name,
                "project_id": call.project,
                "project_name": call.context.project_name,
                "roles": list(call.context.roles),
            },
        }

    def _keep(self, call: Call, collection: Collection, made: Document) -> None:
        made["trust_id"] = self._service.trusts.make(call.context)
        collection.put(made)

    def _found(self, call: Call, collection: Collection, kind: str) -> Document:
        key = call.argument("id")
        found = collection.get(key)
        if found is None or not (call.context.is_admin or found["project_id"] == call.project):
            found = next(collection.find(name=key, project_id=call.project), None)
        if found is None:
            raise not_found(kind, f"identifier={key}")
        return found

    def _show_cron(self, call: Call) -> dict[str, Any]:
        return views.cron_trigger(self._found(call, self._state.cron_triggers, "Cron trigger"))

    def _delete_cron(self, call: Call) -> None:
        self._remove(
            self._state.cron_triggers, self._found(call, self._state.cron_triggers, "Cron trigger")
        )

    def _remove(self, collection: Collection, found: Document) -> None:
        collection.delete(found["id"])
        self._service.trusts.remove(found["trust_id"])

    def _list_events(self, call: Call) -> dict[str, Any]:
        every = call.flag("all_projects")
        found = self._state.visible(call.context, self._state.event_triggers, every)
        return listed(call, "event_triggers", found, views.event_trigger)

    def _create_event(self, call: Call) -> dict[str, Any]:
        names = (
            "id", "name", "workflow_id", "workflow_input", "workflow_params", "exchange", "topic",
            "event", "scope",
        )  # fmt: skip
        given = call.fields("event_trigger", names)
        needed = ("exchange", "topic", "event", "workflow_id")
        if missing := [name for name in needed if not text_field(given, name)]:
            raise BadRequestError(f"Event trigger needs {', '.join(missing)}.")
        if given["topic"] not in TOPICS:
            detail = f"The topics of the local cloud are {', '.join(TOPICS)}"
            raise BadRequestError(f"{detail}, not {given['topic'][:100]}.")
        fields = self._common(call, given, self._state.event_triggers, "event trigger")
        where = {name: given[name] for name in ("exchange", "topic", "event")}
        made = self._state.made(call.context, **fields, **where)
        self._keep(call, self._state.event_triggers, made)
        self._service.event_triggers.begin()
        return views.event_trigger(made)

    def _show_event(self, call: Call) -> dict[str, Any]:
        return views.event_trigger(self._found(call, self._state.event_triggers, "Event trigger"))

    def _delete_event(self, call: Call) -> None:
        triggers = self._state.event_triggers
        self._remove(triggers, self._found(call, triggers, "Event trigger"))
