"""One trust for each user and project, shared by stacks and removed behind the last of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from stoker.engine.model.requests import Caller
from stoker.identity.delegation.left_trusts import LeftTrusts
from stoker.identity.delegation.trusts import Trusts
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace

from .fake_keystone import FakeKeystone, VirtualClock, settings
from .trust_records import Records

USER = Caller("p1", "u1", "demo", frozenset({"member", "reader"}), token="t")


@pytest.fixture
def records() -> Records:
    return Records(live={("p1", "u1")})


@pytest.fixture
async def trusts(keystone: Keystone, fake: FakeKeystone, records: Records) -> AsyncIterator[Trusts]:
    fake.add_token("t")
    trusts = Trusts(keystone, records, check_delays=(0.0, 0.0))
    yield trusts
    await trusts.close()


async def granted(trusts: Trusts, caller: Caller = USER) -> str:
    """The trust of a stack."""
    credentials = await trusts.grant(caller)
    return str(credentials["trust_id"])


async def ended(trusts: Trusts, trust_id: str) -> None:
    """Delete a stack of the user, and remove its trust."""
    await trusts.revoke({"trust_id": trust_id, "project_id": "p1", "trustor_user_id": "u1"})
    await asyncio.gather(*trusts._tasks)


async def test_trust_delegates_all_roles_to_service_user(
    trusts: Trusts, fake: FakeKeystone
) -> None:
    credentials = await trusts.grant(USER)
    (trust,) = fake.objects["trusts"].values()
    assert credentials == {"trust_id": trust["id"], "project_id": "p1", "trustor_user_id": "u1"}
    assert (trust["trustor_user_id"], trust["trustee_user_id"]) == ("u1", "id-stoker")
    assert trust["roles"] == [{"name": "member"}, {"name": "reader"}]
    assert trust["impersonation"] is True


async def test_configured_roles_are_delegated_instead(
    fake: FakeKeystone, clock: VirtualClock
) -> None:
    keystone = Keystone(settings(delegated_roles=("owner",)), clock, fake.transport())
    fake.add_token("t")
    await Trusts(keystone, Records()).grant(USER)
    assert fake.bodies[-1]["trust"]["roles"] == [{"name": "owner"}]
    await keystone.close()


async def test_caller_without_token_cannot_delegate(trusts: Trusts) -> None:
    with pytest.raises(RequestError) as refused:
        await trusts.grant(Caller("p1", "u1", roles=frozenset({"member"})))
    assert refused.value.error_type.name == "MissingCredentialError"


async def test_trust_that_is_refused_is_forbidden(trusts: Trusts) -> None:
    with pytest.raises(RequestError) as refused:
        await trusts.grant(replace(USER, token="nobody"))
    assert refused.value.error_type.name == "Forbidden"


async def test_stacks_of_a_user_share_one_trust(trusts: Trusts, fake: FakeKeystone) -> None:
    first = await granted(trusts)
    asked = len(fake.asked)
    assert [await granted(trusts) for _ in range(20)] == [first] * 20
    assert len(fake.asked) == asked


async def test_concurrent_requests_create_one_trust(trusts: Trusts, fake: FakeKeystone) -> None:
    found = await asyncio.gather(*(granted(trusts) for _ in range(20)))
    assert len(set(found)) == len(fake.objects["trusts"]) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(USER, project_id="p2"),
        replace(USER, user_id="u2"),
        replace(USER, roles=frozenset({"member"})),
    ],
)
async def test_other_users_projects_and_roles_have_own_trusts(
    trusts: Trusts, other: Caller
) -> None:
    assert await granted(trusts) != await granted(trusts, other)


async def test_trust_is_removed_behind_the_last_stack(
    trusts: Trusts, fake: FakeKeystone, records: Records
) -> None:
    trust_id = await granted(trusts)
    await ended(trusts, trust_id)
    assert list(fake.objects["trusts"]) == [trust_id]
    records.live.clear()
    await ended(trusts, trust_id)
    assert not fake.objects["trusts"]
    assert not records.rows
    await ended(trusts, trust_id)
    assert await granted(trusts) != trust_id


async def test_trust_of_known_user_is_removed_immediately(
    trusts: Trusts, fake: FakeKeystone, records: Records
) -> None:
    trusts.remember(USER)
    trust_id = await granted(trusts)
    records.live.clear()
    fake.asked.clear()
    await ended(trusts, trust_id)
    assert fake.asked == [("DELETE", f"/OS-TRUST/trusts/{trust_id}")]


@pytest.mark.parametrize("marked", [False, True])
async def test_trusts_of_dead_process_are_removed_at_start(
    trusts: Trusts, keystone: Keystone, fake: FakeKeystone, records: Records, marked: bool
) -> None:
    trust_id = await granted(trusts)
    records.live.clear()
    if marked:
        records.rows[trust_id] = replace(records.rows[trust_id], retired=True)
    later = LeftTrusts(Trusts(keystone, records))
    later.start()
    for _ in range(1000):
        await asyncio.sleep(0)
        if not records.rows:
            break
    assert not records.rows
    assert not fake.objects["trusts"]
    await later.close()


async def test_trust_is_shared_across_starts(
    trusts: Trusts, keystone: Keystone, records: Records
) -> None:
    trust_id = await granted(trusts)
    later = Trusts(keystone, records)
    assert await granted(later) == trust_id
    await later.close()


async def test_deleted_trust_is_renewed_for_all_stacks(
    trusts: Trusts, keystone: Keystone, fake: FakeKeystone, records: Records
) -> None:
    lost = await granted(trusts)
    fake.objects["trusts"].clear()
    assert await trusts.renew(lost) is None  # no process can create one
    trusts.remember(USER)
    renewed = await asyncio.gather(*(trusts.renew(lost) for _ in range(5)))
    assert set(renewed) == set(fake.objects["trusts"])
    assert trusts.current(lost) == renewed[0]
    assert await granted(trusts) == renewed[0]
    later = Trusts(keystone, records)
    assert await later.renew(lost) == renewed[0]
    assert later.current(lost) == renewed[0]
    await later.close()
    records.live.clear()
    await ended(trusts, lost)
    assert not fake.objects["trusts"]


async def test_trust_is_not_renewed_repeatedly(trusts: Trusts, fake: FakeKeystone) -> None:
    trusts.remember(USER)
    first = await trusts.renew(await granted(trusts))
    assert first is not None
    assert await trusts.renew(first) is None
    assert len(fake.objects["trusts"]) == 2


async def test_caller_with_trust_for_the_service_shares_it(
    trusts: Trusts, fake: FakeKeystone
) -> None:
    own = await granted(trusts)
    by_trust = replace(USER, trust_id=own, trustee_id="id-stoker")
    trusts.remember(by_trust)  # cannot delegate further, so it is of no use
    assert await granted(trusts, by_trust) == own
    assert list(fake.objects["trusts"]) == [own]
    fake.objects["trusts"].clear()
    assert await trusts.renew(own) is None


async def test_trust_whose_response_was_lost_is_used(trusts: Trusts, fake: FakeKeystone) -> None:
    fake.lost.append("trusts")
    trust_id = await granted(trusts)
    assert list(fake.objects["trusts"]) == [trust_id]
    assert await granted(trusts) == trust_id


async def test_lost_trust_that_appears_late_is_removed(
    trusts: Trusts, fake: FakeKeystone, records: Records
) -> None:
    fake.never_made.append("trusts")
    with pytest.raises(RequestError):
        await trusts.grant(USER)
    late = {
        "id": "late",
        "trustor_user_id": "u1",
        "trustee_user_id": "id-stoker",
        "project_id": "p1",
        "impersonation": True,
        "roles": [{"name": "member"}, {"name": "reader"}],
    }
    others = {**late, "id": "others", "roles": [{"name": "member"}]}
    fake.objects["trusts"] |= {"late": late, "others": others}
    await asyncio.gather(*trusts._tasks)
    assert list(fake.objects["trusts"]) == ["others"]
    assert records.rows == {}


async def test_trust_of_another_service_is_not_used(trusts: Trusts, fake: FakeKeystone) -> None:
    theirs = await granted(trusts)
    fake.objects["trusts"]["theirs"] = {**fake.objects["trusts"].pop(theirs), "id": "theirs"}
    trusts._usable.clear()
    trusts._records.rows.clear()  # type: ignore[attr-defined]
    fake.lost.append("trusts")
    trust_id = await granted(trusts)
    assert trust_id != "theirs"
    assert set(fake.objects["trusts"]) == {"theirs", trust_id}
