import pytest

from cloud_testing.compute import Api, House
from cloud_testing.volumes import Volumes


@pytest.fixture
def volumes(house: House, demo: Api) -> Volumes:
    return Volumes(house, demo)


@pytest.fixture
def ruler(house: House, admin: Api) -> Volumes:
    return Volumes(house, admin)
