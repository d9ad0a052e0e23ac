"""Requests for refactors that are malformed, or about stacks of other projects."""

from __future__ import annotations

from typing import Any

import pytest

from tests.isolation.people import Person, newcomer
from tests.recovery.service import Service
from tests.rest.scene import one_value

PATH = "/stack_refactors"
STACK = {"stack_name": "refactored", "template": one_value("new")}
MOVES = {"/old": "/new"}


@pytest.fixture(scope="module")
def owner(service: Service) -> Person:
    return newcomer(service, "refactorer")


@pytest.fixture(scope="module")
def stack_id(owner: Person) -> str:
    """The stack ``refactored``, which has the resource ``old``."""
    return owner.create("refactored", one_value("old"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "stacks must be a list"),
        ({"stacks": "refactored"}, "stacks must be a list"),
        ({"stacks": [7]}, "stacks must be a list"),
        ({"stacks": []}, "needs the names of the stacks"),
        ({"stacks": [{"template": one_value("new")}]}, "no stack_name"),
        ({"stacks": [STACK] * 6, "moves": MOVES}, "at most 5 stacks"),
        ({"stacks": [STACK] * 2, "moves": MOVES}, "each stack once"),
        ({"stacks": [STACK], "moves": []}, "moves must be an object"),
        ({"stacks": [STACK], "moves": {"/old": 5}}, "maps old paths to new paths"),
        ({"stacks": [STACK], "moves": {f"/{n}": "/new" for n in range(501)}}, "at most 500"),
        ({"stacks": [STACK], "moves": {"/old": "/old"}}, "its own place"),
        ({"stacks": [STACK], "moves": {"/": "/new"}}, "no such resource"),
        ({"stacks": [STACK], "moves": {"\n\x00/old": "/new"}}, "has the stacks refactored"),
        ({"stacks": [STACK]}, "old would be deleted"),
        ({"stacks": [{**STACK, "converge": True}], "moves": MOVES}, "has no converge"),
        ({"stacks": [{**STACK, "tags": "a"}], "moves": MOVES}, "of new stacks"),
        ({"stacks": [STACK], "moves": MOVES, "enable_stack_creation": "x"}, "enable_stack"),
    ],
)
def test_malformed_refactor_is_rejected(
    owner: Person, stack_id: str, body: Any, words: str
) -> None:
    for path in (PATH, f"{PATH}/preview"):
        answer = owner.ask("POST", path, body)
        assert answer.status_code == 400, answer.text
        assert words in answer.text
    resources = owner.ask("GET", f"/stacks/refactored/{stack_id}/resources")
    assert [each["resource_name"] for each in resources.json()["resources"]] == ["old"]


def test_refactor_does_not_see_stacks_of_other_projects(service: Service, stack_id: str) -> None:
    stranger = newcomer(service, "refactor-stranger")
    for name in ("refactored", stack_id):
        body = {"stacks": [{**STACK, "stack_name": name}], "moves": MOVES}
        answer = stranger.ask("POST", PATH, body)
        assert answer.status_code == 404, answer.text
