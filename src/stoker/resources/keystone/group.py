"""OS::Keystone::Group: a group of users."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.keystone.roles import HELD, ROLES, role_findings, role_parts, roles_of
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class Group(RestResource):
    """A group of users. For administrators only."""

    type_name = "OS::Keystone::Group"
    description = "A group of users with common roles."
    service = "identity"
    support = since("2015.1")
    shares = frozenset({HELD})
    collection = KINDS["identity", "group"]
    field_names = {"domain": "domain_id"}
    follow_up_requests = (roles_of("groups"),)

    properties = {
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "domain": declare.by_name(
            "keystone.domain", "Domain", default="default", update_allowed=True
        ),
        "name": declare.NAME,
        "roles": ROLES,
    }

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the domain changes, since Keystone cannot move objects."""
        return "domain" in call.update.changed

    def parts(self, call: Call) -> Collection[str]:
        """Return the roles as shared parts."""
        return role_parts("groups", call.physical_id, call.properties.get("roles"))

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each role has either a project or a domain."""
        return role_findings(properties)
