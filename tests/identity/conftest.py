from collections.abc import AsyncIterator

import pytest

from stoker.identity.keystone import Keystone

from .fake_keystone import FakeKeystone, VirtualClock, settings


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def fake() -> FakeKeystone:
    return FakeKeystone()


@pytest.fixture
async def keystone(fake: FakeKeystone, clock: VirtualClock) -> AsyncIterator[Keystone]:
    keystone = Keystone(settings(), clock, fake.transport())
    yield keystone
    await keystone.close()
