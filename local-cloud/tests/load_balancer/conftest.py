import pytest

from cloud_testing.balancers import Balancing
from cloud_testing.compute import Api, House


@pytest.fixture
def balancing(house: House, demo: Api) -> Balancing:
    return Balancing(house, demo)


@pytest.fixture
def ruler(house: House, admin: Api) -> Balancing:
    return Balancing(house, admin)
