"""Evaluates expressions in helper processes, which are started on demand.

Expressions of users can take any time and memory. The kernel enforces the limits of a helper, and a
helper that exceeds one is replaced. A project uses one helper at a time.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from localcloud.workflow.expressions.recognition import expressions_in

Answers = Callable[..., Any]  # answers queries of expressions: a word, and arguments
_MOST = 2
# Seconds that a job may last on a busy machine; the kernel ends it after two of CPU time.
_PATIENCE = 30
_LONGEST = 16 << 20  # bytes of a line
_WHY = {-signal.SIGVTALRM: "The expression takes more than two seconds of computing."}
_ELSE = "The expression takes too much time, memory or space."


class EvaluationError(Exception):
    """An expression has no value; the text is the reason."""


class Evaluator:
    """Evaluates expressions."""

    def __init__(self) -> None:
        self._idle: list[Process] = []
        self._slots = asyncio.Semaphore(_MOST)
        self._projects: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self, project_id: str, tree: Any) -> None:
        """Raise :class:`EvaluationError` for expressions in a tree that cannot be parsed."""
        if texts := list(dict.fromkeys(expressions_in(tree))):
            await self._done(project_id, {"check": texts}, lambda *_: None)

    async def evaluate(self, project_id: str, tree: Any, data: Any, answers: Answers) -> Any:
        """Return a tree with its expressions evaluated; raises :class:`EvaluationError`."""
        return (await self.evaluate_each(project_id, tree, data, [{}], answers))[0]

    async def evaluate_each(
        self,
        project_id: str,
        tree: Any,
        data: Any,
        variations: Sequence[Mapping[str, Any]],
        answers: Answers,
    ) -> list[Any]:
        """Return the evaluated tree for each variation of the data."""
        if not variations or next(expressions_in(tree), None) is None:
            return [tree for _ in variations]
        job = {"tree": tree, "data": data, "variations": [dict(v) for v in variations]}
        found: list[Any] = await self._done(project_id, job, answers)
        return found

    async def stop(self) -> None:
        """End the idle helpers."""
        while self._idle:
            await _end(self._idle.pop())

    async def _done(self, project_id: str, job: Mapping[str, Any], answers: Answers) -> Any:
        lock = self._projects.setdefault(project_id, asyncio.Lock())
        async with lock, self._slots:
            helper = self._idle.pop() if self._idle else await _started()
            try:
                async with asyncio.timeout(_PATIENCE):
                    answer = await _asked(helper, job, answers)
            except (TimeoutError, OSError, ValueError) as error:
                await _end(helper)
                raise EvaluationError(_WHY.get(helper.returncode or 0, _ELSE)) from error
            except BaseException:
                await _end(helper)
                raise
            if answer.get("last"):
                await _end(helper)
            else:
                self._idle.append(helper)
        if "error" in answer:
            raise EvaluationError(str(answer["error"]))
        return answer["value"]


async def _started() -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-m", "localcloud.workflow.expressions.helper", str(os.getpid()),
        stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LONGEST, cwd="/",
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, start_new_session=True,
    )  # fmt: skip


async def _asked(helper: Process, job: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
    assert helper.stdin is not None
    assert helper.stdout is not None
    said: Any = job
    while True:
        helper.stdin.write(json.dumps(said).encode() + b"\n")
        await helper.stdin.drain()
        line = await helper.stdout.readline()
        if not line:
            raise BrokenPipeError("the helper has ended")
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError("the helper has said something else")
        if "ask" not in answer:
            return answer
        said = answers(*answer["ask"])


async def _end(helper: Process) -> None:
    assert helper.stdin is not None
    # Wait before the kill: a helper that the kernel is killing keeps that signal as its return
    # code.
    helper.stdin.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(helper.wait(), 0.1)
    with contextlib.suppress(ProcessLookupError):
        helper.kill()
    await helper.communicate()
