"""DNS."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Service, States
from tests.resource_types_openstack.harness import Case

_STATES = States("PENDING", "ACTIVE", "PENDING", "PENDING")


class NameService(Service):
    """Its database keeps no zone without a ttl, which it notices late."""

    def _object(self, kind: Kind, method: str, path: str, key: str, body: Any) -> Any:
        if method == "PATCH" and path == "/zones" and body.get("ttl", 0) is None:
            raise RefusalError(500, "unknown")
        return super()._object(kind, method, path, key, body)


def service() -> Service:
    """The DNS service."""
    return NameService(
        (
            Kind(
                "/zones",
                "zone",
                "zones",
                "name! email type ttl description masters attributes",
                "email ttl description masters",
                method="PATCH",
                bare=True,
                states=_STATES,
                unique=("name",),
                made=lambda body: {"serial": 1},
            ),
            Kind(
                "/zones/{}/recordsets",
                "recordset",
                "recordsets",
                "name! type! records! ttl description",
                "records ttl description",
                bare=True,
                states=_STATES,
                unique=("name", "type"),
            ),
        )
    )


ZONE = Case(
    "OS::Designate::Zone",
    {"name": "example.org.", "email": "a@example.org", "description": "by the user"},
    {"description": "other", "email": "b@example.org", "ttl": 60},
    {"name": "example.net."},
    fixed=frozenset({"primaries"}),
    one_name=True,
)
SECONDARY = Case(
    "OS::Designate::Zone",
    {"name": "example.com.", "type": "SECONDARY", "primaries": ["192.0.2.1"]},
    {"description": "other", "primaries": ["192.0.2.2"]},
    {"name": "example.net."},
    fixed=frozenset({"email", "ttl"}),
    one_name=True,
)
CASES = (
    ZONE,
    SECONDARY,
    Case(
        "OS::Designate::RecordSet",
        {"zone": "@zone", "type": "A", "records": ["192.0.2.7"]},
        {"description": "other", "records": ["192.0.2.8", "192.0.2.9"], "ttl": 60},
        {"type": "TXT"},
        {"@zone": ZONE},
        their_name="theirs.example.org.",
        one_name=True,
    ),
)
