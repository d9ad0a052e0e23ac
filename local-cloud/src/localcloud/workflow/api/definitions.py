"""Requests on workflows, workbooks, actions and environments."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import yaml
from starlette.routing import BaseRoute

from localcloud.core.store import Collection, Document
from localcloud.web.http import ApiError, BadRequestError
from localcloud.workflow.actions.known import SYSTEM
from localcloud.workflow.api import views
from localcloud.workflow.api.call import Call, json_map, listed, routed, text_field
from localcloud.workflow.errors import duplicate, not_found
from localcloud.workflow.expressions.evaluator import EvaluationError
from localcloud.workflow.instance import Workflows
from localcloud.workflow.language.workflows import (
    Workbook,
    Workflow,
    actions_in,
    input_text,
    workbook_in,
    workflows_in,
)
from localcloud.workflow.model.state import scope

_WORDS = {
    "WorkflowDefinition": "Workflow",
    "ActionDefinition": "Action",
    "Workbook": "Workbook",
    "Environment": "Environment",
}


class Definitions:
    """Base of the requests on each kind of definition."""

    def __init__(self, service: Workflows) -> None:
        self._service = service
        self._state = service.state

    async def check(self, call: Call, tree: Any) -> None:
        """Raise BadRequestError for expressions that cannot be parsed."""
        try:
            await self._service.parts.evaluator.check(call.project, tree)
        except EvaluationError as error:
            raise BadRequestError(str(error)) from error

    def put(
        self, call: Call, collection: Collection, kind: str, name: str, **fields: Any
    ) -> Document:
        """Create a definition on POST, or replace it; return it."""
        namespace = fields.get("namespace", "")
        own = [
            each
            for each in collection.find(name=name, project_id=call.project)
            if each.get("namespace", "") == namespace
        ]
        if call.request.method == "POST":
            if own:
                raise duplicate(kind, name)
            self._state.room(call.context, collection)
            made = self._state.made(call.context, name=name, **fields)
        else:
            if not own:
                raise not_found(_WORDS[kind], f"name={name}, namespace={namespace}")
            made = {**own[0], **fields, "updated_at": self._state.now()}
        collection.put(made)
        return made

    def workflow(self, call: Call, made: Workflow, text: str, workbook: str | None) -> Document:
        """Create or replace a workflow."""
        return self.put(
            call,
            self._state.workflows,
            "WorkflowDefinition",
            made.name,
            namespace=call.query("namespace"),
            scope=scope(call.context, call.query("scope")),
            definition=text,
            spec=dict(made.body),
            tags=list(made.body.get("tags", ())),
            checksum=hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
            workbook=workbook,
        )

    def action(
        self, call: Call, name: str, body: Mapping[str, Any], text: str, workbook: str | None
    ) -> Document:
        """Create or replace an action."""
        return self.put(
            call,
            self._state.actions,
            "ActionDefinition",
            name,
            namespace=call.query("namespace"),
            scope=scope(call.context, call.query("scope")),
            definition=text,
            spec=dict(body),
            tags=list(body.get("tags", ())),
            workbook=workbook,
        )

    async def validated(self, call: Call, read: Any) -> dict[str, Any]:
        """Return whether a document is valid, and the reason if it is not."""
        try:
            await self.check(call, read(call.text()))
        except ApiError as error:
            return {"valid": False, "error": error.message}
        return {"valid": True}


class WorkflowRequests(Definitions):
    """The requests on workflows."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/workflows", self._list),
            routed("POST", "/v2/workflows", self._write, 201),
            routed("PUT", "/v2/workflows", self._write),
            routed("POST", "/v2/workflows/validate", self._validate),
            routed("GET", "/v2/workflows/{id}", self._show),
            routed("PUT", "/v2/workflows/{id}", self._replace),
            routed("DELETE", "/v2/workflows/{id}", self._delete),
            routed("GET", "/v2/workflows/{id}/members", self._members),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        state = self._state
        found = state.visible(call.context, state.workflows, call.flag("all_projects"))
        return listed(call, "workflows", found, views.workflow)

    async def _write(self, call: Call) -> dict[str, Any]:
        text = call.text()
        found = workflows_in(text)
        await self.check(call, [each.expressions() for each in found])
        with self._state.cloud.store.transaction():
            made = [self.workflow(call, each, text, None) for each in found]
        return {"workflows": [self._written(each) for each in made]}

    @staticmethod
    def _written(document: Document) -> dict[str, Any]:
        view = views.workflow(document)
        return {**view, "interface": json.loads(view["interface"])}

    async def _replace(self, call: Call) -> dict[str, Any]:
        known = self._state.own(call.context, self._found(call))
        text = call.text()
        found = workflows_in(text)
        if len(found) != 1:
            raise BadRequestError("More than one workflows are not supported for update by id.")
        await self.check(call, found[0].expressions())
        made = {
            **known,
            "name": found[0].name,
            "definition": text,
            "spec": dict(found[0].body),
            "tags": list(found[0].body.get("tags", ())),
            "updated_at": self._state.now(),
        }
        self._state.workflows.put(made)
        return self._written(made)

    async def _validate(self, call: Call) -> dict[str, Any]:
        return await self.validated(
            call, lambda text: [w.expressions() for w in workflows_in(text)]
        )

    def _found(self, call: Call) -> Document:
        return self._service.starts.workflow(
            call.context, call.argument("id"), call.query("namespace")
        )

    def _show(self, call: Call) -> dict[str, Any]:
        return views.workflow(self._found(call))

    def _delete(self, call: Call) -> None:
        state = self._state
        known = state.own(call.context, self._found(call))
        for word, triggers in (("cron", state.cron_triggers), ("event", state.event_triggers)):
            used = sorted(each["id"] for each in triggers.find(workflow_id=known["id"]))
            if used:
                detail = f"[workflow_identifier={call.argument('id')}]"
                raise BadRequestError(
                    f"Can't delete workflow that has {word} triggers associated. {detail},"
                    f" [{word}_trigger_id(s)={', '.join(used)}]"
                )
        state.workflows.delete(known["id"])

    def _members(self, call: Call) -> dict[str, Any]:
        self._found(call)
        return {"members": []}


