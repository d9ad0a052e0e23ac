"""Exports, abandons and adopts over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .conftest import ClientFor, FakePolicy
from .fake_service import FakeService

BODY = {
    "stack_name": "s",
    "adopt_stack_data": '{"template": {}}',
    "template": {"resources": "not this one"},
    "parameters": {"p": 1},
    "disable_rollback": True,
}
CALLS = [("GET", "export"), ("DELETE", "abandon")]


@pytest.mark.parametrize(("method", "what"), CALLS)
async def test_a_document_is_the_bare_answer(
    client_for: ClientFor, service: FakeService, base: str, method: str, what: str
) -> None:
    stack = service.add("s").address
    client = client_for(abandons=True)
    answer = await client.request(method, f"{base}/stacks/s/{stack.id}/{what}")
    assert (answer.status_code, answer.json()) == (200, {"name": "s", "resources": {}})
    assert (stack.id in service.known) is (what == "export")


@pytest.mark.parametrize(("method", "what"), CALLS)
async def test_an_operator_switches_it_on(
    client: httpx.AsyncClient, service: FakeService, base: str, method: str, what: str
) -> None:
    stack = service.add("s").address
    answer = await client.request(method, f"{base}/stacks/s/{stack.id}/{what}")
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "NotSupported")
    assert answer.json()["error"]["message"].startswith("Stack Abandon is not supported.")
    assert stack.id in service.known


@pytest.mark.parametrize(("method", "what"), CALLS)
async def test_the_policy_says_who_may(
    client_for: ClientFor,
    service: FakeService,
    policy: FakePolicy,
    base: str,
    method: str,
    what: str,
) -> None:
    stack = service.add("s").address
    policy.forbidden.add(f"stacks:{what}")
    answer = await client_for(abandons=True).request(method, f"{base}/stacks/s/{stack.id}/{what}")
    assert answer.status_code == 403
    assert stack.id in service.known


@pytest.mark.parametrize(("method", "what"), CALLS)
async def test_handover_by_stack_name_is_404(
    client_for: ClientFor, service: FakeService, base: str, method: str, what: str
) -> None:
    service.add("s")
    answer = await client_for(abandons=True).request(method, f"{base}/stacks/s/{what}")
    assert answer.status_code == 404


async def test_an_adopt_is_a_create_with_a_document(
    client_for: ClientFor, service: FakeService, base: str
) -> None:
    answer = await client_for(adopts=True).post(f"{base}/stacks", json=BODY)
    assert answer.status_code == 201
    [(what, (request, document))] = service.asked
    assert (what, document) == ("adopt", BODY["adopt_stack_data"])
    assert (request.name, request.template, request.parameters) == ("s", None, {"p": 1})
    assert answer.json()["stack"]["id"] in service.known


async def test_an_operator_switches_adopts_on(
    client: httpx.AsyncClient, service: FakeService, base: str
) -> None:
    answer = await client.post(f"{base}/stacks", json=BODY)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "NotSupported")
    assert answer.json()["error"]["message"].startswith("Stack Adopt is not supported.")
    assert service.asked == []


@pytest.mark.parametrize("document", [{"template": {}}, ["x"], 5, True])
async def test_a_document_is_sent_as_text(
    client_for: ClientFor, service: FakeService, base: str, document: Any
) -> None:
    body = {**BODY, "adopt_stack_data": document}
    answer = await client_for(adopts=True).post(f"{base}/stacks", json=body)
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "HTTPBadRequest")
    assert service.asked == []


async def test_no_document_is_none(client: httpx.AsyncClient, base: str) -> None:
    body = {"stack_name": "s", "template": {}, "adopt_stack_data": None}
    assert (await client.post(f"{base}/stacks", json=body)).status_code == 201
