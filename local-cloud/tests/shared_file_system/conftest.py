import pytest

from cloud_testing.compute import Api, House
from cloud_testing.shares import Shares


@pytest.fixture
def shares(house: House, demo: Api) -> Shares:
    return Shares(house, demo)


@pytest.fixture
def others(house: House, other: Api) -> Shares:
    return Shares(house, other)


@pytest.fixture
def ruler(house: House, admin: Api) -> Shares:
    return Shares(house, admin)


@pytest.fixture
async def network(demo: Api) -> str:
    """A network of the project, with the range 10.0.0.0/24."""
    return await demo.network()


@pytest.fixture
async def server(house: House, demo: Api, network: str) -> str:
    """A server in that network, at 10.0.0.2."""
    made = await demo.boot(networks=[{"uuid": network, "fixed_ip": "10.0.0.2"}])
    await house.settle()
    return str(made["id"])
