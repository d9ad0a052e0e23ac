"""Checks which resources of its stack a stack user may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.schema.resource_type.neighbours import Neighbour

POLICY = "OS::Heat::AccessPolicy"
ALLOWED = "AllowedResources"  # Property of a policy.


def all_allow(policies: Iterable[Any], name: str, others: Mapping[str, Neighbour]) -> bool:
    """Return whether all policies allow reading the resource ``name``.

    Strings are names of OS::Heat::AccessPolicy resources of the stack. Other values are policies in
    AWS's own format, which templates may contain for either cloud; they restrict nothing here.
    """
    for policy in policies:
        if isinstance(policy, str):
            type_name, properties = others.get(policy, ("", {}))
            if type_name != POLICY or name not in (properties.get(ALLOWED) or ()):
                return False
    return True
