"""The end of sessions and tickets, and the limit of failures, by a clock of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from stoker.api.console.attempts import ADDRESSES, MOST, REFILL_SECONDS, Attempts
from stoker.api.console.sessions import LONGEST, TICKET_SECONDS, Session, Sessions
from stoker.kernel.errors import RequestError
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
    session = Session("token", clock.now() + 10)
    found.set(response, request_with(), session)
    assert found.of(request_with(response)) == session
    clock.time += 10
    assert found.of(request_with(response)) is None


def test_token_too_long_for_cookie_is_refused(tmp_path: Path) -> None:
    clock = VirtualClock()
    found = sessions(tmp_path, clock)
    with pytest.raises(RequestError, match="too long"):
        found.set(Response(), request_with(), Session("t" * LONGEST, clock.now() + 10))


async def test_ticket_ends_after_a_minute_or_one_use(tmp_path: Path) -> None:
    clock = VirtualClock()
    found = sessions(tmp_path, clock)
    first, second = found.ticket_for("token"), found.ticket_for("token")
    assert await found.token_of(first) == "token"
    assert await found.token_of(first) is None
    clock.time += TICKET_SECONDS
    assert await found.token_of(second) is None


def test_failures_are_counted_for_each_address() -> None:
    attempts = Attempts()
    assert all(attempts.take("a", 0.0) for _ in range(MOST))
    assert not attempts.take("a", 0.0)
    assert attempts.take("b", 0.0)
    assert attempts.take("a", REFILL_SECONDS)
    assert not attempts.take("a", REFILL_SECONDS)
    for _ in range(2 * MOST):
        assert attempts.take("c", 0.0)
        attempts.succeeded("c", 0.0)


def test_table_of_addresses_is_bounded() -> None:
    attempts = Attempts()
    for number in range(ADDRESSES + 10):
        attempts.take(str(number), 0.0)
    assert len(attempts._buckets) == ADDRESSES
