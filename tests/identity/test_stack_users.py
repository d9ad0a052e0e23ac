import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from stoker.identity.delegation.stack_users import StackUsers
from stoker.identity.keystone import Keystone
from stoker.identity.signing import sign_url
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, StackFacts

from .fake_keystone import NOW, FakeKeystone, VirtualClock, settings

STACK: Any = SimpleNamespace(id="stack-id", root_id=None, user_project_id=None)
RESOURCE_ID = "22222222-2222-2222-2222-222222222222"
CALL = Call(
    stack=StackFacts("stack-id", "mystack", "p1"),
    name="h",
    resource_id=RESOURCE_ID,
    token="t",
    physical_name="p",
    properties={},
    started_at=NOW,
    now=NOW,
)


def on_a_thread(test: Callable[..., None]) -> Callable[..., Awaitable[None]]:
    """Run a test as resource types are run: beside the event loop."""

    @functools.wraps(test)
    async def run(**fixtures: Any) -> None:
        await asyncio.to_thread(test, **fixtures)

    return run


@pytest.fixture
async def users(fake: FakeKeystone, clock: VirtualClock) -> AsyncIterator[StackUsers]:
    keystone = Keystone(settings(region="R"), clock, fake.transport())
    keystone.open()
    yield StackUsers(keystone)
    await keystone.close()


@on_a_thread
def test_stack_user_has_own_project_and_one_role(users: StackUsers, fake: FakeKeystone) -> None:
    made = users.of(STACK).create_user(CALL)
    (project,) = fake.objects["projects"].values()
    (user,) = fake.objects["users"].values()
    assert (project["name"], project["domain_id"]) == ("stack-id", "stacks")
    assert (user["name"], user["domain_id"]) == (f"mystack-h-{RESOURCE_ID}", "stacks")
    assert fake.assignments == [f"projects/{project['id']}/users/{user['id']}/roles/r1"]
    assert made == {
        "user_id": user["id"],
        "username": user["name"],
        "password": user["password"],
        "project_id": project["id"],
    }


@on_a_thread
def test_user_of_lost_call_gets_new_password(users: StackUsers, fake: FakeKeystone) -> None:
    first = users.of(STACK).create_user(CALL)
    again = users.of(STACK).create_user(CALL)
    assert again["user_id"] == first["user_id"]
    assert fake.passwords[again["username"]] == again["password"] != first["password"]
    known = replace(CALL, data=again)
    assert users.of(STACK).create_user(known) == again


@on_a_thread
def test_nested_stacks_share_the_project_of_their_root(
    users: StackUsers, fake: FakeKeystone
) -> None:
    nested: Any = SimpleNamespace(id="nested-id", root_id="stack-id")
    users.of(STACK).create_user(CALL)
    users.of(nested).create_user(replace(CALL, resource_id="other"))
    assert len(fake.objects["projects"]) == 1
    users.close(nested)
    assert len(fake.objects["projects"]) == 1
    users.close(STACK)
    users.close(STACK)
    assert not fake.objects["projects"]


@on_a_thread
def test_project_of_another_name_is_deleted_by_id(users: StackUsers, fake: FakeKeystone) -> None:
    """Heat names the projects of stack users in its own way."""
    made = users.of(STACK).create_user(CALL)
    taken: Any = SimpleNamespace(
        id="taken-id", root_id=None, user_project_id=str(made["project_id"])
    )
    users.close(taken)
    assert not fake.objects["projects"]


