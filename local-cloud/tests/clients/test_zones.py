"""The DNS service of a running cloud, as ``openstack zone`` and openstacksdk use it."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("designateclient", reason="python-designateclient is not installed")
# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]
Run = Callable[..., list[Any]]


def test_the_command_makes_zones_and_record_sets(openstack: Run) -> None:
    answers = openstack(
        "zone create --email a@example.org example.org.",
        "recordset create --type A --record 192.0.2.1 example.org. www",
        "recordset list example.org.",
        "recordset show example.org. www.example.org.",
        "zone set --ttl 60 example.org.",
        "zone show example.org.",
        "ptr record list",
        "zone delete example.org.",
        "zone list",
    )
    assert answers[0]["status"] == "PENDING"
    assert sorted(row["type"] for row in answers[2]) == ["A", "NS", "SOA"]
    assert answers[3]["records"] == "192.0.2.1", answers[3]
    assert (answers[5]["ttl"], answers[5]["status"]) == (60, "ACTIVE")
    assert answers[8] == []


def test_the_sdk_does_the_same(demo: Any) -> None:
    zone = demo.dns.create_zone(name="example.net.", email="a@example.net")
    record = demo.dns.create_recordset(zone, name="a.example.net.", type="A", records=["192.0.2.1"])
    demo.dns.update_recordset(record, records=["192.0.2.2"])
    assert demo.dns.get_recordset(record.id, zone).records == ["192.0.2.2"]
    assert [each.name for each in demo.dns.zones()] == ["example.net."]
    demo.dns.delete_zone(zone)
