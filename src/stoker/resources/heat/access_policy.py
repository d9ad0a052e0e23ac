"""OS::Heat::AccessPolicy: resources of a stack that stack users may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.shared.access import ALLOWED
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class AccessPolicy(ManagedType):
    """A list of resource names, to which stack users refer. Nothing is created."""

    type_name = "OS::Heat::AccessPolicy"
    description = "Lists the resources that users with this policy may read."
    properties = {
        ALLOWED: declare.sequence("Names of the resources that may be read.", required=True)
    }

    def named(self, properties: Mapping[str, Any]) -> Sequence[tuple[Path, Any]]:
        """Return the resources that the policy names."""
        names = properties.get(ALLOWED)
        listed = names if isinstance(names, list) else []
        return [((ALLOWED, index), name) for index, name in enumerate(listed)]

    def create(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to create."""
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()

    def reference(self, call: Call) -> Any:
        """Return the name, which users refer to."""
        return call.name
