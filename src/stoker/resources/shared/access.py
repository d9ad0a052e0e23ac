"""Resources of a stack that its users may read, by the policies of a user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.schema.neighbours import Neighbour

POLICY = "OS::Heat::AccessPolicy"
ALLOWED = "AllowedResources"
"""The property of a policy."""


def all_allow(policies: Iterable[Any], name: str, others: Mapping[str, Neighbour]) -> bool:
    """Return whether all policies, named as resources of a stack, allow the resource ``name``.

    What is no text is a policy in AWS's own language, as templates for both have; it says nothing.
    """
    for policy in policies:
        if isinstance(policy, str):
            type_name, properties = others.get(policy, ("", {}))
            if type_name != POLICY or name not in (properties.get(ALLOWED) or ()):
                return False
    return True
