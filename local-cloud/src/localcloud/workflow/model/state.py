"""The documents of the workflow service, and which of them a caller may see."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Collection, Document
from localcloud.web.http import BadRequestError, ForbiddenError, RequestContext
from localcloud.workflow.errors import not_found
from localcloud.workflow.model.states import ENDED

# Definitions of each kind in a project: workflows, workbooks, actions, environments, triggers.
MOST_DEFINITIONS = 1_000
MOST_EXECUTIONS = 1_000  # per project; a new one replaces the oldest that has ended
_SCOPES = ("private", "public")


class State:
    """The collections of the workflow service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        named = ("name", "project_id")

        def collection(kind: str, *index: str) -> Collection:
            return cloud.store.collection(f"workflow.{kind}", index=index)

        self.workflows = collection("workflow", *named, "workbook")
        self.workbooks = collection("workbook", *named)
        self.actions = collection("action", *named, "workbook")
        self.environments = collection("environment", *named)
        self.cron_triggers = collection("cron_trigger", *named, "workflow_id")
        self.event_triggers = collection("event_trigger", *named, "workflow_id")
        self.executions = collection(
            "execution", "project_id", "state", "task_execution_id", "root_execution_id"
        )
        self.tasks = collection("task", "workflow_execution_id", "project_id", "open_in")
        self.action_executions = collection(
            "action_execution", "task_execution_id", "project_id", "state"
        )

    def now(self) -> str:
        """Return the current time in the format of responses."""
        return self.cloud.clock.now().strftime("%Y-%m-%d %H:%M:%S")

    def moment(self) -> float:
        """Return the current time in seconds since the epoch."""
        return self.cloud.clock.now().timestamp()

    def visible(
        self, who: RequestContext, collection: Collection, every: bool = False
    ) -> Iterable[Document]:
        """Return the documents that a caller may see: the project's own, and public ones."""
        if every and who.is_admin:
            return collection.values()
        project = who.require_project()
        return [
            each
            for each in collection.values()
            if each["project_id"] == project or each.get("scope") == "public"
        ]

    def found(self, who: RequestContext, collection: Collection, key: str, kind: str) -> Document:
        """Return the document with an ID; raises NotFoundError."""
        document = collection.get(key)
        if document is None or not _may_see(who, document):
            raise not_found(kind, f"id={key}")
        return document

    def named(
        self, project_id: str, collection: Collection, name: str, namespace: str = ""
    ) -> Document | None:
        """Return the document with a name; the project's own takes precedence over a public one."""
        found = [
            each
            for each in collection.find(name=name)
            if each.get("namespace", "") == namespace
            and (each["project_id"] == project_id or each.get("scope") == "public")
        ]
        found.sort(key=lambda each: bool(each["project_id"] != project_id))
        return found[0] if found else None

    def workflow(self, project_id: str, identifier: str, namespace: str = "") -> Document | None:
        """Return a workflow by ID or name."""
        known = self.workflows.get(identifier)
        if known is not None and (known["project_id"] == project_id or known["scope"] == "public"):
            return known
        found = self.named(project_id, self.workflows, identifier, namespace)
        if found is None and namespace:
            found = self.named(project_id, self.workflows, identifier)
        return found

    def own(self, who: RequestContext, document: Document) -> Document:
        """Return a document that the caller may change; raises ForbiddenError."""
        if not (who.is_admin or document["project_id"] == who.project_id):
            detail = "Can not change what another project has made public."
            raise ForbiddenError(f"{detail} [id={document['id']}]")
        return document

    def room(self, who: RequestContext, collection: Collection) -> None:
        """Raise ForbiddenError if a project has reached the limit of definitions."""
        own = sum(1 for _ in collection.find(project_id=who.require_project()))
        if own >= MOST_DEFINITIONS:
            raise ForbiddenError(f"A project has at most {MOST_DEFINITIONS} of them.")

    def made(self, who: RequestContext, **fields: Any) -> Document:
        """Return a new document of the caller's project, not yet stored."""
        now = self.now()
        return {
            "id": str(uuid4()),
            "project_id": who.require_project(),
            "created_at": now,
            "updated_at": None,
            **fields,
        }

    def children(self, task: Document) -> list[Document]:
        """Return the actions and workflows that a task has run, in the order of their creation."""
        kind = self.executions if task["type"] == "WORKFLOW" else self.action_executions
        return list(kind.find(task_execution_id=task["id"]))

    def tasks_of(self, execution_id: str) -> list[Document]:
        """Return the tasks of an execution, in the order of their creation."""
        return list(self.tasks.find(workflow_execution_id=execution_id))

    def changed(self, task: Document, **fields: Any) -> Document:
        """Change fields of a task; return it."""
        made = {**(self.tasks.get(task["id"]) or task), **fields, "updated_at": self.now()}
        self.put_task(made)
        return made

    def put_task(self, task: Document) -> None:
        """Store a task, and index it as open until it has ended and its successors are created."""
        done = task["state"] in ENDED and task["processed"]
        self.tasks.put({**task, "open_in": None if done else task["workflow_execution_id"]})

    def open_tasks(self, execution_id: str) -> list[Document]:
        """Return the tasks of an execution that still run or have successors to create."""
        return list(self.tasks.find(open_in=execution_id))

    def put_child(self, child: Document) -> None:
        """Store an action or workflow that a task has run."""
        (self.executions if "spec" in child else self.action_executions).put(child)

    def below(self, execution: Document) -> Iterator[Document]:
        """Yield the executions below an execution, each before those that it has started."""
        for task in self.tasks_of(execution["id"]):
            for child in self.executions.find(task_execution_id=task["id"]):
                yield child
                yield from self.below(child)

    def remove(self, execution: Document) -> None:
        """Remove an execution, its tasks, and everything below it."""
        with self.cloud.store.transaction():
            for each in [execution, *self.below(execution)]:
                for task in self.tasks_of(each["id"]):
                    self.action_executions.delete_all(task_execution_id=task["id"])
                    self.tasks.delete(task["id"])
                self.executions.delete(each["id"])

    def make_room(self, project_id: str) -> None:
        """Remove the project's oldest finished execution if the project has too many.

        Raises ForbiddenError if none has finished.
        """
        own = list(self.executions.find(project_id=project_id))
        if len(own) < MOST_EXECUTIONS:
            return
        ended = (e for e in own if e["state"] in ENDED and e["task_execution_id"] is None)
        oldest = next(ended, None)
        if oldest is None:
            raise ForbiddenError(f"A project has at most {MOST_EXECUTIONS} executions.")
        self.remove(oldest)

    def make_room_for_actions(self, project_id: str) -> None:
        """Remove the project's oldest finished standalone action if it has too many.

        Raises ForbiddenError if none has finished.
        """
        own = [
            each
            for each in self.action_executions.find(project_id=project_id)
            if each["task_execution_id"] is None
        ]
        if len(own) < MOST_EXECUTIONS:
            return
        oldest = next((each for each in own if each["state"] in ENDED), None)
        if oldest is None:
            raise ForbiddenError(
                f"A project has at most {MOST_EXECUTIONS} actions taken by themselves."
            )
        self.action_executions.delete(oldest["id"])


def scope(who: RequestContext, given: Any) -> str:
    """Return the requested scope.

    Raises BadRequestError, and ForbiddenError if it is public but the caller is no admin.
    """
    chosen = given or "private"
    if chosen not in _SCOPES:
        detail = f"{{'private', 'public'}}; actual: {str(chosen)[:50]}"
        raise BadRequestError(f"Scope must be one of the following: {detail}")
    if chosen == "public" and not who.is_admin:
        raise ForbiddenError("Policy does not allow this request: to publish needs the role admin.")
    return str(chosen)


def _may_see(who: RequestContext, document: Document) -> bool:
    if who.is_admin or document.get("scope") == "public":
        return True
    return bool(document["project_id"] == who.project_id)
