import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from stoker.engine.model.requests import Caller
from stoker.identity.keystone import Keystone
from stoker.identity.tokens import Authenticator
from stoker.kernel.clock import isoformat
from stoker.kernel.errors import RequestError

from .fake_keystone import NOW, SERVICE, FakeKeystone, VirtualClock, settings


async def has_admin_role(credentials: Mapping[str, Any]) -> bool:
    return "admin" in credentials["roles"]


@pytest.fixture
def authenticate(keystone: Keystone, clock: VirtualClock) -> Authenticator:
    return Authenticator(keystone, clock, has_admin_role)


def token(text: str) -> dict[str, str]:
    return {"x-auth-token": text}


async def test_token_gives_the_caller(authenticate: Authenticator, fake: FakeKeystone) -> None:
    caller = await authenticate(token(fake.add_token("t")), "p1")
    assert caller == Caller(
        project_id="p1",
        user_id="u1",
        user_name="demo",
        roles=frozenset({"member"}),
        token="t",
        project_name="demo",
        user_domain_id="default",
        project_domain_id="default",
    )


async def test_credentials_identify_an_admin(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    caller = await authenticate(token(fake.add_token("t", roles=[{"name": "admin"}])), None)
    assert caller is not None
    assert caller.is_admin


async def test_role_identifies_a_stack_user(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    fake.add_token("t", roles=[{"name": "heat_stack_user"}])
    caller = await authenticate(token("t"), None)
    assert caller is not None
    assert caller.is_stack_user


async def test_token_without_project_has_an_empty_project(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    caller = await authenticate(token(fake.add_token("t", project=None)), "p1")
    assert caller is not None
    assert caller.project_id == ""


@pytest.mark.parametrize("text", ["unknown", "", "x" * 20_000, "a\nb", "ž"])
async def test_unknown_or_malformed_token_is_rejected(
    authenticate: Authenticator, text: str
) -> None:
    assert await authenticate(token(text), None) is None


@pytest.mark.parametrize("text", ["t ", "t\t", "\tt "])
async def test_whitespace_around_a_token_is_ignored(
    authenticate: Authenticator, fake: FakeKeystone, text: str
) -> None:
    fake.add_token("t")
    assert await authenticate(token(text), None) is not None


async def test_missing_token_is_rejected_without_request(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    assert await authenticate({}, "p1") is None
    assert not fake.asked


async def test_expired_token_is_rejected(authenticate: Authenticator, fake: FakeKeystone) -> None:
    fake.expired_if_asked = "0"  # an identity service whose clock is slow
    assert await authenticate(token(fake.add_token("t", expires_at=isoformat(NOW))), None) is None


async def test_valid_token_is_remembered_for_the_cache_time(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    await authenticate(token(fake.add_token("t")), None)
    del fake.tokens["t"]
    clock.time += 9
    assert await authenticate(token("t"), None) is not None
    clock.time += 22
    assert await authenticate(token("t"), None) is None


async def test_revoked_token_is_noticed_behind_a_request(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    await authenticate(token(fake.add_token("t")), None)
    clock.time += 11
    asked = len(fake.asked)
    assert await authenticate(token("t"), None) is not None
    assert len(fake.asked) == asked  # no request waited
    await asyncio.gather(*authenticate._checks)
    assert len(fake.asked) == asked + 1
    clock.time += 25
    assert await authenticate(token("t"), None) is not None  # valid for another while
    await asyncio.gather(*authenticate._checks)
    del fake.tokens["t"]
    clock.time += 11
    assert await authenticate(token("t"), None) is not None
    await asyncio.gather(*authenticate._checks)
    assert await authenticate(token("t"), None) is None


async def test_failed_background_check_keeps_token_valid(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    await authenticate(token(fake.add_token("t")), None)
    clock.time += 11
    fake.status = 503
    assert await authenticate(token("t"), None) is not None
    await asyncio.gather(*authenticate._checks)
    assert await authenticate(token("t"), None) is not None


async def test_token_is_not_remembered_beyond_its_expiry(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    await authenticate(token(fake.add_token("t", expires_at=isoformat(NOW + 10))), None)
    del fake.tokens["t"]
    clock.time += 11
    assert await authenticate(token("t"), None) is None


async def test_the_least_recently_used_token_is_forgotten_first(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    keystone = Keystone(settings(token_cache_size=2), clock, fake.transport())
    authenticate = Authenticator(keystone, clock, has_admin_role)
    for text in ("a", "b", "a", "c"):
        await authenticate(token(fake.add_token(text)), None)
    del fake.tokens["a"], fake.tokens["b"]
    assert await authenticate(token("a"), None) is not None
    assert await authenticate(token("b"), None) is None
    await keystone.close()


async def test_own_token_is_renewed_when_it_was_revoked(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    await authenticate(token(fake.add_token("t")), None)
    clock.time += 31
    fake.tokens.clear()
    fake.add_token("u")
    assert await authenticate(token("u"), None) is not None


async def test_own_token_is_used_until_it_expires(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    for text in ("a", "b"):
        await authenticate(token(fake.add_token(text)), None)
    assert fake.asked.count(("POST", "/auth/tokens")) == 1
    clock.time += 3600
    await authenticate(token(fake.add_token("c")), None)
    assert fake.asked.count(("POST", "/auth/tokens")) == 2


@pytest.mark.parametrize("status", [500, 503])
async def test_identity_service_that_fails_is_503(
    authenticate: Authenticator, fake: FakeKeystone, status: int
) -> None:
    fake.status = status
    with pytest.raises(RequestError) as refused:
        await authenticate(token("t"), None)
    assert refused.value.error_type.name == "ServiceUnavailable"


async def test_refused_service_user_is_503_not_401(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    fake.passwords.clear()
    with pytest.raises(RequestError) as refused:
        await authenticate(token("t"), None)
    assert refused.value.error_type.name == "ServiceUnavailable"


async def test_requests_are_counted_also_those_without_an_answer(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    counted: list[tuple[str, int, str]] = []

    def called(service: str, status: int, seconds: float, kind: str) -> None:
        counted.append((service, status, kind))

    keystone = Keystone(settings(), clock, fake.transport(), called)
    await keystone.grant_of(SERVICE)
    fake.status = 502
    with pytest.raises(RequestError):
        await keystone.request("GET", "/projects")
    await keystone.close()

    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("away")

    keystone = Keystone(settings(), clock, httpx.MockTransport(away), called)
    with pytest.raises(RequestError):
        await keystone.request("GET", "/projects")
    await keystone.close()
    assert counted == [
        ("identity", 201, "POST"),
        ("identity", 502, "GET"),
        ("identity", 0, "GET"),
    ]


async def test_passwords_are_taken_only_where_they_are_allowed(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    fake.passwords["demo"] = "right"
    headers = {"x-auth-user": "demo", "x-auth-key": "right"}
    found = []
    for allowed in (False, True):
        keystone = Keystone(settings(passwords=allowed), clock, fake.transport())
        authenticate = Authenticator(keystone, clock, has_admin_role)
        found.append(await authenticate(headers, "p7"))
        assert await authenticate({**headers, "x-auth-key": "wrong"}, "p7") is None
        await keystone.close()
    assert found[0] is None
    assert found[1] is not None
    assert (found[1].user_name, found[1].project_id) == ("demo", "p7")


EXPIRED = isoformat(NOW - 10)


def on_behalf(fake: FakeKeystone, role: str = "service", **user: str) -> dict[str, str]:
    fake.add_token("s", user={"id": "u9", "name": "other-service"}, roles=[{"name": role}])
    return {**token(fake.add_token("t", **user)), "x-service-token": "s"}


async def test_service_token_extends_expired_user_token(
    authenticate: Authenticator, fake: FakeKeystone, clock: VirtualClock
) -> None:
    headers = on_behalf(fake, expires_at=EXPIRED)
    for _ in range(2):
        caller = await authenticate(headers, "p1")
        assert caller is not None
        assert (caller.user_id, caller.token) == ("u1", "t")
    assert fake.asked.count(("GET", "/auth/tokens")) == 2  # one for each token
    assert await authenticate(token("t"), "p1") is None
    del fake.tokens["t"]
    clock.time += 31
    assert await authenticate(headers, "p1") is None


async def test_service_without_role_cannot_use_expired_tokens(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    assert await authenticate(on_behalf(fake, "member", expires_at=EXPIRED), "p1") is None
    assert await authenticate(on_behalf(fake, "member"), "p1") is not None


async def test_request_with_bad_service_token_is_rejected(
    authenticate: Authenticator, fake: FakeKeystone
) -> None:
    headers = on_behalf(fake)
    for text in ("unknown", ""):
        assert await authenticate({**headers, "x-service-token": text}, "p1") is None


async def test_role_of_services_can_be_required(fake: FakeKeystone, clock: VirtualClock) -> None:
    options = {"service_token_roles_required": True, "service_token_roles": frozenset({"glue"})}
    keystone = Keystone(settings(**options), clock, fake.transport())
    authenticate = Authenticator(keystone, clock, has_admin_role)
    assert await authenticate(on_behalf(fake, "service"), "p1") is None
    clock.time += 31
    assert await authenticate(on_behalf(fake, "glue"), "p1") is not None
    await keystone.close()
