"""OS::Keystone::User: a user, with groups and roles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import send
from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, RestResource
from stoker.resources.keystone.roles import HELD, ROLES, role_findings, role_parts, roles_of
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


def _join(call: Call) -> None:
    identity = call.cloud.service("identity")
    desired = call.properties.get("groups") or []
    for group in desired:
        send(identity, "PUT", f"/groups/{group}/users/{call.object_id}")
    for group in call.update.previous.get("groups") or []:
        if group not in desired:
            with gone_is_fine():
                send(identity, "DELETE", f"/groups/{group}/users/{call.object_id}")


def _joined(call: Call) -> list[str]:
    answer = send(call.cloud.service("identity"), "GET", f"/users/{call.object_id}/groups")
    present = {group["id"] for group in answer.get("groups", [])}
    return [group for group in call.properties.get("groups") or [] if group in present]


class User(RestResource):
    """A user. For administrators only."""

    type_name = "OS::Keystone::User"
    description = "A user of the cloud."
    service = "identity"
    support = since("2015.1")
    shares = frozenset({HELD})
    collection = KINDS["identity", "user"]
    field_names = {"default_project": "default_project_id", "domain": "domain_id"}
    follow_up_requests = (FollowUpRequest("groups", _join, _joined), roles_of("users"))

    properties = {
        "default_project": declare.by_name(
            "keystone.project", "Default project", update_allowed=True
        ),
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "domain": declare.by_name(
            "keystone.domain", "Domain", default="default", update_allowed=True
        ),
        "email": declare.string("Email address.", update_allowed=True),
        "enabled": declare.boolean(
            "Whether the object is enabled.", default=True, update_allowed=True
        ),
        "groups": declare.sequence(
            "Groups of the user.",
            update_allowed=True,
            items=declare.by_name("keystone.group", "Group"),
        ),
        "name": declare.NAME,
        "password": declare.string("Password of the user.", update_allowed=True, sensitive=True),
        "roles": ROLES,
    }
    attributes = {
        "default_project_id": Attribute("Id of the default project.", Type.STRING),
        "domain_id": Attribute("Id of the domain.", Type.STRING),
        "enabled": Attribute("Whether the object is enabled.", Type.BOOLEAN),
        "name": Attribute("Name of the object.", Type.STRING),
        "password_expires_at": Attribute("Expiration time of the password.", Type.STRING),
        "show": declare.SHOW,
    }

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the domain changes, since Keystone cannot move objects."""
        return "domain" in call.update.changed

    def parts(self, call: Call) -> Collection[str]:
        """Return the roles as shared parts."""
        return role_parts("users", call.physical_id, call.properties.get("roles"))

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each role has either a project or a domain."""
        return role_findings(properties)
