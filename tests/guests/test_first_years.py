"""Templates of Heat's first years deploy as they are."""

from __future__ import annotations

import ipaddress

from tests.guests.stacks import Stacks
from tests.recovery.service import Service

TEMPLATE = "tests/guests/first_years.yaml"


def test_networks_with_first_names_are_managed(
    service: Service,
) -> None:
    stacks = Stacks(service.data_dir)
    address = stacks.deploy(TEMPLATE, "first")["address"]
    assert ipaddress.ip_address(address).is_loopback
    again = stacks.try_to_deploy(TEMPLATE, "first").stdout
    assert "UPDATE_COMPLETE" in again
    assert "gateway" not in again
    stacks.destroy("first")