class WorkbookRequests(Definitions):
    """The requests on workbooks."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/workbooks", self._list),
            routed("POST", "/v2/workbooks", self._write, 201),
            routed("PUT", "/v2/workbooks", self._write),
            routed("POST", "/v2/workbooks/validate", self._validate),
            routed("GET", "/v2/workbooks/{name}", self._show),
            routed("DELETE", "/v2/workbooks/{name}", self._delete),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        found = self._state.visible(call.context, self._state.workbooks)
        return listed(call, "workbooks", found, views.workbook)

    async def _write(self, call: Call) -> dict[str, Any]:
        text = call.text()
        book = workbook_in(text)
        await self.check(call, book.expressions())
        state = self._state
        with state.cloud.store.transaction():
            made = self.put(
                call,
                state.workbooks,
                "Workbook",
                book.name,
                namespace=call.query("namespace"),
                scope=scope(call.context, call.query("scope")),
                definition=text,
                tags=list(book.body.get("tags", ())),
            )
            self._remove_others(call, book)
            for name, body in book.actions.items():
                self._part(call, state.actions, name, book.name, body, "ActionDefinition")
            for name, workflow in book.workflows.items():
                body = workflow.body
                self._part(call, state.workflows, name, book.name, body, "WorkflowDefinition")
        return views.workbook(made)

    def _part(
        self, call: Call, into: Collection, name: str, book: str, body: Any, kind: str
    ) -> None:
        own = name.removeprefix(f"{book}.")
        fields = {
            "namespace": call.query("namespace"),
            "scope": scope(call.context, call.query("scope")),
            "definition": yaml.safe_dump({own: dict(body)}, sort_keys=False),
            "spec": dict(body),
            "tags": list(body.get("tags", ())),
            "checksum": None,
            "workbook": book,
        }
        known = next(into.find(name=name, project_id=call.project), None)
        if known is None:
            into.put(self._state.made(call.context, name=name, **fields))
        elif known["workbook"] == book:
            into.put({**known, **fields, "updated_at": self._state.now()})
        else:
            raise duplicate(kind, name)

    def _remove_others(self, call: Call, book: Workbook) -> None:
        """Remove definitions that the workbook no longer contains."""
        for remaining, parts in (
            (book.workflows, self._state.workflows),
            (book.actions, self._state.actions),
        ):
            for each in list(parts.find(workbook=book.name, project_id=call.project)):
                if each["name"] not in remaining:
                    parts.delete(each["id"])

    async def _validate(self, call: Call) -> dict[str, Any]:
        return await self.validated(call, lambda text: workbook_in(text).expressions())

    def _found(self, call: Call) -> Document:
        name = call.argument("name")
        found = self._state.named(
            call.project, self._state.workbooks, name, call.query("namespace")
        )
        if found is None:
            raise not_found("Workbook", f"workbook_name={name}")
        return found

    def _show(self, call: Call) -> dict[str, Any]:
        return views.workbook(self._found(call))

    def _delete(self, call: Call) -> None:
        known = self._state.own(call.context, self._found(call))
        self._state.workbooks.delete(known["id"])


class ActionRequests(Definitions):
    """The requests on actions."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/actions", self._list),
            routed("POST", "/v2/actions", self._write, 201),
            routed("PUT", "/v2/actions", self._write),
            routed("POST", "/v2/actions/validate", self._validate),
            routed("GET", "/v2/actions/{name}", self._show),
            routed("DELETE", "/v2/actions/{name}", self._delete),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        own = self._state.visible(call.context, self._state.actions)
        items = [*map(_system, sorted(SYSTEM)), *(views.action(each) for each in own)]
        return listed(call, "actions", items, lambda each: each)

    async def _write(self, call: Call) -> dict[str, Any]:
        text = call.text()
        found = actions_in(text)
        await self.check(call, dict(found))
        if taken := [name for name in found if name in SYSTEM]:
            raise BadRequestError(f"Attempt to modify a system action: {taken[0]}")
        with self._state.cloud.store.transaction():
            made = [self.action(call, name, body, text, None) for name, body in found.items()]
        return {"actions": [views.action(each) for each in made]}

    async def _validate(self, call: Call) -> dict[str, Any]:
        return await self.validated(call, lambda text: dict(actions_in(text)))

    def _found(self, call: Call) -> Document:
        name = call.argument("name")
        found = self._state.named(call.project, self._state.actions, name)
        if found is None:
            raise not_found("Action", f"name={name}, namespace={call.query('namespace')}")
        return found

    def _show(self, call: Call) -> dict[str, Any]:
        name = call.argument("name")
        return _system(name) if name in SYSTEM else views.action(self._found(call))

    def _delete(self, call: Call) -> None:
        name = call.argument("name")
        if name in SYSTEM:
            raise not_found("Action definition", f"action_name={name}, namespace=")
        self._state.actions.delete(self._state.own(call.context, self._found(call))["id"])


