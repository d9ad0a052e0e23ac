"""The end of sessions and tickets, and the limit of failures, by a clock of the tests."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from stoker.api.console.app import Console
from stoker.api.console.attempts import ADDRESSES, GUESSES, PROOFS, Attempts
from stoker.api.console.ports import ConsoleSettings, Parts
from stoker.api.console.sessions import LONGEST, TICKET_SECONDS, Sessions
from stoker.engine.model.sign_ins import PersonView, ProjectChoice, SignedToken
from stoker.kernel.errors import RequestError, UnavailableError
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.keys import keys_in
from tests.identity.fake_keystone import VirtualClock


def sessions(tmp_path: Path, clock: VirtualClock) -> Sessions:
    spent: set[str] = set()

    async def spend(ticket_id: str, expires_at: float) -> bool:
        is_new = ticket_id not in spent
        spent.add(ticket_id)
        return is_new

    return Sessions(ColumnCipher(*keys_in(tmp_path)), spend, clock)


def request_with(response: Response | None = None) -> Request:
    headers = []
    if response is not None:
        cookie = response.headers["set-cookie"].partition(";")[0]
        headers.append((b"cookie", cookie.encode()))
    return Request(
        {"type": "http", "method": "GET", "path": "/", "headers": headers, "scheme": "http"}
    )


def test_session_ends_with_its_token(tmp_path: Path) -> None:
    clock, response = VirtualClock(), Response()
    found = sessions(tmp_path, clock)
    session = found.start("token", clock.now() + 10)
    found.set(response, request_with(), session)
    assert found.of(request_with(response)) == session
    clock.time += 10
    assert found.of(request_with(response)) is None


def test_token_too_long_for_cookie_is_refused(tmp_path: Path) -> None:
    clock = VirtualClock()
    found = sessions(tmp_path, clock)
    with pytest.raises(RequestError, match="too long"):
        found.start("t" * LONGEST, clock.now() + 10)


def test_session_id_differs_for_each_sign_in(tmp_path: Path) -> None:
    clock = VirtualClock()
    found = sessions(tmp_path, clock)
    first, second = (found.start("token", clock.now() + 10) for _ in range(2))
    assert first.id != second.id
    response = Response()
    found.set(response, request_with(), first)
    again = found.of(request_with(response))
    assert again is not None
    assert again.id == first.id
    assert first.id not in first.cookie


async def test_ticket_ends_after_a_minute_or_one_use(tmp_path: Path) -> None:
    clock = VirtualClock()
    found = sessions(tmp_path, clock)
    first, second = found.ticket_for("token"), found.ticket_for("token")
    assert await found.token_of(first) == "token"
    assert await found.token_of(first) is None
    clock.time += TICKET_SECONDS
    assert await found.token_of(second) is None


def test_failures_are_counted_for_each_address() -> None:
    attempts = Attempts(GUESSES)
    assert all(attempts.take("a", 0.0) for _ in range(GUESSES.most))
    assert not attempts.take("a", 0.0)
    assert attempts.take("b", 0.0)
    assert attempts.take("a", GUESSES.refill_seconds)
    assert not attempts.take("a", GUESSES.refill_seconds)
    for _ in range(2 * GUESSES.most):
        assert attempts.take("c", 0.0)
        attempts.give_back("c", 0.0)


def test_table_of_addresses_is_bounded() -> None:
    attempts = Attempts(PROOFS)
    for number in range(ADDRESSES + 10):
        attempts.take(str(number), 0.0)
    assert len(attempts._buckets) == ADDRESSES


class SilentKeystone:
    """Sign-ins at an identity service that does not respond."""

    async def by_password(
        self, user: str, password: str, domain: str, choice: ProjectChoice | None
    ) -> SignedToken | None:
        raise UnavailableError("the identity service does not respond")

    async def by_application_credential(self, id_: str, secret: str) -> SignedToken | None:
        raise UnavailableError("the identity service does not respond")

    async def by_token(self, token: str, choice: ProjectChoice | None) -> SignedToken | None:
        raise UnavailableError("the identity service does not respond")

    async def describe(self, token: str) -> PersonView | None:
        raise UnavailableError("the identity service does not respond")

    async def revoke(self, token: str) -> None:
        raise UnavailableError("the identity service does not respond")


async def test_sign_ins_without_answer_are_not_counted(tmp_path: Path) -> None:
    async def spend(ticket_id: str, expires_at: float) -> bool:
        return True

    async def rest(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("a sign-in is no request to the API")

    seals = ColumnCipher(*keys_in(tmp_path))
    parts = Parts(SilentKeystone(), seals, spend, VirtualClock(), ConsoleSettings())
    transport = httpx.ASGITransport(Console(parts, rest))
    async with httpx.AsyncClient(transport=transport, base_url="http://stoker") as client:
        codes = [
            (
                await client.post(
                    "/console/session",
                    json={"user": "demo", "password": "right"},
                    headers={"X-Stoker-Console": "1"},
                )
            ).status_code
            for _ in range(2 * GUESSES.most)
        ]
    assert set(codes) == {503}
