"""Drives executions: each one continues after every event that affects it.

The next step of an execution depends only on its documents. So they are read again after each
event, at due times, and at the start of the cloud: there is no other recovery.
"""

import logging
from functools import partial

from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.web.http import ApiError
from localcloud.workflow.engine.contexts import workflow_of
from localcloud.workflow.engine.execution_ends import ExecutionEnds
from localcloud.workflow.engine.parts import Parts
from localcloud.workflow.engine.timers import Timers
from localcloud.workflow.expressions.evaluator import EvaluationError
from localcloud.workflow.failures import RunFailedError, failed_to_run
from localcloud.workflow.model.states import CANCELLED, ENDED, ERROR, PAUSED, RUNNING, SUCCESS

_LOG = logging.getLogger(__name__)


class Engine:
    """The executions of the cloud."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._state = parts.state
        self.work = Work()
        self._asked: set[str] = set()
        self._wakes = Timers(parts.state, self.soon)
        self._ends = ExecutionEnds(parts.state, parts.trusts, parts.outputs, self.soon)
        parts.actions.ended = self._action_ended
        parts.subs.on_started = self.soon
        parts.subs.cancel = self._cancel_soon

    def begin(self) -> None:
        """Resume everything that was unfinished when the cloud was stopped."""
        for run in list(self._state.action_executions.find(state=RUNNING)):
            task = self._state.tasks.get(run["task_execution_id"] or "")
            execution = task and self._state.executions.get(task["workflow_execution_id"])
            again = False
            if task is not None and execution is not None:
                again = workflow_of(execution).tasks[task["name"]].reruns_safely
            self._parts.actions.recover(run, again, execution["workbook"] if execution else "")
        for state in (RUNNING, PAUSED):
            for execution in list(self._state.executions.find(state=state)):
                self.soon(execution["id"])

    async def stop(self) -> None:
        """Stop all work; the next process resumes it."""
        await self._wakes.stop()
        await self._parts.actions.stop()
        await self.work.stop()
        await self._parts.evaluator.stop()

    def soon(self, execution_id: str) -> None:
        """Continue an execution in the background."""
        if execution_id not in self._asked:
            self._asked.add(execution_id)
            self.work.begin(execution_id, partial(self._advance, execution_id))

    def start(self, execution: Document) -> None:
        """Start an execution."""
        self._state.executions.put(execution)
        self.soon(execution["id"])

    def _action_ended(self, run: Document) -> None:
        task = self._state.tasks.get(run["task_execution_id"] or "")
        if task is not None:
            self.soon(task["workflow_execution_id"])

    def _cancel_soon(self, execution: Document) -> None:
        change = partial(self.change, execution["id"], CANCELLED, None)
        self.work.begin(execution["id"], change)

    def _tell_parent(self, execution: Document) -> None:
        parent = self._state.tasks.get(execution["task_execution_id"] or "")
        if parent is not None:
            self.soon(parent["workflow_execution_id"])

    async def _advance(self, execution_id: str) -> None:
        self._asked.discard(execution_id)
        while True:
            execution = self._state.executions.get(execution_id)
            if execution is None:
                return
            try:
                if not await self._step(execution):
                    break
            except (RunFailedError, EvaluationError, ApiError) as error:
                await self.end(execution_id, ERROR, str(error))
            except Exception:  # noqa: BLE001  (the execution must not stop silently)
                _LOG.exception("execution %s cannot continue", execution_id)
                await self.end(execution_id, ERROR, "The cloud cannot continue; its log says why.")
                return
        self._wakes.set(execution_id)
        if execution["state"] == PAUSED:
            self._tell_parent(execution)

    async def _step(self, execution: Document) -> bool:
        """Take all possible steps; return whether there were any."""
        if not execution["begun"] and execution["state"] == RUNNING:
            await self._open(execution)
            return True
        changed = False
        for task in self._state.open_tasks(execution["id"]):
            latest = self._state.executions.get(execution["id"])
            known = self._state.tasks.get(task["id"])
            if latest is not None and known is not None and known["state"] not in ENDED:
                changed |= await self._settled(latest, known)
        if (latest := self._state.executions.get(execution["id"])) is None:
            return False
        if latest["state"] == RUNNING and not changed:
            changed = await self._follow(latest)
        if not changed and latest["state"] == RUNNING:
            verdict = self._ends.verdict(latest)
            if verdict is not None:
                await self.end(latest["id"], *verdict)
        return changed

    async def _settled(self, execution: Document, task: Document) -> bool:
        try:
            return await self._parts.runs.settle(execution, task)
        except (RunFailedError, EvaluationError, ApiError) as error:
            message = str(error)
            if not message.startswith("Failed to handle"):
                message = failed_to_run(message, execution, task)
            latest = self._state.tasks.get(task["id"]) or task
            now = self._state.now()
            failed = {
                **latest, "state": ERROR, "state_info": message, "processed": True,
                "updated_at": now, "finished_at": now,
            }  # fmt: skip
            self._state.put_task(failed)
            await self.end(execution["id"], ERROR, message)
            return True

    async def _open(self, execution: Document) -> None:
        variables = await self._parts.outputs.variables(execution)
        execution = {**execution, "vars": variables, "begun": True}
        with self._state.cloud.store.transaction():
            self._state.executions.put(execution)
            self._parts.following.first(execution)

    async def _follow(self, execution: Document) -> bool:
        """Carry out the commands of ended tasks."""
        if workflow_of(execution).is_reverse:
            return self._parts.following.required(execution)
        changed = False
        for task in self._state.open_tasks(execution["id"]):
            if task["state"] in ENDED:
                changed = True
                if await self._carry_out(execution, task):
                    return True
        return changed

    async def _carry_out(self, execution: Document, task: Document) -> bool:
        """Carry out the commands of one task; return whether the execution then stops or pauses."""
        commands = list(task["commands"])
        while commands:
            command = commands.pop(0)
            name = command["name"]
            stands = name in ("fail", "succeed", "pause")
            with self._state.cloud.store.transaction():
                if not stands and name != "noop":
                    self._parts.following.led_to(execution, task, name, command["event"])
                done = not commands or name in ("fail", "succeed")
                self._state.put_task({**task, "commands": commands, "processed": done})
                if name == "pause":
                    self._state.executions.put({**execution, "state": PAUSED})
            if name in ("fail", "succeed"):
                await self._begin_made(execution)
                state = ERROR if name == "fail" else SUCCESS
                await self.end(execution["id"], state, command["parameters"].get("msg"))
            if stands:
                return True
        self._state.put_task({**task, "commands": [], "processed": True})
        return False

    async def _begin_made(self, execution: Document) -> None:
        """Run the tasks that were created before the command that ends the execution."""
        for task in self._state.open_tasks(execution["id"]):
            if task["state"] not in ENDED:
                await self._settled(execution, task)

    async def end(self, execution_id: str, state: str, info: str | None) -> None:
        """End an execution in a state."""
        await self._ends.end(execution_id, state, info)

    async def change(self, execution_id: str, state: str, info: str | None) -> None:
        """Change the state of an execution, and of the executions below it if it affects them.

        The caller must hold the execution's lock.
        """
        execution = self._state.executions.get(execution_id)
        if execution is None or execution["state"] in ENDED:
            return
        if state in ENDED:
            await self.end(execution_id, state, info)
        else:
            now = self._state.now()
            changed = {**execution, "state": state, "state_info": info, "updated_at": now}
            self._state.executions.put(changed)
            self.soon(execution_id)
            self._tell_parent(execution)
        if state in (CANCELLED, PAUSED, RUNNING):
            for child in list(self._state.below(execution)):
                if child["state"] not in ENDED and child["state"] != state:
                    change = partial(self.change, child["id"], state, info)
                    self.work.begin(child["id"], change)

    def rerun(self, task: Document, whole: bool, trust_id: str) -> None:
        """Restart a failed task and the executions above it, with the rights of a trust."""
        self._parts.attempts.rerun(task, whole)
        execution = self._state.executions.get(task["workflow_execution_id"])
        while execution is not None:
            again = {**execution, "state": RUNNING, "state_info": None, "output": None}
            parent = self._state.tasks.get(execution["task_execution_id"] or "")
            # Actions use the trust of the root execution.
            self._state.executions.put(again if parent else {**again, "trust_id": trust_id})
            self.soon(execution["id"])
            if parent is None:
                return
            if parent["state"] in ENDED:
                fields = {"state": RUNNING, "state_info": None, "processed": False}
                self._state.put_task({**parent, **fields, "commands": [], "next": []})
            execution = self._state.executions.get(parent["workflow_execution_id"])
