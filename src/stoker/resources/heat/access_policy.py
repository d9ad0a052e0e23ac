"""Resources of a stack that its users may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.shared.access import ALLOWED
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class AccessPolicy(ManagedType):
    """A list of names, for users that refer to it. Nothing is made."""

    type_name = "OS::Heat::AccessPolicy"
    description = "Names the resources that users with this policy may look at."
    properties = {
        ALLOWED: declare.sequence(
            "Names of resources of the stack that may be described.", required=True
        )
    }

    def named(self, properties: Mapping[str, Any]) -> Sequence[tuple[Path, Any]]:
        """The resources."""
        names = properties.get(ALLOWED)
        listed = names if isinstance(names, list) else []
        return [((ALLOWED, index), name) for index, name in enumerate(listed)]

    def create(self, call: Call) -> Outcome:
        """Nothing to create."""
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        """Nothing to remove."""
        return Done()

    def reference(self, call: Call) -> Any:
        """Its name, by which users refer to it."""
        return call.name
