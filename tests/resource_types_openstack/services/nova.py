"""Compute, on the local cloud: types that the tables of older tests do not have."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

CASES = (
    Case(
        "OS::Nova::HostAggregate",
        {
            "name": "ours",
            "availability_zone": "zone",
            "metadata": {"ssd": "true", "fast": "true"},
        },
        {
            "name": "x",
            "availability_zone": "other-zone",
            "hosts": ["HOST"],
            "metadata": {"ssd": "false"},
        },
        one_name=True,
        by="admin",
    ),
)
