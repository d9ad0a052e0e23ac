"""Exports and abandons over HTTP."""

from __future__ import annotations

import httpx
import pytest

from .conftest import ClientFor, FakePolicy
from .fake_service import FakeService

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
async def test_a_name_alone_is_no_address(
    client_for: ClientFor, service: FakeService, base: str, method: str, what: str
) -> None:
    service.add("s")
    answer = await client_for(abandons=True).request(method, f"{base}/stacks/s/{what}")
    assert answer.status_code == 404
