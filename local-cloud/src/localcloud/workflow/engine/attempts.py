"""Policies on the result of an attempt at a task: its end, another attempt, or a pause."""

from localcloud.core.store import Document
from localcloud.workflow.engine.completion import Completion
from localcloud.workflow.engine.contexts import Contexts, workflow_of
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import DELAYED, ERROR, IDLE, RUNNING, SUCCESS

END = "end"  # phase after `wait-after`: the task ends in the state behind the colon


class Attempts:
    """Applies the policies on how tasks end."""

    def __init__(self, state: State, contexts: Contexts, ending: Completion) -> None:
        self._state = state
        self._contexts = contexts
        self.ending = ending

    async def ended(
        self, execution: Document, task: Document, state: str, info: str | None
    ) -> None:
        """Continue after an attempt has ended in a state."""
        policies = task["policies"]
        spec = workflow_of(execution).tasks[task["name"]]
        if state == SUCCESS and "fail-on" in policies:
            said = spec.policies["fail-on"]  # evaluated now because it may refer to the result
            if await self._contexts.value(execution, task, said, task["context"]):
                state, info = ERROR, "Failed by 'fail-on' policy"
        if execution["state"] == RUNNING and await self._again(execution, task, state, info):
            return
        if state in (SUCCESS, ERROR) and policies.get("wait-after"):
            context = {**task["runtime_context"], "wait_after_policy": {"skip": True}}
            self.delay(
                task, f"{END}:{state}", policies["wait-after"],
                state_info=info, runtime_context=context,
            )  # fmt: skip
            return
        await self.ending.complete(execution, task, state, info)

    def delay(self, task: Document, phase: str, seconds: float, **more: object) -> None:
        """Delay the next phase of a task."""
        due = self._state.moment() + seconds
        self._state.changed(task, state=DELAYED, phase=phase, due=due, expires=None, **more)

    async def _again(
        self, execution: Document, task: Document, state: str, info: str | None
    ) -> bool:
        retry = task["policies"].get("retry")
        if not retry or state not in (SUCCESS, ERROR):
            return False
        conditions = workflow_of(execution).tasks[task["name"]].retry_conditions
        said = await self._contexts.value(execution, task, conditions, task["context"])
        done = (task["runtime_context"].get("retry_task_policy") or {}).get("retry_no", 0)
        noted = {"retry_no": done} if done else {}
        is_wanted = not said.get("break-on") if state == ERROR else bool(said.get("continue-on"))
        if not is_wanted or done >= retry["count"]:
            context = {**task["runtime_context"], "retry_task_policy": noted}
            self._state.changed(task, runtime_context=context)
            return False
        context = {**task["runtime_context"], "retry_task_policy": {"retry_no": done + 1}}
        with self._state.cloud.store.transaction():
            self._drop(task, whole=state == SUCCESS)
            self.delay(task, "run", retry["delay"], state_info=info, runtime_context=context)
        return True

    def rerun(self, task: Document, whole: bool) -> None:
        """Restart a failed task; its successful parts stay unless ``whole``."""
        with self._state.cloud.store.transaction():
            self._drop(task, whole)
            self._state.changed(
                task, state=IDLE, state_info=None, processed=False, policies=None, phase="",
                commands=[], next=[], finished_at=None, items=None if whole else task["items"],
            )  # fmt: skip

    def _drop(self, task: Document, whole: bool) -> None:
        for each in self._state.children(task):
            if whole or each["state"] != SUCCESS:
                self._state.put_child({**each, "accepted": False, "dropped": True})
