"""Reservations, and bare metal."""

from __future__ import annotations

from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case


def _host(body: Object) -> Object:
    further = {key: value for key, value in body.items() if key != "name"}
    return {"hypervisor_hostname": body["name"], "vcpus": 4, "reservable": True, **further}


def service() -> Service:
    """The reservation service."""
    return Service(
        (
            Kind("/os-hosts", "host", "hosts", "name! rack", made=_host, unique=("name",)),
            Kind(
                "/leases",
                "lease",
                "leases",
                "name! start_date! end_date! before_end_date reservations! events",
                unique=("name",),
                states=States("CREATING", "PENDING", "", "DELETING"),
            ),
        )
    )


def bare_metal() -> Service:
    """The bare metal service."""
    return Service(
        (
            Kind(
                "/ports",
                "port",
                "ports",
                "address! node_uuid! portgroup_uuid extra is_smartnic local_link_connection"
                " physical_network pxe_enabled",
                "address node_uuid portgroup_uuid extra is_smartnic local_link_connection"
                " physical_network pxe_enabled",
                "PATCH",
                id_field="uuid",
                bare=True,
                unique=("address",),
            ),
        )
    )


CASES = (
    Case(
        "OS::Blazar::Host",
        {"name": "host-1", "extra_capability": {"rack": "7"}},
        other={"name": "host-2"},
    ),
    Case(
        "OS::Blazar::Lease",
        {
            "name": "week",
            "start_date": "2030-01-01 12:00",
            "end_date": "2030-01-08 12:00",
            "reservations": [{"resource_type": "physical:host", "min": 1, "max": 1}],
        },
        other={"name": "month"},
        unreported=frozenset({"start_date", "end_date", "reservations"}),
        one_name=True,
    ),
    Case(
        "OS::Ironic::Port",
        {"address": "52:54:00:00:00:01", "node": "n"},
        {
            "address": "52:54:00:00:00:02",
            "extra": {"a": "1"},
            "is_smartnic": True,
            "local_link_connection": {"switch_id": "52:54:00:00:00:09"},
            "node": "m",
            "physical_network": "p",
            "portgroup": "g",
            "pxe_enabled": False,
        },
    ),
)
