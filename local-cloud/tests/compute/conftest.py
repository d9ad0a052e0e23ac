from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cloud_testing.compute import Api, House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path)
    await house.start()
    yield house
    await house.kill()


@pytest.fixture
def demo(house: House) -> Api:
    return house.user("demo")


@pytest.fixture
def other(house: House) -> Api:
    return house.user("other")


@pytest.fixture
def admin(house: House) -> Api:
    return house.user("admin")
