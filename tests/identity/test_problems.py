"""Log lines while the identity service cannot be used."""

from __future__ import annotations

import logging

import pytest

from stoker.identity.keystone import Keystone
from stoker.identity.problems import REPEAT_SECONDS
from stoker.kernel.errors import RequestError

from .fake_keystone import SERVICE, FakeKeystone, VirtualClock


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    records = [r for r in caplog.records if r.name == "stoker.identity.problems"]
    return [(record.levelno, record.getMessage()) for record in records]


async def test_rejected_user_is_logged_once_and_when_accepted(
    keystone: Keystone, fake: FakeKeystone, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    password, fake.passwords["stoker"] = fake.passwords["stoker"], "another"
    for _ in range(3):
        with pytest.raises(RequestError):
            await keystone.grant_of(SERVICE)
    [(level, line)] = logged(caplog)
    assert level == logging.WARNING
    assert "user stoker" in line
    fake.passwords["stoker"] = password
    await keystone.grant_of(SERVICE)
    assert [level for level, _ in logged(caplog)] == [logging.WARNING, logging.INFO]


async def test_unstable_service_is_logged_once_a_minute(
    keystone: Keystone, fake: FakeKeystone, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(3):
        fake.status = 500
        with pytest.raises(RequestError):
            await keystone.grant_of(SERVICE, renew=True)
        fake.status = None
        await keystone.request("GET", "/roles")
    assert len(logged(caplog)) == 1
    clock.time += REPEAT_SECONDS
    fake.status = 500
    with pytest.raises(RequestError):
        await keystone.grant_of(SERVICE, renew=True)
    assert len(logged(caplog)) == 2
