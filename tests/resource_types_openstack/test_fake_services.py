"""Every type of a service that the local cloud does not have, against its API in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.clouds.fake_services import FakeConnection
from tests.resource_types_openstack.harness import Case, Ground, drifts, is_found_again, lives
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
    reservations,
    trove,
    zaqar,
    zun,
)

SERVICES = {
    "alarm": aodh,
    "application_container": zun,
    "container_infrastructure_management": magnum,
    "database": trove,
    "dns": designate,
    "image": glance,
    "key_manager": barbican,
    "load_balancer": octavia,
    "message": zaqar,
    "network": neutron,
    "reservation": reservations,
    "shared_file_system": manila,
    "workflow": mistral,
}
CASES = [case for service in SERVICES.values() for case in service.CASES]
FORMS = [(case, given) for case in CASES for given in case.forms()]


@pytest.fixture
def ground() -> Ground:
    services = {name: module.service() for name, module in SERVICES.items()}
    cloud = FakeConnection({"baremetal": reservations.bare_metal(), **services})
    return Ground({"demo": cloud, "admin": cloud})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type_name)
def test_an_object_lives(ground: Ground, case: Case) -> None:
    with ground.prepared(case):
        lives(ground, case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type_name)
def test_what_others_do_shows_and_is_set_back(ground: Ground, case: Case) -> None:
    with ground.prepared(case):
        drifts(ground, case)


@pytest.mark.parametrize(
    ("case", "given"),
    FORMS,
    ids=[f"{case.type_name}-{number}" for number, (case, _) in enumerate(FORMS)],
)
def test_an_object_whose_answer_was_lost_is_found_and_not_made_again(
    ground: Ground, case: Case, given: Mapping[str, Any]
) -> None:
    with ground.prepared(case):
        is_found_again(ground, case, given)
