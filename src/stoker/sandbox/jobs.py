"""Frames of jobs and of answers between the service and a helper.

A job is pickled, as a helper may trust the service. An answer is JSON, as the service may not trust
a helper that has computed for a user. JSON has fewer kinds of keys than templates: maps with other
keys than text are written as lists of pairs.
"""

from __future__ import annotations

import json
import pickle
import struct
from typing import Any, NamedTuple

from stoker.kernel.json.tree import TooLargeError, levels

# Values in the data and the result of an expression, each as often as it occurs.
MAX_VALUES = 200_000
# Characters of all texts in the data and the result of an expression.
MAX_CHARACTERS = 8 * 1024 * 1024
MAX_DEPTH = 100
MAX_ANSWER = 64 * 1024 * 1024  # bytes of an answer; the bounds above keep it shorter
HEADER = struct.Struct("!I")

_PAIRS = "\0pairs"


class JobError(Exception):
    """A job has no result. The kind is ``form``, ``value``, ``time``, ``memory`` or ``size``."""

    def __init__(self, kind: str, message: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class Job(NamedTuple):
    """A job for a helper."""

    kind: str
    seconds: float  # seconds of computing for the job
    arguments: tuple[Any, ...]


class Answer(NamedTuple):
    """The answer of a helper."""

    value: Any
    refused: tuple[str, str] | None
    seconds: float
    last: bool  # whether the helper ends: it has run into a limit, or it has grown


def check_size(value: Any) -> None:
    """Raise :class:`JobError` for a value that is too large, or nested too deeply, to be sent."""
    characters = 0
    try:
        for depth, level in enumerate(levels(value, MAX_VALUES, keys=True)):
            characters += sum(len(item) for item in level if isinstance(item, str))
            if depth >= MAX_DEPTH or characters > MAX_CHARACTERS:
                raise JobError("size")
    except TooLargeError:
        raise JobError("size") from None


def job_frame(job: Job) -> bytes:
    """A job as bytes."""
    return _framed(pickle.dumps(tuple(job), pickle.HIGHEST_PROTOCOL))


def read_job(content: bytes) -> Job:
    """A job from the service."""
    return Job(*pickle.loads(content))  # noqa: S301 - from the service to its own helper


def answer_frame(answer: Answer) -> bytes:
    """An answer as bytes."""
    plain = answer._replace(value=_plain(answer.value))
    return _framed(json.dumps(plain, separators=(",", ":")).encode("ascii"))


def read_answer(content: bytes) -> Answer:
    """An answer from a helper, of whatever it may consist."""
    value, refused, seconds, last = json.loads(content, object_hook=_restored)
    found = None if refused is None else (str(refused[0]), str(refused[1]))
    return Answer(value, found, float(seconds), bool(last))


def _framed(content: bytes) -> bytes:
    return HEADER.pack(len(content)) + content


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if all(type(key) is str for key in value) and _PAIRS not in value:
            return {key: _plain(item) for key, item in value.items()}
        return {_PAIRS: [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _restored(found: dict[str, Any]) -> dict[Any, Any]:
    """The map that one of JSON stands for."""
    return dict(found[_PAIRS]) if _PAIRS in found else found
