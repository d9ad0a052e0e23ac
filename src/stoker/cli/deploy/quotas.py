"""Quotas that a plan counts against, and warnings about the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

# What a quota counts, if its name does not say it.
_WORDS = {
    "floatingip": "floating IPs",
    "gigabytes": "GiB of volumes",
    "network": "networks",
    "port": "ports",
    "ram": "MiB of memory",
    "router": "routers",
    "security_group": "security groups",
    "security_group_rule": "rules of security groups",
    "server_groups": "server groups",
    "subnet": "subnets",
}


class Quota(Struct, frozen=True):
    """A quota, with the use that a plan adds to the present one."""

    service: str
    name: str
    requested: int
    used: int
    allowed: int | None  # None for no limit

    @property
    def warning(self) -> str | None:
        """Return a line about a quota that the plan exceeds now."""
        if self.allowed is None or self.used + self.requested <= self.allowed:
            return None
        words = _WORDS.get(self.name, self.name)
        return (
            f"warning: the plan needs {self.requested} {words}, but {self.used} of"
            f" {self.allowed} are in use: delete some, or ask for a larger quota"
        )

    def as_data(self) -> dict[str, Any]:
        """Return the quota for JSON output."""
        return {
            "service": self.service,
            "name": self.name,
            "requested": self.requested,
            "used": self.used,
            "allowed": self.allowed,
        }


def quotas_in(answer: Mapping[str, Any]) -> Iterator[Quota]:
    """Yield the quotas in the answer to a preview; none from older services."""
    for each in answer.get("quotas") or ():
        yield Quota(each["service"], each["name"], each["requested"], each["used"], each["allowed"])


def warnings_in(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each quota that is exceeded, and for each delete that may fail."""
    for quota in quotas_in(answer):
        if quota.warning is not None:
            yield quota.warning
    for each in answer.get("warnings") or ():
        yield f"warning: {'/'.join(each['path'])}: {each['message']}"
