"""Roles that a user or group has by a resource of its own.

It has no object: its id is that of the user or group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from stoker.clouds.collection import Collection
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources import declare
from stoker.resources.keystone.roles import held, hold, role_findings
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome


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
        """Give the roles."""
        hold(call, self.holders.plural, self._holder(call), call.properties["roles"] or ())
        return Done(self._holder(call))

    def update(self, call: Call) -> Outcome:
        """Give the new roles, take the old ones."""
        before = call.update.previous.get("roles") or ()
        wanted = call.properties["roles"] or ()
        hold(call, self.holders.plural, self._holder(call), wanted, before)
        return Done()

    def needs_replacement(self, call: Call) -> bool:
        """Roles of somebody else are another assignment."""
        return self.holder in call.update.changed

    def delete(self, call: Call) -> Outcome:
        """Take the roles."""
        if call.physical_id is not None:
            before = call.properties["roles"] or ()
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
