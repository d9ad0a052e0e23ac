"""Every type of a service that the local cloud does not have, against its API in memory."""

from __future__ import annotations

import pytest
from tests.clouds.fake_services import FakeConnection
from tests.resource_types_openstack.harness import Ground
from tests.resource_types_openstack.services import (
    aodh,
    barbican,
    designate,
    glance,
    magnum,
    manila,
    mistral,
    neutron,
    octavia,
    older_names,
    reservations,
    trove,
    zaqar,
    zun,
)
from tests.resource_types_openstack.trials import Trials

SERVICES = {
    "alarm": aodh,
    "application-container": zun,
    "container-infrastructure-management": magnum,
    "database": trove,
    "dns": designate,
    "image": glance,
    "key-manager": barbican,
    "load-balancer": octavia,
    "message": zaqar,
    "network": neutron,
    "reservation": reservations,
    "shared-file-system": manila,
    "workflow": mistral,
}
CASES = [case for service in (*SERVICES.values(), older_names) for case in service.CASES]


@pytest.fixture
def ground() -> Ground:
    services = {name: module.service() for name, module in SERVICES.items()}
    cloud = FakeConnection({"baremetal": reservations.bare_metal(), **services})
    return Ground({"demo": cloud, "admin": cloud})


class TestTypes(Trials):
    """The types of the services in memory."""

    cases = CASES
    lost = CASES
