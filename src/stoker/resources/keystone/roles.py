"""Roles of users and groups in projects and domains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import send
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest
from stoker.schema.resource_type import Call

Role = Mapping[str, Any]  # ``role``, and ``project`` or ``domain``, all of them ids

ROLES = declare.records(
    "Roles, each in a project or a domain.",
    update_allowed=True,
    entries={
        "domain": declare.by_name("keystone.domain", "Domain of the role"),
        "project": declare.by_name("keystone.project", "Project of the role"),
        "role": declare.by_name("keystone.role", "Role", required=True),
    },
)


HELD = "role"


def role_parts(kind: str, holder: str | None, roles: Iterable[Role] | None) -> set[str]:
    """Return the roles of ``users`` or ``groups`` as shared parts; none without a holder."""
    return set() if holder is None else {_part(kind, holder, role) for role in roles or ()}


def _part(kind: str, holder: str, role: Role) -> str:
    return f"{HELD} {_path(kind, holder, role)}"


def roles_of(kind: str) -> FollowUpRequest:
    """Return the follow-up request for the property ``roles`` of ``users`` or ``groups``."""

    def grant(call: Call) -> None:
        before = call.update.previous.get("roles") or ()
        hold(call, kind, call.object_id, call.properties.get("roles") or (), before)

    def read_roles(call: Call) -> list[Role]:
        return held(call, kind, call.object_id)

    return FollowUpRequest("roles", grant, read_roles)


def hold(
    call: Call, kind: str, holder: str, desired: Iterable[Role], before: Iterable[Role] = ()
) -> None:
    """Grant these roles to a user or group, and revoke previous ones that are not wanted.

    Roles that other resources of the stack grant stay.
    """
    paths = [_path(kind, holder, role) for role in desired]
    for path in paths:
        send(call.cloud.service("identity"), "PUT", path)
    own = [role for role in before if _part(kind, holder, role) not in call.shared]
    for path in {_path(kind, holder, role) for role in own}.difference(paths):
        with gone_is_fine():
            send(call.cloud.service("identity"), "DELETE", path)


def held(call: Call, kind: str, holder: str) -> list[Role]:
    """Return the roles of the property that the user or group has."""
    query = {f"{kind.removesuffix('s')}.id": holder}
    answer = send(call.cloud.service("identity"), "GET", "/role_assignments", params=query)
    present = {_path(kind, holder, _entry(item)) for item in answer.get("role_assignments", [])}
    desired = call.properties.get("roles") or ()
    return [dict(role) for role in desired if _path(kind, holder, role) in present]


def role_findings(properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
    """Check that each role has either a project or a domain."""
    return [
        Diagnostic(
            "invalid-role", "one of project and domain must be given, not both", ("roles", index)
        )
        for index, role in declare.records_in(properties.get("roles"))
        if (role.get("project") is None) == (role.get("domain") is None)
    ]


def _entry(assignment: Mapping[str, Any]) -> Role:
    scope = assignment.get("scope") or {}
    return {
        "role": assignment["role"]["id"],
        "project": (scope.get("project") or {}).get("id"),
        "domain": (scope.get("domain") or {}).get("id"),
    }


def _path(kind: str, holder: str, role: Role) -> str:
    scope = "projects" if role.get("project") else "domains"
    place = role.get("project") or role.get("domain")
    return f"/{scope}/{place}/{kind}/{holder}/roles/{role['role']}"
