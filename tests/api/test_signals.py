"""Signals at the CloudFormation endpoint."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from stoker.api.signals.app import application
from stoker.api.signed import Senders
from stoker.kernel.addresses import ResourceAddress

from .conftest import FakePolicy, FakeVerifier, authenticate
from .fake_service import FakeService

SENDERS = Senders(FakeVerifier(), authenticate)


@pytest.fixture
def client(service: FakeService, verifier: FakeVerifier, policy: FakePolicy) -> httpx.AsyncClient:
    app = application(service, Senders(verifier, authenticate), policy, 1000, asyncio.to_thread)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://CFN:8000")


@pytest.fixture
def arn(service: FakeService) -> str:
    return ResourceAddress(service.add("s").address, "h").arn


async def test_wait_condition_is_answered_with_the_resource(
    client: httpx.AsyncClient, service: FakeService, arn: str
) -> None:
    answer = await client.put(f"/v1/waitcondition/{quote(arn)}?Signature=good", content=b'{"a": 1}')
    assert answer.status_code == 200
    assert answer.text == "<resource>h</resource>"
    assert answer.headers["content-type"] == "application/xml; charset=UTF-8"
    assert service.signalled == [("h", {"a": 1})]


async def test_wait_condition_is_answered_in_json_on_demand(
    client: httpx.AsyncClient, arn: str
) -> None:
    path = f"/v1/waitcondition/{quote(arn, safe='')}?Signature=good&ContentType=JSON"
    answer = await client.put(path, content=b"{}")
    assert answer.json() == {"resource": "h", "metadata": {"m": 1}}


async def test_signal_is_answered_with_nothing(
    client: httpx.AsyncClient, service: FakeService, arn: str
) -> None:
    answer = await client.post(f"/v1/signal/{quote(arn)}?Signature=good")
    assert (answer.status_code, answer.text) == (200, "")
    assert answer.headers["content-type"].startswith("text/html")
    assert service.signalled == [("h", None)]


async def test_signature_is_checked_over_the_unquoted_path(
    client: httpx.AsyncClient, verifier: FakeVerifier, arn: str
) -> None:
    await client.post(f"/v1/signal/{quote(arn, safe='')}?Signature=good", content=b"{}")
    shown = ("POST", "cfn:8000", f"/v1/signal/{arn}", b"")
    assert verifier.shown == shown


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("Signature=bad", 403, "SignatureDoesNotMatch"),
        ("", 403, "SignatureDoesNotMatch"),
        ("Signature=down", 503, "ServiceUnavailable"),
    ],
)
async def test_refused_signature_is_an_xml_error(
    client: httpx.AsyncClient, service: FakeService, arn: str, query: str, status: int, code: str
) -> None:
    answer = await client.put(f"/v1/waitcondition/{quote(arn)}?{query}", content=b"{}")
    assert answer.status_code == status
    kind = "Server" if status == 503 else "Sender"
    expected = f"<ErrorResponse><Error><Type>{kind}</Type><Code>{code}</Code><Message>"
    assert answer.text.startswith(expected)
    assert not service.signalled


@pytest.mark.parametrize("content", [b"{bad", b"[1]", b'"x"', b'{"refuse": true}', b"[" * 100_000])
async def test_body_that_is_no_signal_is_400(
    client: httpx.AsyncClient, service: FakeService, arn: str, content: bytes
) -> None:
    answer = await client.put(f"/v1/waitcondition/{quote(arn)}?Signature=good", content=content)
    assert answer.status_code == 400
    assert not service.signalled


async def test_unfit_wait_condition_signal_is_refused(
    client: httpx.AsyncClient, service: FakeService, arn: str
) -> None:
    body = b'{"does not": "fit"}'
    answer = await client.put(f"/v1/waitcondition/{quote(arn)}?Signature=good", content=body)
    assert (answer.status_code, "The signal is refused." in answer.text) == (400, True)
    assert not service.signalled
    answer = await client.post(f"/v1/signal/{quote(arn)}?Signature=good", content=body)
    assert answer.status_code == 200


async def test_long_body_is_parsed_outside_event_loop(service: FakeService, arn: str) -> None:
    computed: list[Any] = []

    async def compute(call: Callable[[], Any]) -> Any:
        computed.append(await asyncio.to_thread(call))
        return computed[-1]

    app = application(service, SENDERS, FakePolicy(), 1_000_000, compute)
    details = {"data": ["x"] * 10_000}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://cfn:8000") as client:
        address = f"/v1/signal/{quote(arn)}?Signature=good"
        assert (await client.post(address, content=json.dumps(details))).status_code == 200
    assert computed == [details]
    assert service.signalled == [("h", details)]


async def test_unknown_stack_or_odd_address_is_400(client: httpx.AsyncClient, arn: str) -> None:
    for path in (arn.replace("stacks/s/", "stacks/t/"), "x", arn.partition("/resources")[0]):
        answer = await client.post(f"/v1/signal/{quote(path)}?Signature=good")
        assert answer.status_code == 400
        assert "<Code>InvalidParameterValue</Code>" in answer.text


async def test_token_will_do_without_signature(
    client: httpx.AsyncClient, service: FakeService, arn: str
) -> None:
    path = f"/v1/signal/{quote(arn)}"
    assert (await client.post(path, headers={"X-Auth-Token": "user"})).status_code == 200
    assert (await client.post(path, headers={"X-Auth-Token": "bad"})).status_code == 403
    assert len(service.signalled) == 1


async def test_unexpected_fault_is_500_without_detail(
    client: httpx.AsyncClient, service: FakeService, arn: str
) -> None:
    service.refusal = ZeroDivisionError("secret")
    answer = await client.post(f"/v1/signal/{quote(arn)}?Signature=good")
    assert answer.status_code == 500
    assert "<Code>InternalFailure</Code>" in answer.text
    assert "secret" not in answer.text


async def test_only_the_right_method_is_taken(client: httpx.AsyncClient, arn: str) -> None:
    answer = await client.get(f"/v1/signal/{quote(arn)}?Signature=good")
    assert answer.status_code == 405
    assert "<Code>InvalidAction</Code>" in answer.text


@pytest.mark.parametrize("path", ["/", "/v1/", "/v1/signal/", "/v1/stacks", "/v1/signal/a%00b"])
async def test_unknown_address_is_an_xml_error(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.post(path)
    assert answer.status_code == 404
    assert "<Code>InvalidAction</Code>" in answer.text


@pytest.mark.parametrize("proof", ["query", "token"])
async def test_policy_applies_to_signals(
    client: httpx.AsyncClient, service: FakeService, policy: FakePolicy, arn: str, proof: str
) -> None:
    policy.forbidden.add("resource:signal")
    query = "?Signature=good" if proof == "query" else ""
    headers = {"X-Auth-Token": "user"} if proof == "token" else {}
    for method, kind in (("POST", "signal"), ("PUT", "waitcondition")):
        answer = await client.request(method, f"/v1/{kind}/{quote(arn)}{query}", headers=headers)
        assert answer.status_code == 403
        assert "<Code>AccessDenied</Code>" in answer.text
    assert not service.signalled


async def test_metadata_in_the_answer_needs_its_own_policy(
    client: httpx.AsyncClient, policy: FakePolicy, arn: str
) -> None:
    policy.forbidden.add("resource:metadata")
    path = f"/v1/waitcondition/{quote(arn)}?Signature=good"
    assert (await client.put(path, content=b"{}")).status_code == 200
    assert (await client.put(f"{path}&ContentType=JSON", content=b"{}")).status_code == 403


@pytest.mark.parametrize(
    ("query", "headers", "most"),
    [
        ("?Signature=bad", {}, 0),
        ("", {}, 0),
        ("", {"X-Auth-Token": "bad"}, 0),
        ("", {"Authorization": "AWS4-HMAC-SHA256 Signature=bad"}, 70_000),
        ("?X-Amz-Signature=bad", {}, 70_000),
    ],
)
async def test_body_of_unknown_sender_is_not_read(
    service: FakeService, arn: str, query: str, headers: dict[str, str], most: int
) -> None:
    app = application(service, SENDERS, FakePolicy(), 64_000_000, asyncio.to_thread)
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1000
            yield b"x" * 1000

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://cfn:8000") as client:
        address = f"/v1/signal/{quote(arn)}{query}"
        answer = await client.post(address, headers=headers, content=body())
    assert answer.status_code in (400, 403)
    assert read <= most