async def test_project_made_by_other_process_is_deleted(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    keystone = Keystone(settings(region="R"), clock, fake.transport())
    keystone.open()
    one, other = (StackUsers(keystone, alone=False) for _ in range(2))
    before: Any = SimpleNamespace(id="before-id", root_id=None, user_project_id=None)
    await asyncio.to_thread(one.close, before)
    await asyncio.to_thread(other.of(STACK).create_user, CALL)
    await asyncio.to_thread(one.close, STACK)
    assert not fake.objects["projects"]
    await keystone.close()


@on_a_thread
def test_keypair_is_made_once(users: StackUsers, fake: FakeKeystone) -> None:
    signalling = users.of(STACK)
    user = signalling.create_user(CALL)
    call = replace(CALL, data=user)
    pair = signalling.create_keypair(call, user["user_id"])
    assert signalling.create_keypair(call, user["user_id"]) == pair
    assert sorted(pair) == ["access", "secret"]
    assert len(fake.objects["credentials"]) == 1


@on_a_thread
def test_user_is_removed_by_id_or_by_name(users: StackUsers, fake: FakeKeystone) -> None:
    signalling = users.of(STACK)
    for data in (signalling.create_user(CALL), {}):
        signalling.create_user(CALL)
        signalling.delete_user(replace(CALL, data=data))
        assert not fake.objects["users"]
        signalling.delete_user(replace(CALL, data=data))


@on_a_thread
def test_signal_url_names_the_project_of_the_user(users: StackUsers) -> None:
    call = replace(CALL, name="a b/c", data={"project_id": "up"})
    url = users.of(STACK).signal_url(call)
    assert url == "http://heat:8004/v1/up/stacks/mystack/stack-id/resources/a%20b%2Fc/signal"
    for_others = users.of(STACK).signal_url(call, "p1")
    assert for_others == url.replace("/up/", "/p1/")


@on_a_thread
def test_token_is_that_of_the_user(users: StackUsers, fake: FakeKeystone) -> None:
    signalling = users.of(STACK)
    call = replace(CALL, data=signalling.create_user(CALL))
    assert fake.tokens[signalling.token(call)]["user"]["name"] == call.data["username"]


@on_a_thread
def test_presigned_url_expires_unless_it_must_not(users: StackUsers) -> None:
    call = replace(CALL, data={"access": "a", "secret": "s"})
    signalling = users.of(STACK)
    url = urlsplit(signalling.presigned_url(call, "waitcondition"))
    assert url.netloc == "cfn:8000"
    arn = "arn%3Aopenstack%3Aheat%3A%3Ap1%3Astacks/mystack/stack-id/resources/h"
    assert url.path == f"/v1/waitcondition/{arn}"
    assert parse_qs(url.query)["Timestamp"] == ["2026-09-21T14:13:20Z"]
    forever = urlsplit(signalling.presigned_url(call, "signal", never_expire=True))
    assert "Timestamp" not in parse_qs(forever.query)
    assert forever.path.startswith("/v1/signal/")


async def test_configured_addresses_win_over_the_catalog(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    chosen = settings(
        orchestration_url="http://me:1",
        waitcondition_url="http://me:2/v1/waitcondition",
        metadata_url="http://me:3",
        watch_url="http://me:4/v1",
    )
    keystone = Keystone(chosen, clock, fake.transport())
    keystone.open()
    signalling = StackUsers(keystone).of(STACK)
    call = replace(CALL, data={"access": "a", "secret": "s", "project_id": "up"})
    url = await asyncio.to_thread(signalling.signal_url, call)
    assert url.startswith("http://me:1/v1/up/stacks/")
    url = await asyncio.to_thread(signalling.presigned_url, call, "signal")
    assert url.startswith("http://me:2/v1/signal/arn")
    url = await asyncio.to_thread(signalling.metadata_url, call)
    assert url == "http://me:3/v1/"
    url = await asyncio.to_thread(signalling.watch_url, call)
    assert url == "http://me:4/v1"
    await keystone.close()


async def test_missing_domain_is_said(fake: FakeKeystone, clock: VirtualClock) -> None:
    bare = replace(settings(), stack_domain_admin=None)
    keystone = Keystone(bare, clock, fake.transport())
    keystone.open()
    users = StackUsers(keystone)
    with pytest.raises(RequestError, match="stack_user_domain_name"):
        await asyncio.to_thread(users.of(STACK).create_user, CALL)
    await asyncio.to_thread(users.close, STACK)


async def test_nothing_waits_on_the_loop_itself(users: StackUsers) -> None:
    with pytest.raises(RequestError, match="nothing may block here"):
        users.of(STACK).create_user(CALL)


@on_a_thread
def test_revoked_token_of_the_domain_admin_is_renewed(
    users: StackUsers, fake: FakeKeystone, clock: VirtualClock
) -> None:
    users.of(STACK).create_user(CALL)
    fake.tokens.clear()
    clock.time += 60
    users.of(STACK).delete_user(CALL)
    assert not fake.objects["users"]


def test_signature_is_the_known_one() -> None:
    url = sign_url(
        "http://Host:8000/v1/signal",
        "arn:openstack:heat::p:stacks/s/1/resources/r",
        "signal",
        access="AK",
        secret="SK",
        timestamp="2026-01-02T03:04:05Z",
    )
    assert parse_qs(urlsplit(url).query)["Signature"] == [
        "C5dkopcKXj0j5//Es/bQgV1E9s/ISd24zU5EfdLCFeM="
    ]
