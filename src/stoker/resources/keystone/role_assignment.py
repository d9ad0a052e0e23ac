"""Base of the types that assign roles to an existing user or group.

The physical id is that of the user or group. The roles are recorded by ids before they are granted:
by the time of the delete, names in the properties may belong to another role or project.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from stoker.clouds.objects import collection
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.keystone.roles import (
    HELD,
    Role,
    held,
    hold,
    role_findings,
    role_parts,
)
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_BEFORE = "before"  # Key of the data: roles that were granted before the create.
_GIVEN = "given"  # Key of the data: roles that the resource granted or is about to grant.
_FIELDS = ("role", "project", "domain")


class RoleAssignment(ManagedType):
    """The roles of one user or group."""

    service = "identity"
    unique = True
    finds_own = True
    shares = frozenset({HELD})
    holders: ClassVar[collection.Collection]  # users or groups
    holder: ClassVar[str]  # property with the user or group
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Grant the roles. Those that exist already are recorded first, and never revoked."""
        if _BEFORE not in call.data:
            present = held(call, self.holders.plural, self._holder(call))
            before = [dict(role) for role in present if not self._is_shared(call, role)]
            data = {**call.data, _BEFORE: before, _GIVEN: _listed(call.properties["roles"])}
            return Wait(after=0.0, data=data)
        hold(call, self.holders.plural, self._holder(call), call.properties["roles"] or ())
        return Done(self._holder(call))

    def update(self, call: Call) -> Outcome:
        """Record and grant the new roles, then revoke the old ones."""
        desired = _listed(call.properties["roles"])
        granted = _listed(call.data.get(_GIVEN, call.update.previous.get("roles")))
        added = [role for role in desired if role not in granted]
        if added:
            return Wait(after=0.0, data={**call.data, _GIVEN: [*granted, *added]})
        hold(call, self.holders.plural, self._holder(call), desired, _own(call, granted))
        return Done(data={**call.data, _GIVEN: desired})

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the user or group changes."""
        return self.holder in call.update.changed

    def delete(self, call: Call) -> Outcome:
        """Revoke the roles."""
        if call.physical_id is not None:
            granted = _listed(call.data.get(_GIVEN, call.properties["roles"]))
            before = _own(call, granted)
            hold(call, self.holders.plural, call.physical_id, (), before)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the user or group, if it has all the roles."""
        desired = list(call.properties["roles"] or ())
        present = held(call, self.holders.plural, self._holder(call))
        return self._holder(call) if desired and len(present) == len(desired) else None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the user or group."""
        return {"show": self.holders.get(call.cloud, call.object_id)}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the roles that are granted."""
        if self.holders.find(call.cloud, call.object_id) is None:
            return None
        roles = held(call, self.holders.plural, call.object_id)
        return {self.holder: call.object_id, "roles": roles}

    def check(self, call: Call) -> Outcome:
        """Check that the user or group has all the roles."""
        if self.find(call) is None and call.properties["roles"]:
            return Failed(f"the {self.holder} {call.physical_id} lacks roles, or does not exist")
        return Done()

    def parts(self, call: Call) -> Collection[str]:
        """Return the roles as shared parts."""
        return role_parts(self.holders.plural, self._holder(call), call.properties["roles"])

    def _is_shared(self, call: Call, role: Role) -> bool:
        return role_parts(self.holders.plural, self._holder(call), [role]) <= call.shared

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each role has either a project or a domain."""
        return role_findings(properties)

    def _holder(self, call: Call) -> str:
        return str(call.properties[self.holder])


def _key(role: Role) -> tuple[Any, ...]:
    return tuple(role.get(name) for name in _FIELDS)


def _listed(roles: Iterable[Role] | None) -> list[Role]:
    """Return the roles in the form in which they are recorded."""
    return [{name: role.get(name) for name in _FIELDS} for role in roles or ()]


def _own(call: Call, roles: Iterable[Role]) -> list[Role]:
    """Return the roles that were not granted before the create."""
    before = set(map(_key, call.data.get(_BEFORE, ())))
    return [role for role in roles if _key(role) not in before]
