"""The next tasks of an execution."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from localcloud.core.store import Document
from localcloud.workflow.engine.contexts import outbound, workflow_of
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.language.tasks import Task
from localcloud.workflow.language.workflows import Workflow
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import ENDED, ERROR, IDLE, SUCCESS, WAITING

MOST_TASKS = 1_000  # per execution


class NextTasks:
    """Creates the tasks of executions."""

    def __init__(self, state: State) -> None:
        self._state = state

    def first(self, execution: Document) -> None:
        """Create the first tasks of an execution."""
        workflow = workflow_of(execution)
        if workflow.is_reverse:
            self.required(execution)
            return
        for name in workflow.first:
            self._put(execution, workflow.tasks[name], IDLE, [])

    def required(self, execution: Document) -> bool:
        """Create the tasks of a reverse workflow whose required tasks have succeeded.

        Returns whether there are any.
        """
        workflow, made = workflow_of(execution), False
        known = {task["name"]: task for task in self._state.tasks_of(execution["id"])}
        for name in workflow.needed(execution["params"]["task_name"]):
            if name in known:
                continue
            before = [known.get(each) for each in workflow.tasks[name].requires]
            done = [task for task in before if task is not None and task["state"] == SUCCESS]
            if len(done) == len(before):
                self._put(execution, workflow.tasks[name], IDLE, done)
                made = True
        return made

    def led_to(self, execution: Document, by: Document, name: str, event: str) -> None:
        """Create the task that another one leads to.

        A joining task is created once: the other tasks that lead to it are added to it.
        """
        task = workflow_of(execution).tasks[name]
        trigger = {"task_id": by["id"], "event": event}
        if task.join is not None:
            known = [t for t in self._state.tasks_of(execution["id"]) if t["name"] == name]
            if known and known[-1]["state"] not in ENDED:
                before = known[-1]["runtime_context"]["triggered_by"]
                context = {**known[-1]["runtime_context"], "triggered_by": [*before, trigger]}
                self._state.put_task({**known[-1], "runtime_context": context})
            if known:
                return
        state = IDLE if task.join is None else WAITING
        self._put(execution, task, state, [by], [trigger])

    def _put(
        self,
        execution: Document,
        task: Task,
        state: str,
        before: Sequence[Document],
        triggers: Sequence[Document] = (),
    ) -> None:
        if len(self._state.tasks_of(execution["id"])) >= MOST_TASKS:
            raise RunFailedError(f"An execution has at most {MOST_TASKS} tasks.")
        context, versions = outbound(before)
        now = self._state.now()
        made = {
            "id": str(uuid4()),
            "name": task.name,
            "type": "WORKFLOW" if task.is_workflow else "ACTION",
            "workflow_execution_id": execution["id"],
            "workflow_name": execution["workflow_name"],
            "workflow_namespace": execution["workflow_namespace"],
            "workflow_id": execution["workflow_id"],
            "project_id": execution["project_id"],
            "tags": task.tags,
            "state": state,
            "state_info": None,
            "runtime_context": {"triggered_by": list(triggers)} if triggers else {},
            "published": {},
            "processed": False,
            "created_at": now,
            "updated_at": None,
            "started_at": None,
            "finished_at": None,
            "context": context,
            "versions": versions,
            "items": None,
            "forgotten": False,
            "policies": None,
            "phase": "",
            "due": None,
            "expires": None,
            "commands": [],
            "next": [],
        }
        self._state.put_task(made)

    def joined(self, execution: Document, task: Document) -> tuple[str, list[Document], list[str]]:
        """Return the state of a joining task.

        Also returns the tasks that have led to it, and the names of those that never will.
        """
        workflow = workflow_of(execution)
        every = self._state.tasks_of(execution["id"])
        latest = {each["name"]: each for each in every}
        led, failed, open_ = list[Document](), list[str](), 0
        for name in workflow.before(task["name"]):
            one = latest.get(name)
            if one is not None and one["state"] in ENDED and one["processed"]:
                if any(each[0] == task["name"] for each in one["next"]):
                    led.append(one)
                else:
                    failed.append(name)
            elif one is not None or self._may_come(workflow, every, name):
                open_ += 1
            else:
                failed.append(name)
        required = _required(workflow.tasks[task["name"]].join, len(led) + len(failed) + open_)
        if len(led) >= required:
            return IDLE, led, failed
        return (ERROR if len(led) + open_ < required else WAITING), led, failed

    @staticmethod
    def _may_come(workflow: Workflow, tasks: Sequence[Document], name: str) -> bool:
        """Return whether an unfinished task may still lead to a task."""
        waiting = [t["name"] for t in tasks if t["state"] not in ENDED or not t["processed"]]
        seen: set[str] = set()
        while waiting:
            each = waiting.pop()
            if each in seen or each not in workflow.tasks:
                continue
            seen.add(each)
            reached = workflow.tasks[each].following()
            if name in reached:
                return True
            waiting += reached
        return False


def _required(join: Any, every: int) -> int:
    if join == "all":
        return every
    return 1 if join == "one" else int(join)
