import pytest

from stoker.engine.requests import Caller
from stoker.identity.keystone import Keystone
from stoker.identity.trusts import Trusts
from stoker.kernel.errors import Refused

from .fake_keystone import FakeKeystone, VirtualClock, settings

USER = Caller("p1", "u1", "demo", frozenset({"member", "reader"}), token="t")


async def test_trust_delegates_all_roles_of_the_caller_to_the_service_user(
    keystone: Keystone, fake: FakeKeystone
) -> None:
    fake.add_token("t")
    credentials = await Trusts(keystone).grant(USER)
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
    await Trusts(keystone).grant(USER)
    assert fake.bodies[-1]["trust"]["roles"] == [{"name": "owner"}]
    await keystone.close()


async def test_caller_without_token_cannot_delegate(keystone: Keystone) -> None:
    with pytest.raises(Refused) as refused:
        await Trusts(keystone).grant(Caller("p1", "u1", roles=frozenset({"member"})))
    assert refused.value.error_type == "MissingCredentialError"


async def test_trust_that_is_refused_is_forbidden(keystone: Keystone) -> None:
    with pytest.raises(Refused) as refused:
        await Trusts(keystone).grant(USER)
    assert refused.value.error_type == "Forbidden"


async def test_trust_is_removed_and_one_that_is_gone_is_fine(
    keystone: Keystone, fake: FakeKeystone
) -> None:
    fake.add_token("t")
    trusts = Trusts(keystone)
    credentials = await trusts.grant(USER)
    await trusts.revoke(credentials)
    assert not fake.objects["trusts"]
    await trusts.revoke(credentials)
    await trusts.revoke({})


async def test_caller_who_acts_by_a_trust_for_the_service_shares_it(
    keystone: Keystone, fake: FakeKeystone
) -> None:
    fake.add_token("t")
    trusts = Trusts(keystone)
    own = await trusts.grant(USER)
    by_trust = Caller(
        "p1",
        "u1",
        "demo",
        frozenset({"member"}),
        token="t",
        trust_id=own["trust_id"],
        trustee_id="id-stoker",
    )
    shared = await trusts.grant(by_trust)
    assert shared["trust_id"] == own["trust_id"]
    await trusts.revoke(shared)
    assert list(fake.objects["trusts"]) == [own["trust_id"]]
