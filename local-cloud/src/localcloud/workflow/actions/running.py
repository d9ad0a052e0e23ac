"""Runs actions in the background."""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any

from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.web.http import ApiError
from localcloud.workflow.actions import known
from localcloud.workflow.actions.action import ActionError, Taken
from localcloud.workflow.expressions.evaluator import EvaluationError, Evaluator
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.language.workflows import completed, inputs_of
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import CANCELLED, ENDED, ERROR, RUNNING, SUCCESS

_LOG = logging.getLogger(__name__)
_WORKERS = 8
_MOST_BYTES = 1 << 20  # of a result
_LOST = "The cloud was stopped while the action ran; nobody knows what came of it."


class Actions:
    """The running actions."""

    def __init__(self, state: State, trusts: Trusts, evaluator: Evaluator) -> None:
        self._state = state
        self._trusts = trusts
        self._evaluator = evaluator
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # Called with each action that has ended.
        self.ended: Callable[[Document], None] = lambda _: None

    @cached_property
    def _workers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_WORKERS, "action")

    def begin(self, run: Document, workbook: str = "") -> None:
        """Run a stored action in the background."""
        task = asyncio.get_running_loop().create_task(self._take(run["id"], workbook))
        self._tasks[run["id"]] = task
        task.add_done_callback(lambda _: self._tasks.pop(run["id"], None))

    def recover(self, run: Document, again: bool, workbook: str) -> None:
        """Resume an action that ran when the cloud was stopped."""
        try:
            waits = known.found(self._state, run["project_id"], run["name"], workbook).system.waits
        except Exception:  # noqa: BLE001  (for example, its definition was deleted)
            waits = False
        if again:
            self.begin(run, workbook)
        elif not waits:
            self.end(run["id"], ERROR, _LOST)

    def end(self, run_id: str, state: str, result: Any) -> None:
        """Record the result of an action, unless it has one."""
        run = self._state.action_executions.get(run_id)
        if run is None or run["state"] in ENDED:
            return
        now = self._state.now()
        ended = {
            **run, "state": state, "output": {"result": result}, "accepted": True, "updated_at": now
        }  # fmt: skip
        self._state.action_executions.put({**ended, "trust_id": None})
        if run["trust_id"]:
            self._trusts.remove(run["trust_id"])
        self.ended(ended)

    def leave(self, run: Document) -> None:
        """Cancel an action, and ignore its result."""
        left = {**run, "state": CANCELLED, "dropped": True, "updated_at": self._state.now()}
        self._state.action_executions.put(left)
        if task := self._tasks.get(run["id"]):
            task.cancel()

    async def once(self, run: Document) -> Document:
        """Run an action that is not stored; return it with its result."""
        state, result = await self._outcome(run, "")
        return {**run, "state": state, "output": {"result": result}, "accepted": True}

    async def idle(self) -> None:
        """Wait until no action is running."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def stop(self) -> None:
        """Cancel running actions."""
        for task in list(self._tasks.values()):
            task.cancel()
        await self.idle()
        # Only an action that blocks creates the threads.
        if "_workers" in self.__dict__:
            self._workers.shutdown(wait=False, cancel_futures=True)

    async def _take(self, run_id: str, workbook: str) -> None:
        run = self._state.action_executions.get(run_id)
        if run is None or run["state"] != RUNNING:
            return
        state, result = await self._outcome(run, workbook)
        if state != RUNNING:
            self.end(run_id, state, result)

    async def _outcome(self, run: Document, workbook: str) -> tuple[str, Any]:
        try:
            state, result = await self._computed(run, workbook)
            size = len(json.dumps(result))
            if size > _MOST_BYTES:
                raise ValueError(f"its result has {size} bytes; at most {_MOST_BYTES} are kept")
            return state, result
        except ActionError as failed:
            return ERROR, failed.result
        except (ApiError, EvaluationError, RunFailedError) as error:
            return ERROR, str(error)
        except Exception as error:  # noqa: BLE001  (any failure is the result)
            if not isinstance(error, OSError | ValueError | TypeError | KeyError):
                _LOG.exception("action %s failed", run["name"])
            detail = f"action={run['name']}, action_ex_id={run['id']}, msg='{error}'"
            return ERROR, f"The action raised an exception [{detail}]"

    async def _computed(self, run: Document, workbook: str) -> tuple[str, Any]:
        project = run["project_id"]
        action = known.found(self._state, project, run["name"], workbook)
        execution = self._execution(run)
        given = dict(run["input"])
        for definition in action.above:
            given = completed(run["name"], inputs_of(definition), given)
            inner = known.base_input(definition)
            given = await self._evaluator.evaluate(project, inner, given, _nothing)
        given = completed(action.system.name, action.system.inputs, given)
        # Sub-executions have no trust of their own.
        root = execution and self._state.executions.get(execution["root_execution_id"] or "")
        trust_id = (root or execution or run).get("trust_id")
        taken = Taken(
            run,
            execution,
            token=partial(self._token, trust_id),
            endpoint=partial(self._endpoint, project),
            sleep=self._state.cloud.clock.sleep,
            blocking=self._blocking,
        )
        result = await action.system.run(taken, given)
        if action.system.waits:
            return RUNNING, None
        for definition in reversed(action.above):
            if "output" in definition:
                result = await self._evaluator.evaluate(
                    project, {"it": definition["output"]}, result, _nothing
                )
                result = result["it"]
        return SUCCESS, result

    def _execution(self, run: Document) -> Document | None:
        task = self._state.tasks.get(run["task_execution_id"] or "")
        return task and self._state.executions.get(task["workflow_execution_id"])

    def _token(self, trust_id: str | None) -> str | None:
        return None if trust_id is None else self._trusts.token(trust_id)

    def _endpoint(self, project_id: str, service_type: str) -> str | None:
        found = self._trusts.endpoint(service_type)
        if found is None:
            return None
        for place in ("%(project_id)s", "%(tenant_id)s", "$(project_id)s", "$(tenant_id)s"):
            found = found.replace(place, project_id)
        return found.rstrip("/")

    async def _blocking(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._workers, function, *arguments)


def _nothing(word: str, *_: Any) -> Any:
    return {} if word == "globals" else None
