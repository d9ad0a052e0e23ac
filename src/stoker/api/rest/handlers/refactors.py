"""Refactors: resources that move between stacks. Not part of Heat's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Required, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.bodies import stack_name, stack_request
from stoker.api.rest.requests.values import flag
from stoker.engine.model.refactors import (
    RefactoredStack,
    RefactorMove,
    RefactorRequest,
    RefactorView,
)
from stoker.engine.service.refactors.refactors import MOST_MOVES, MOST_STACKS
from stoker.kernel.addresses import StackAddress

_LONGEST_PATH = 2_048


class NewStackBody(TypedDict, total=False):
    """The new input of a root stack; its last three fields are those of new stacks."""

    stack_name: Required[str]
    template: Mapping[str, Any] | str | None
    template_url: str | None
    parameters: Mapping[str, Any] | None
    environment: Mapping[str, Any] | str | None
    environment_files: list[str] | None
    files: Mapping[str, Any] | None
    files_container: str | None
    existing: bool | str
    clear_parameters: list[str] | str | None
    tags: str | None
    timeout_mins: int | str | None
    disable_rollback: bool | str


class RefactorBody(TypedDict, total=False):
    """New templates of stacks, and new paths of resources by old path."""

    stacks: Required[list[NewStackBody]]
    moves: Mapping[str, str]
    enable_stack_creation: bool | str


class StackName(TypedDict):
    """A stack."""

    stack_name: str
    id: str


class StackPath(StackName):
    """A stack of a refactor, with the name of its root stack and of the resources down to it."""

    path: str


class MovedResource(TypedDict):
    """A resource that moves."""

    source: str
    target: str
    source_stack: StackName
    target_stack: StackName
    resource_type: str
    resource_id: str
    physical_resource_id: str


class Refactor(TypedDict):
    """The effect of a refactor."""

    moves: list[MovedResource]
    created_stacks: list[StackPath]
    changed_stacks: list[StackPath]
    deleted_stacks: list[StackPath]


class RefactorAnswer(TypedDict):
    """The effect of a refactor."""

    refactor: Refactor


async def execute(call: Call) -> Response:
    """Move resources between stacks, all of them or none."""
    request = await _request(call)
    if request.creates:
        call.enforce("stacks:create")
    return await _answer(
        call, await call.service.cloudformation.refactors.execute(call.caller, request)
    )


async def preview(call: Call) -> Response:
    """Show the effect of a refactor, or all reasons why it is impossible (400)."""
    return await _answer(
        call, await call.service.cloudformation.refactors.preview(call.caller, await _request(call))
    )


async def _request(call: Call) -> RefactorRequest:
    body = await call.document()
    stacks = body.get("stacks")
    if not isinstance(stacks, list) or not all(isinstance(each, dict) for each in stacks):
        raise bad_request("stacks must be a list of objects, each with a stack_name.")
    if len(stacks) > MOST_STACKS:
        raise bad_request(f"A refactor has at most {MOST_STACKS} stacks, not {len(stacks)}.")
    for each in stacks:
        if unused := sorted(each.keys() - NewStackBody.__annotations__.keys()):
            raise bad_request(f"A stack of a refactor has no {unused[0]:.100}.")
    requests = [await stack_request(call, each, name=stack_name(each)) for each in stacks]
    creates = flag("enable_stack_creation", body.get("enable_stack_creation", False))
    return RefactorRequest(tuple(requests), _moves(body), creates=creates)


def _moves(body: Mapping[str, Any]) -> Mapping[str, str]:
    moves = {} if body.get("moves") is None else body["moves"]
    if not isinstance(moves, dict) or len(moves) > MOST_MOVES:
        raise bad_request(f"moves must be an object with at most {MOST_MOVES} paths.")
    for old, new in moves.items():
        if not isinstance(new, str) or not new or len(new) > _LONGEST_PATH:
            raise bad_request(
                f"moves maps old paths to new paths, as shop/web; that of {old:.100} is none."
            )
    return moves


async def _answer(call: Call, view: RefactorView) -> Response:
    answer: RefactorAnswer = {
        "refactor": {
            "moves": [_move(move) for move in view.moves],
            "created_stacks": [_path(stack) for stack in view.created],
            "changed_stacks": [_path(stack) for stack in view.changed],
            "deleted_stacks": [_path(stack) for stack in view.deleted],
        }
    }
    return await document_response(call.api.compute, answer)


def _move(move: RefactorMove) -> MovedResource:
    return {
        "source": "/".join(move.source),
        "target": "/".join(move.target),
        "source_stack": _name(move.source_stack),
        "target_stack": _name(move.target_stack),
        "resource_type": move.type_name,
        "resource_id": move.resource_id,
        "physical_resource_id": move.physical_id or "",
    }


def _name(stack: StackAddress) -> StackName:
    return {"stack_name": stack.name, "id": stack.id}


def _path(stack: RefactoredStack) -> StackPath:
    return {**_name(stack.address), "path": "/".join(stack.path)}
