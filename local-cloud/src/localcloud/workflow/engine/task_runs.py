"""Starts and progress of tasks."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from localcloud.core.store import Document
from localcloud.workflow.actions import known
from localcloud.workflow.actions.running import Actions
from localcloud.workflow.engine.attempts import Attempts
from localcloud.workflow.engine.contexts import Contexts, workflow_of
from localcloud.workflow.engine.next_tasks import NextTasks
from localcloud.workflow.engine.policies import checked_policies, rows
from localcloud.workflow.engine.sub_executions import SubExecutions
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.language.tasks import Task
from localcloud.workflow.language.workflows import completed
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import (
    CANCELLED,
    DELAYED,
    ENDED,
    ERROR,
    IDLE,
    PAUSED,
    RUNNING,
    SUCCESS,
    WAITING,
)


class TaskRuns:
    """Advances tasks one step at a time. The caller must hold the lock of their execution."""

    def __init__(
        self,
        state: State,
        contexts: Contexts,
        actions: Actions,
        following: NextTasks,
        subs: SubExecutions,
        attempts: Attempts,
    ) -> None:
        self._state = state
        self._contexts = contexts
        self._actions = actions
        self._following = following
        self._subs = subs
        self._attempts = attempts

    async def settle(self, execution: Document, task: Document) -> bool:
        """Advance a task by one step; return whether anything has changed."""
        goes_on = execution["state"] == RUNNING
        if task["state"] == WAITING and goes_on:
            return await self._join(execution, task)
        if task["state"] == IDLE and goes_on:
            await self._begin(execution, task)
            return True
        if task["state"] == DELAYED and goes_on and task["due"] <= self._state.moment():
            await self._resume(execution, task)
            return True
        if task["state"] in (RUNNING, PAUSED):
            return await self._check(execution, task)
        return False

    async def _join(self, execution: Document, task: Document) -> bool:
        state, led, failed = self._following.joined(execution, task)
        if state == WAITING:
            return False
        ending = self._attempts.ending
        if state == ERROR:
            triggers = [
                {"task_id": each["id"], "event": "not triggered"}
                for each in self._state.tasks_of(execution["id"])
                if each["name"] in failed
            ]
            task = self._state.changed(task, runtime_context={"triggered_by": triggers})
            await ending.complete(execution, task, ERROR, f"Failed by tasks: {failed}")
        else:
            ending.join(task, led)
        return True

    async def _begin(self, execution: Document, task: Document) -> None:
        spec = workflow_of(execution).tasks[task["name"]]
        if task["policies"] is None:
            said = {k: v for k, v in spec.policies.items() if k != "fail-on"}
            said["keep-result"] = spec.keeps_result
            found = await self._contexts.value(execution, task, said, task["context"])
            policies = checked_policies(found)
            if "fail-on" in spec.policies:
                policies["fail-on"] = True  # evaluated after the result is known
            task = self._state.changed(task, policies=policies, started_at=self._state.now())
        policies = task["policies"]
        if policies.get("pause-before") and task["phase"] == "":
            with self._state.cloud.store.transaction():
                reason = "Set by 'pause-before' policy"
                self._state.changed(task, phase="paused", state_info=reason)
                self._state.executions.put({**execution, "state": PAUSED})
            return
        if policies.get("wait-before"):
            context = {**task["runtime_context"], "wait_before_policy": {"skip": True}}
            self._attempts.delay(task, "run", policies["wait-before"], runtime_context=context)
            return
        await self._run(execution, task, spec)

    async def _resume(self, execution: Document, task: Document) -> None:
        if task["phase"] == "run":
            await self._run(execution, task, workflow_of(execution).tasks[task["name"]])
            return
        state = task["phase"].partition(":")[2]
        await self._attempts.ending.complete(execution, task, state, task["state_info"])

    async def _run(self, execution: Document, task: Document, spec: Task) -> None:
        """Start the actions or sub-workflows of a task."""
        policies = task["policies"]
        if spec.items and task["items"] is None:
            found = await self._contexts.value(execution, task, spec.items, task["context"])
            items, limit = rows(found), policies.get("concurrency")
            context = dict(task["runtime_context"])
            context["with_items"] = {"count": len(items), "capacity": limit}
            if limit:
                context["concurrency"] = limit
            task = self._state.changed(task, items=items, runtime_context=context)
        timeout = policies.get("timeout")
        expires = self._state.moment() + timeout if timeout else None
        task = self._state.changed(
            task, state=RUNNING, state_info=None, phase="", due=None, expires=expires
        )
        if task["items"] == []:
            await self._attempts.ended(execution, task, SUCCESS, None)
        else:
            await self._schedule(execution, task, spec)

    async def _schedule(self, execution: Document, task: Document, spec: Task) -> None:
        """Start the remaining actions or sub-workflows, up to the task's limit of concurrency."""
        children = self._counted(task)
        started = {each["index"] for each in children}
        items = [{}] if task["items"] is None else task["items"]
        indexes = [number for number in range(len(items)) if number not in started]
        if limit := task["policies"].get("concurrency"):
            running = sum(1 for each in children if each["state"] not in ENDED)
            indexes = indexes[: max(0, limit - running)]
        tree = {"target": spec.target, "input": spec.input}
        chosen = [items[number] for number in indexes]
        found = await self._contexts.values(execution, task, tree, task["context"], chosen)
        for number, each in zip(indexes, found, strict=True):
            given = {} if each["input"] is None else each["input"]
            if not isinstance(given, dict):
                raise RunFailedError(
                    f"The input of task {task['name']} is a map, not {given!r:.100}"
                )
            if not spec.is_workflow:
                self._act(execution, task, str(each["target"]), given, number)
            elif failure := self._subs.begin(execution, task, str(each["target"]), given, number):
                await self._attempts.ended(execution, task, ERROR, failure)
                return

    def _act(
        self, execution: Document, task: Document, name: str, given: Mapping[str, Any], number: int
    ) -> None:
        workbook = execution["workbook"]
        action = known.found(self._state, execution["project_id"], name, workbook)
        env = (execution["params"].get("env") or {}).get("__actions")
        defaults = env.get(action.name) if isinstance(env, dict) else None
        if isinstance(defaults, dict):
            given = {**{k: v for k, v in defaults.items() if k in action.inputs}, **given}
        checked = completed(action.name, action.inputs, given)
        now = self._state.now()
        run = {
            "id": str(uuid4()),
            "name": action.name,
            "task_execution_id": task["id"],
            "task_name": task["name"],
            "workflow_name": execution["workflow_name"],
            "workflow_namespace": execution["workflow_namespace"],
            "project_id": execution["project_id"],
            "trust_id": None,
            "state": RUNNING,
            "input": checked if action.above else dict(given),
            "output": None,
            "accepted": False,
            "dropped": False,
            "index": number,
            "description": "",
            "created_at": now,
            "updated_at": now,
        }
        self._state.action_executions.put(run)
        self._actions.begin(run, workbook)

    async def _check(self, execution: Document, task: Document) -> bool:
        """Process the results of a task's actions or sub-workflows."""
        if task["expires"] is not None and task["expires"] <= self._state.moment():
            for each in self._counted(task):
                if each["state"] not in ENDED:
                    self._leave(each)
            reason = f"Task timed out [timeout(s)={task['policies']['timeout']}]."
            await self._attempts.ended(execution, task, ERROR, reason)
            return True
        children = self._counted(task)
        states = {each["state"] for each in children}
        expected = 1 if task["items"] is None else len(task["items"])
        if states <= ENDED and len(children) == expected:
            state = next((s for s in (ERROR, CANCELLED) if s in states), SUCCESS)
            await self._attempts.ended(execution, task, state, _why(task, children, state))
            return True
        stands = PAUSED if PAUSED in states else RUNNING
        if task["state"] != stands:
            with self._state.cloud.store.transaction():
                self._state.changed(task, state=stands)
                if execution["state"] in (RUNNING, PAUSED):
                    self._state.executions.put({**execution, "state": stands})
            return True
        if len(children) < expected and execution["state"] == RUNNING:
            await self._schedule(execution, task, workflow_of(execution).tasks[task["name"]])
            return len(self._counted(task)) > len(children)
        return False

    def _counted(self, task: Document) -> list[Document]:
        return [each for each in self._state.children(task) if not each["dropped"]]

    def _leave(self, child: Document) -> None:
        if "spec" in child:
            self._state.put_child({**child, "dropped": True})
            self._subs.cancel(child)
        else:
            self._actions.leave(child)


def _why(task: Document, children: list[Document], state: str) -> str | None:
    """Return the reason of a task's failure."""
    if state != ERROR:
        return None
    if task["items"] is not None:
        return "One or more actions had failed."
    child = children[-1]
    if "spec" in child:
        return str(child["state_info"])
    return str((child["output"] or {}).get("result"))
