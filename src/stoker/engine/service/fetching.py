"""Templates at addresses: fetched once, when a request is accepted, as if they had come with it."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import replace

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.kernel.errors import LimitExceeded, Refused
from stoker.template.evaluate.evaluation import Evaluation

MOST = 50
"""Templates that are fetched for one request."""


async def with_fetched(
    ports: Ports,
    stack: Stack,
    given: Input,
    documents: Documents,
    evaluation: Evaluation,
    earlier: Evaluation | None = None,
) -> tuple[Input, Evaluation]:
    """The input with all templates that it names by address, and its evaluation.

    What cannot be fetched becomes a finding of the evaluation. Raises LimitExceeded.
    """
    unreachable: dict[str, str] = {}
    fetched: dict[str, str] = {}
    while missing := await ports.workers.compute(functools.partial(_missing, evaluation)):
        if len(fetched) + len(unreachable) + len(missing) > MOST:
            raise LimitExceeded(
                f"the templates name more than {MOST} others by address; send them as files"
            )
        for url, found in zip(missing, await _fetch_all(ports, missing), strict=True):
            if isinstance(found, Refused):
                unreachable[url] = found.message
            else:
                fetched[url] = found
        given = replace(given, files={**given.files, **fetched})
        evaluation = await ports.workers.compute(
            functools.partial(evaluation_of, ports, stack, given, documents, earlier, unreachable)
        )
    return given, evaluation


def _missing(evaluation: Evaluation) -> list[str]:
    return sorted(evaluation.missing)


async def _fetch_all(ports: Ports, urls: list[str]) -> list[str | Refused]:
    return await asyncio.gather(*(_fetch(ports, url) for url in urls))


async def _fetch(ports: Ports, url: str) -> str | Refused:
    try:
        return await ports.fetch_template(url)
    except Refused as refused:
        return refused
