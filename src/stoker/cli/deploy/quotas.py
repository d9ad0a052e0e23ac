"""Quotas that a plan counts against, and warnings about the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.schema.quotas import Quota

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


def quotas_in(answer: Mapping[str, Any]) -> Iterator[Quota]:
    """Yield the quotas in the answer to a preview; none from older services."""
    for each in answer.get("quotas") or ():
        yield Quota(each["service"], each["name"], each["requested"], each["used"], each["allowed"])


def warnings_in(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each quota that is exceeded, and for each delete that may fail."""
    for quota in quotas_in(answer):
        if (warning := _warning(quota)) is not None:
            yield warning
    for each in answer.get("warnings") or ():
        yield f"warning: {'/'.join(each['path'])}: {each['message']}"


def _warning(quota: Quota) -> str | None:
    """Return a line about a quota that the plan exceeds now."""
    if quota.allowed is None or quota.used + quota.requested <= quota.allowed:
        return None
    words = _WORDS.get(quota.name, quota.name)
    return (
        f"warning: the plan needs {quota.requested} {words}, but {quota.used} of"
        f" {quota.allowed} are in use: delete some, or ask for a larger quota"
    )
