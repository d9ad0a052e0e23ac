"""Runs cases side by side and compares their results with the recorded ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.conformance.runner.case import Case
from tests.conformance.runner.cloud import Cloud
from tests.conformance.runner.comparison import Difference, differences, outputs_ordered
from tests.conformance.runner.masking import recorded
from tests.conformance.runner.session import Session
from tests.conformance.runner.steps import play

REQUEST_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one case. ``error`` says why it could not be played to its end."""

    case: Case
    differences: tuple[Difference, ...]
    error: str | None
    seconds: float

    @property
    def first(self) -> str:
        """Return the report of a case with another result."""
        return self.error or (str(self.differences[0]) if self.differences else "")


async def run(
    cases: Sequence[Case],
    credentials: Path,
    *,
    at_once: int = 16,
    told: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """The results of all cases, in their order, ``at_once`` of them at a time."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
    async with httpx.AsyncClient(timeout=REQUEST_TIMEOUT, limits=limits) as client:
        cloud = Cloud(client, credentials)
        places = asyncio.Semaphore(at_once)

        async def one(case: Case) -> Result:
            async with places:
                result = await _result(cloud, case)
            told(result)
            return result

        each: Sequence[Awaitable[Result]] = [one(case) for case in cases]
        return list(await asyncio.gather(*each))


async def _result(cloud: Cloud, case: Case) -> Result:
    began = time.monotonic()
    try:
        found = await _played(cloud, case)
        error = None
    except (httpx.HTTPError, LookupError, TypeError, ValueError, AttributeError) as problem:
        # an answer of another shape than expected must not end the run
        found, error = [], f"{type(problem).__name__}: {problem}"
    return Result(case, tuple(found), error, time.monotonic() - began)


async def _played(cloud: Cloud, case: Case) -> list[Difference]:
    session = Session(cloud, await cloud.identity("user"), case)
    steps = []
    try:
        for step in case.steps:
            steps.append(await play(session, step))  # noqa: PERF401 -- what was seen outlives a fault
    finally:
        await session.close()
    expected = [outputs_ordered(recorded(step)) for step in case.expected]
    return differences(expected, outputs_ordered(steps), case.volatile)
