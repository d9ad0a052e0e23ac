"""Compares the answers of Heat's API with those of the taken-over service.

The answers of Heat come from a recording: a map of path to status and body. Or they come from a
running Heat, which is asked for every path that the taken-over stacks have.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from msgspec import Struct

from stoker.engine.model.records import Resource, Stack
from stoker.takeover.errors import TakeoverError
from stoker.takeover.proof.differences import differences
from stoker.takeover.proof.report import Finding, Findings
from stoker.takeover.proof.service import Answer, ProofService

_REMEDY = "report it with the path; until then, leave the stack in Heat"
# Heat makes signed URLs, and stores attributes, when they are requested for the first time.
_ABSENT_REMEDY = "repeat the pass and the check: Heat may have made the value for this request"
_LISTS = (
    "/stacks", "/stacks?show_nested=True", "/software_configs", "/software_deployments",
)  # fmt: skip
_VIEWS = (
    "", "/template", "/environment", "/files", "/outputs", "/resources", "/snapshots",
    "/resources?nested_depth=5", "/events?limit=200",
)  # fmt: skip
_AT_ONCE = 8  # requests to Heat
_SHOWN = 120  # characters of a value in the report


class Recording(Struct, frozen=True):
    """Answers of Heat by path, with the project and the root of the API that gave them."""

    answers: Mapping[str, tuple[int, Any]]
    project_id: str
    root: str


class Compared(Struct, frozen=True):
    """The number of answers, and of the differences that each rule permits."""

    answers: int
    equal: int
    named: Mapping[str, int]


def recording_in(file: Path) -> Recording:
    """Return the recording in a file. Raise TakeoverError."""
    try:
        found = json.loads(file.read_text())
        answers = {str(path): (int(status), body) for path, (status, body) in found.items()}
        link = next(_links(answers.values()))
    except (OSError, ValueError, TypeError, AttributeError, StopIteration) as error:
        raise TakeoverError(
            f"{file} is not a recording of answers: a JSON map of path to [status, body], with the"
            f" answer of /stacks ({error})"
        ) from None
    root, _, below = link.partition("/v1/")
    return Recording(answers, below.partition("/")[0], root)


def _links(answers: Iterable[tuple[int, Any]]) -> Iterator[str]:
    for _, body in answers:
        for stack in body.get("stacks", ()) if isinstance(body, Mapping) else ():
            for link in stack["links"]:
                yield str(link["href"])


async def compare(
    proof: ProofService,
    pairs: AsyncIterator[tuple[str, Answer]],
    roots: Mapping[str, str],
    findings: Findings,
) -> Compared:
    """Compare answers of Heat, by path; ``roots`` has the root stack of each stack."""
    count = equal = 0
    named: dict[str, int] = {}
    async for path, heat in pairs:
        count += 1
        ours = await proof.get(path)
        real = [] if ours.status == heat.status else [f"status {heat.status}, here {ours.status}"]
        absent = 0
        for each in differences(heat.body, ours.body):
            if each.name is None:
                real.append(f"{each.place} is {_short(each.heat)}, here {_short(each.ours)}")
                absent += each.ours is None
            else:
                named[each.name] = named.get(each.name, 0) + 1
        equal += not real
        remedy = _ABSENT_REMEDY if absent else _REMEDY
        for text in real:
            finding = Finding("answer", f"GET {path}: {text}", remedy, is_blocking=True)
            findings.add(_root_of(path, roots), finding)
    return Compared(count, equal, named)


async def recorded(recording: Recording) -> AsyncIterator[tuple[str, Answer]]:
    """Yield the answers of a recording."""
    for path, (status, body) in recording.answers.items():
        yield path, Answer(status, body)


async def live(
    root: str, project_id: str, token: str, paths: Sequence[str]
) -> AsyncIterator[tuple[str, Answer]]:
    """Yield the answers of a running Heat. Raise TakeoverError if it does not answer."""
    headers = {"X-Auth-Token": token, "Accept": "application/json"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        for begin in range(0, len(paths), _AT_ONCE):
            some = paths[begin : begin + _AT_ONCE]
            asked = (client.get(f"{root}/v1/{project_id}{path}") for path in some)
            try:
                answers = await asyncio.gather(*asked)
            except httpx.HTTPError as error:
                raise TakeoverError(f"Heat does not answer at {root}: {error}") from None
            for path, answer in zip(some, answers, strict=True):
                yield path, Answer(answer.status_code, answer.json() if answer.content else None)


def paths_of(
    stacks: Iterable[Stack],
    resources: Mapping[str, Sequence[Resource]],
    outputs: Mapping[str, Sequence[str]],
) -> list[str]:
    """Return the paths of all views of some stacks; outputs and resources are by stack."""
    paths = list(_LISTS)
    for stack in stacks:
        base = f"/stacks/{quote(stack.name)}/{stack.id}"
        paths += [base + view for view in _VIEWS]
        paths += [f"{base}/outputs/{quote(name, safe='')}" for name in outputs.get(stack.id, ())]
        for row in resources.get(stack.id, ()):
            if row.replaced_by is None:
                below = f"{base}/resources/{quote(row.name, safe='')}"
                paths += [below, f"{below}/metadata"]
    return paths


def _root_of(path: str, roots: Mapping[str, str]) -> str | None:
    parts = path.partition("?")[0].split("/")
    return roots.get(parts[3]) if len(parts) > 3 and parts[1] == "stacks" else None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
