"""Fetches templates at URLs, once, when a request is accepted. They are stored as its files."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping, Sequence

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.secrets import findings_of
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.kernel.diagnostics import Diagnostics
from stoker.kernel.errors import LimitExceededError, RequestError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

MOST = 50  # templates that are fetched for one request


class EvaluatedInput(Struct, frozen=True):
    """The input that a request gives a stack, evaluated and validated."""

    input: Input
    evaluation: Evaluation
    missing: Sequence[str]  # URLs of templates to fetch; no findings are collected before that
    findings: Diagnostics


def judged(
    ports: Ports,
    stack: Stack,
    stack_input: Input,
    documents: Documents,
    earlier: Evaluation | None,
    unreachable: Mapping[str, str],
) -> EvaluatedInput:
    """Return an input with its evaluation and diagnostics."""
    evaluation = evaluation_of(ports, stack, stack_input, documents, earlier, unreachable)
    missing = sorted(evaluation.missing)
    findings = Diagnostics() if missing else findings_of(evaluation)
    if earlier is not None and evaluation.inputs.budget.is_exceeded:
        # Reused work may have counted twice.
        return judged(ports, stack, stack_input, documents, None, unreachable)
    return EvaluatedInput(stack_input, evaluation, missing, findings)


async def with_fetched(
    ports: Ports,
    stack: Stack,
    documents: Documents,
    found: EvaluatedInput,
    earlier: Evaluation | None,
) -> EvaluatedInput:
    """Return the input with all templates that it names by URL, and with imported values.

    A failed fetch becomes a diagnostic of the evaluation. Raises LimitExceededError.
    """
    unreachable: dict[str, str] = {}
    fetched: dict[str, str] = {}
    # A fetched template may name others, so evaluate again until none is missing.
    while missing := found.missing:
        if len(fetched) + len(unreachable) + len(missing) > MOST:
            raise LimitExceededError(
                f"the templates name more than {MOST} others by address; send them as files"
            )
        for url, text in zip(missing, await _fetch_all(ports, missing), strict=True):
            if isinstance(text, RequestError):
                unreachable[url] = text.message
            else:
                fetched[url] = text
        stack_input = replace(found.input, files={**found.input.files, **fetched})
        found = await ports.workers.compute(
            functools.partial(judged, ports, stack, stack_input, documents, earlier, unreachable)
        )
    while names := found.evaluation.inputs.imports.missing - found.input.imports.keys():
        exports = await ports.store.exports(stack.project_id, names)
        if not exports:
            break  # The missing exports are diagnostics of the evaluation.
        imports = {each.name: each.value for each in exports}
        stack_input = replace(found.input, imports={**found.input.imports, **imports})
        found = await ports.workers.compute(
            functools.partial(judged, ports, stack, stack_input, documents, earlier, unreachable)
        )
    return found


async def _fetch_all(ports: Ports, urls: Sequence[str]) -> list[str | RequestError]:
    return await asyncio.gather(*(_fetch(ports, url) for url in urls))


async def _fetch(ports: Ports, url: str) -> str | RequestError:
    try:
        return await ports.fetch_template(url)
    except RequestError as refused:
        return refused
