"""Guessing passwords is limited, and locks no user out."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from localcloud.identity.tokens.attempts import MOST_WRONG, WINDOW, Attempts
from localcloud.web.http import UnauthorizedError


class StandingClock:
    def __init__(self) -> None:
        self.time = datetime(2026, 11, 22, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


def test_wrong_passwords_block_further_guesses_for_a_while() -> None:
    clock = StandingClock()
    attempts = Attempts(clock)
    for _ in range(MOST_WRONG):
        attempts.begin("u", "guess")
        attempts.wrong("u")
    with pytest.raises(UnauthorizedError, match="Too many"):
        attempts.begin("u", "right, as it happens")
    attempts.begin("another user", "x")
    clock.time += WINDOW + timedelta(seconds=1)
    attempts.begin("u", "right, as it happens")


def test_proved_password_is_accepted_despite_guesses() -> None:
    attempts = Attempts(StandingClock())
    attempts.right("u", "secret")
    for _ in range(MOST_WRONG):
        attempts.wrong("u")
    attempts.begin("u", "secret")
    with pytest.raises(UnauthorizedError):
        attempts.begin("u", "secreT")


async def test_repeated_wrong_passwords_are_refused_unchecked(running: Any) -> None:
    def identity(password: str) -> dict[str, Any]:
        user = {"name": "demo", "domain": {"id": "default"}, "password": password}
        return {"identity": {"methods": ["password"], "password": {"user": user}}}

    for number in range(MOST_WRONG):
        assert (await running.attempt(identity(f"wrong {number}"))).status_code == 401
    answer = await running.attempt(identity(running.password("demo")))
    assert answer.status_code == 401
    assert "Too many" in answer.text
