"""The helpers of the template language: each job in a process that can be ended."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any, NoReturn

from cachetools import LRUCache

from stoker.kernel.json.tree import estimated_bytes, marshalled
from stoker.sandbox.jobs import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_VALUES,
    Job,
    JobError,
    check_size,
    job_frame,
    read_answer,
)
from stoker.sandbox.processes import HelperDiedError, Pool
from stoker.schema.helpers import ComputationError, MalformedExpressionError, may_change

MEMORY = "256 MiB"
PATIENCE = 20.0  # seconds beyond those of computing that a job may last on a busy machine
_LEAST = 0.00005  # seconds that every job counts: the clock is coarse on some machines
_SHORT = 600  # characters of a job that is cached
_REMEMBERED = 4096
_MOST_BYTES = 8 * 1024 * 1024  # of all cached values of expressions
_LONG = 64 * 1024  # bytes of a value that is not cached
_KEY = 200  # bytes of a key in memory, with its entry
_TOO_LARGE = f"has more than {MAX_VALUES} values, {MAX_CHARACTERS} characters or {MAX_DEPTH} levels"
_TIME = frozenset({signal.SIGVTALRM, signal.SIGXCPU, signal.SIGPROF})


class Sandbox:
    """Implements :class:`stoker.schema.helpers.Helpers`. Nothing is started before the first job.

    ``iterations`` and ``memory`` bound expressions by the means of their library, too.
    """

    def __init__(
        self, size: int | None = None, iterations: int = 200, memory: int = 10_000
    ) -> None:
        self._pool = Pool(size or max(4, 2 * (os.cpu_count() or 1)), iterations, memory)
        self._known: LRUCache[Hashable, Any] = LRUCache(_REMEMBERED)
        self._values: LRUCache[bytes, tuple[Any, int]] = LRUCache(_MOST_BYTES, lambda item: item[1])
        self._lock = Lock()

    @property
    def replaced(self) -> int:
        """Helpers that had to be replaced so far."""
        return self._pool.ended

    def parse(self, expression: str, seconds: float) -> tuple[None, float]:
        """Check the form of an expression."""
        return self._remembered(seconds, "parse", expression)

    def evaluate(self, expression: str, data: Any, seconds: float) -> tuple[Any, float]:
        """The value of an expression over data."""
        key = _key_of(expression, data)
        with self._lock:
            known = None if key is None else self._values.get(key)
        if known is not None:
            return known[0], 0.0
        try:
            check_size(data)
        except JobError:
            raise ComputationError(f"its data {_TOO_LARGE}") from None
        value, spent = self._done(seconds, "evaluate", expression, data)
        weight = estimated_bytes(value) + _KEY
        if key is not None and weight <= _LONG:
            with self._lock:
                self._values[key] = value, weight
        return value, spent

    def compile(self, pattern: str, seconds: float) -> tuple[None, float]:
        """Check the form of a pattern."""
        return self._remembered(seconds, "compile", pattern)

    def fit(self, pattern: str, texts: Sequence[str], seconds: float) -> tuple[list[bool], float]:
        """Return for each text whether a pattern matches it from start to end."""
        return self._remembered(seconds, "fit", pattern, *texts)

    def close(self) -> None:
        """End the helpers."""
        self._pool.close()

    def _remembered(self, seconds: float, *job: str) -> tuple[Any, float]:
        """The result of a job that is short and comes again and again."""
        short = sum(map(len, job)) <= _SHORT
        with self._lock:
            if short and job in self._known:
                return self._known[job], 0.0
        value, spent = self._done(seconds, *job)
        if short:
            with self._lock:
                self._known[job] = value
        return value, spent

    def _done(self, seconds: float, kind: str, *arguments: Any) -> tuple[Any, float]:
        frame = job_frame(Job(kind, seconds, arguments))
        try:
            content, helper = self._pool.run(frame, seconds + PATIENCE)
        except TimeoutError:
            raise ComputationError("the service is too busy to compute it", seconds) from None
        except HelperDiedError as died:
            _explain(died, seconds)
        last = True
        try:
            answer = read_answer(content)
            last = answer.last
        except (ValueError, TypeError, IndexError, KeyError, RecursionError):
            raise ComputationError("its helper has given no answer", seconds) from None
        finally:
            (self._pool.drop if last else self._pool.give_back)(helper)
        if answer.refused is not None:
            _refuse(*answer.refused, seconds, answer.seconds)
        return answer.value, max(answer.seconds, _LEAST)


def _key_of(expression: str, data: Any) -> bytes | None:
    """Return the key of an expression over data; None if its value is not cached."""
    written = None if may_change(expression) else marshalled([expression, data])
    return None if written is None else hashlib.blake2b(written, digest_size=32).digest()


def _refuse(kind: str, message: str, allowed: float, seconds: float) -> NoReturn:
    if kind == "form":
        raise MalformedExpressionError(message, seconds)
    reasons = {
        "time": f"it takes more than {allowed:.2g} s of computing",
        "memory": f"it takes more than {MEMORY} of memory",
        "size": f"it {_TOO_LARGE}",
    }
    raise ComputationError(reasons.get(kind, message), seconds)


def _explain(died: HelperDiedError, seconds: float) -> NoReturn:
    if died.signal_number in _TIME:
        _refuse("time", "", seconds, seconds)
    if died.signal_number is None:
        raise ComputationError("its helper has ended without an answer", seconds)
    name = signal.Signals(died.signal_number).name
    raise ComputationError(f"its helper was ended by {name}: it may take too much memory", seconds)
