"""Resolves security groups by name or id, for ports and servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from stoker.clouds.objects.collections import SECURITY_GROUPS
from stoker.kernel.errors import NotFoundError

_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


def group_ids(cloud: Any, groups: Iterable[Any]) -> list[str]:
    """Return the ids of groups by name or id, without duplicates, in order.

    Raise :class:`stoker.kernel.errors.NotFoundError` for an unknown or ambiguous name.
    """
    ids = []
    for group in groups:
        found = str(group) if _ID.fullmatch(str(group)) else _by_name(cloud, str(group))
        if found not in ids:
            ids.append(found)
    return ids


def named_groups(cloud: Any, groups: Sequence[Any], present: Sequence[str]) -> list[Any]:
    """Return the groups of an object, by name if ``groups`` has the name, otherwise by id."""
    names: dict[str, Any] = {}
    for group in groups:
        with suppress(NotFoundError):
            names.setdefault(group_ids(cloud, [group])[0], group)
    return [names.get(group_id, group_id) for group_id in present]


def _by_name(cloud: Any, name: str) -> str:
    found = SECURITY_GROUPS.named(cloud, name)
    if len(found) > 1:
        mine = [group for group in found if group.get("project_id") == cloud.project_id]
        found = mine or found
    if not found:
        raise NotFoundError(f"there is no security group {name!r}")
    if len(found) > 1:
        raise NotFoundError(f"the name {name!r} belongs to {len(found)} security groups; use an id")
    return str(found[0]["id"])
