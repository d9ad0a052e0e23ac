"""Quotas of a project: the use by resources to be created, and the limits of the cloud.

The use of a resource is a number by key. The key is the service and the name of its quota, as
``network/port``; ``flavor/NAME`` counts servers of a flavor. The cloud knows its cores and memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

FLAVOR = "flavor"  # the first part of a key that counts servers

QuotaKeys = Mapping[str, int]


class Quota(Struct, frozen=True):
    """A quota of a project, with a requested use in addition to the present one."""

    service: str
    name: str
    requested: int
    used: int
    allowed: int | None  # None for no limit