def _system(name: str) -> dict[str, Any]:
    action = SYSTEM[name]
    return {
        "id": name,
        "name": name,
        "is_system": True,
        "input": input_text(action.inputs, json.dumps),
        "description": action.description,
        "tags": None,
        "definition": "",
        "scope": "public",
        "project_id": None,
        "created_at": "",
        "updated_at": "",
        "namespace": "",
    }


class EnvironmentRequests(Definitions):
    """The requests on environments."""

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/environments", self._list),
            routed("POST", "/v2/environments", self._write, 201),
            routed("PUT", "/v2/environments", self._write),
            routed("GET", "/v2/environments/{name}", self._show),
            routed("DELETE", "/v2/environments/{name}", self._delete),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        found = self._state.visible(call.context, self._state.environments)
        return listed(call, "environments", found, views.environment)

    def _write(self, call: Call) -> dict[str, Any]:
        known = ("id", "name", "description", "variables", "scope")
        given = call.fields("env", known)
        name = text_field(given, "name")
        if not name:
            raise BadRequestError("Please provide the name of an environment.")
        fields: dict[str, Any] = {
            "description": text_field(given, "description", 1000),
            "variables": json_map("env", given, "variables"),
            "scope": scope(call.context, given.get("scope")),
        }
        if call.request.method == "PUT":
            fields = {key: value for key, value in fields.items() if key in given}
        environments = self._state.environments
        return views.environment(self.put(call, environments, "Environment", name, **fields))

    def _found(self, call: Call) -> Document:
        name = call.argument("name")
        found = self._state.named(call.project, self._state.environments, name)
        if found is None:
            raise not_found("Environment", f"name={name}")
        return found

    def _show(self, call: Call) -> dict[str, Any]:
        return views.environment(self._found(call))

    def _delete(self, call: Call) -> None:
        self._state.environments.delete(self._state.own(call.context, self._found(call))["id"])
