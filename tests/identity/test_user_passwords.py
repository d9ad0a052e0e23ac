"""Passwords in place of trusts: deferred_auth_method = password."""

from __future__ import annotations

import pytest

from stoker.engine.model.requests import Caller
from stoker.identity.delegation.trusts import Trusts
from stoker.identity.delegation.user_passwords import UserPasswords
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace

from .fake_keystone import FakeKeystone
from .trust_records import Records

USER = Caller("p1", "u1", "demo", frozenset({"member"}), token="t", password="secret")


@pytest.fixture
def passwords(keystone: Keystone, fake: FakeKeystone) -> UserPasswords:
    fake.objects["users"]["u1"] = {"id": "u1", "name": "demo"}
    fake.passwords["demo"] = "secret"
    return UserPasswords(keystone, Trusts(keystone, Records(), check_delays=(0.0,)))


async def test_stack_gets_the_password_of_its_user(
    passwords: UserPasswords, fake: FakeKeystone
) -> None:
    credentials = await passwords.grant(USER)
    assert credentials == {"user_id": "u1", "password": "secret", "project_id": "p1"}
    assert fake.objects["trusts"] == {}
    passwords.forget(credentials)
    await passwords.revoke(credentials)
    assert [path for _, path in fake.asked] == ["/auth/tokens"]


@pytest.mark.parametrize(
    ("password", "status", "told"),
    [
        (None, 400, "Missing required credential: X-Auth-Key"),
        ("wrong", 403, "not that of the user"),
    ],
)
async def test_request_without_password_is_refused(
    passwords: UserPasswords, password: str | None, status: int, told: str
) -> None:
    with pytest.raises(RequestError, match=told) as refused:
        await passwords.grant(replace(USER, password=password))
    assert refused.value.error_type.status == status
    assert "secret" not in repr(USER)
