"""Roles that a user or group has by a resource of its own.

It has no object: its id is that of the user or group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from stoker.clouds.collection import Collection
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources import declare
from stoker.resources.keystone.roles import Role, held, hold, role_findings
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait

_BEFORE = "before"
"""Key of the data: those of the roles that were held before the create."""


class RoleAssignment(ManagedType):
    """The roles of one user or group."""

    service = "identity"
    unique = True
    finds_own = True
    holders: ClassVar[Collection]
    """Users or groups."""
    holder: ClassVar[str]
    """Property with the user or group."""
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Give the roles. Those that are held already are recorded first, and never taken."""
        if _BEFORE not in call.data:
            present = held(call, self.holders.plural, self._holder(call))
            ours = _of_others(call)
            before = [dict(role) for role in present if _key(role) not in ours]
            return Wait(after=0.0, data={**call.data, _BEFORE: before})
        hold(call, self.holders.plural, self._holder(call), call.properties["roles"] or ())
        return Done(self._holder(call))

    def update(self, call: Call) -> Outcome:
        """Give the new roles, take the old ones."""
        before = _own(call, call.update.previous.get("roles") or ())
        wanted = call.properties["roles"] or ()
        hold(call, self.holders.plural, self._holder(call), wanted, before)
        return Done()

    def needs_replacement(self, call: Call) -> bool:
        """Roles of somebody else are another assignment."""
        return self.holder in call.update.changed

    def delete(self, call: Call) -> Outcome:
        """Take the roles."""
        if call.physical_id is not None:
            before = _own(call, call.properties["roles"] or ())
            hold(call, self.holders.plural, call.physical_id, (), before)
        return Done()

    def find(self, call: Call) -> str | None:
        """The user or group, if it has all the roles."""
        wanted = list(call.properties["roles"] or ())
        present = held(call, self.holders.plural, self._holder(call))
        return self._holder(call) if wanted and len(present) == len(wanted) else None

    def read(self, call: Call) -> Mapping[str, Any]:
        """The user or group."""
        return {"show": self.holders.get(call.cloud, call.object_id)}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Those of the roles that are there."""
        if self.holders.find(call.cloud, call.object_id) is None:
            return None
        roles = held(call, self.holders.plural, call.object_id)
        return {self.holder: call.object_id, "roles": roles}

    def check(self, call: Call) -> Outcome:
        """Whether the user or group has all the roles."""
        if self.find(call) is None and call.properties["roles"]:
            return Failed(f"the {self.holder} {call.physical_id} lacks roles, or does not exist")
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Each role is held in a project or in a domain."""
        return role_findings(properties)

    def _holder(self, call: Call) -> str:
        return str(call.properties[self.holder])


def _key(role: Role) -> tuple[Any, ...]:
    return role.get("role"), role.get("project"), role.get("domain")


def _of_others(call: Call) -> set[tuple[Any, ...]]:
    """The roles that other resources of the stack give to the same user or group."""
    return {_key(role) for each in call.others for role in each.get("roles") or ()}


def _own(call: Call, roles: Iterable[Role]) -> list[Role]:
    """Those of the roles that nothing but this resource has given."""
    kept = {*map(_key, call.data.get(_BEFORE, ())), *_of_others(call)}
    return [role for role in roles if _key(role) not in kept]
