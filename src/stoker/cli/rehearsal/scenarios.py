"""The scenarios of a rehearsal: faults of the cloud and the service during an operation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.template.source.source import read

FAILURE = "rehearsal_failure"  # resource that fails when all others are done
_CHANGES = ("POST", "PUT", "PATCH", "DELETE")
_SERVICES = (
    "compute", "network", "volumev3", "image", "object-store", "key-manager", "load-balancer",
    "dns", "messaging", "alarming", "workflowv2", "sharev2",
)  # fmt: skip
# Tokens are left alone: the first disturbance that matches applies.
_SPARED: Mapping[str, Any] = {"service": "identity"}
_SLOW = {"before": 0.5, "after": 0.5}
# Long enough to kill the service before and after a call acts.
_IN_FLIGHT = {"before": 0.1, "after": 0.1}
_REFUSED = {"outcome": "refuse", "status": 503, "retry_after": 1}
_LOST = {"outcome": "lose"}
_SHARE = 0.1

Disturbances = tuple[Mapping[str, Any], ...]


class Scenario(Struct, frozen=True):
    """One way in which the operation is rehearsed."""

    name: str
    purpose: str
    disturbances: Disturbances = ()
    kills: bool = False  # The service is killed at each step.
    fails: bool = False  # The operation fails at its end, and is rolled back.


def _changes(effect: Mapping[str, Any]) -> Disturbances:
    """Return disturbances of all calls that change something."""
    return tuple({"method": method, **effect} for method in _CHANGES)


def _at_first_and_at_random(effect: Mapping[str, Any]) -> Disturbances:
    """Return disturbances of the first call of each method to each service, and of some others."""
    first = [
        {"service": service, "method": method, "times": 1, **effect}
        for service in _SERVICES
        for method in _CHANGES
    ]
    return (_SPARED, *first, *_changes({"share": _SHARE, **effect}))


PLAIN = Scenario("plain", "nothing else happens")
ROLLBACK = Scenario("rollback", "it fails at its end, and is rolled back", fails=True)
KILL = Scenario(
    "kill", "the service is killed at each step", (_SPARED, *_changes(_IN_FLIGHT)), kills=True
)
DISTURBED = {
    "slow": Scenario(
        "slow",
        "each change takes the cloud a second longer",
        (_SPARED, *_changes(_SLOW)),
    ),
    "rejecting": Scenario(
        "rejecting",
        "the cloud rejects the first change of each kind, and a tenth of the rest",
        _at_first_and_at_random(_REFUSED),
    ),
    "losing": Scenario(
        "losing",
        "the cloud loses the response to the first change of each kind, and to a tenth of the rest",
        _at_first_and_at_random(_LOST),
    ),
}


def with_failure(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a request whose template fails at its end."""
    template = body["template"]
    data = read(template).data if isinstance(template, str) else template
    key, failure = "resources", {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
    after = "depends_on"
    if "Resources" in data:
        key, after = "Resources", "DependsOn"
        failure = {name.capitalize(): value for name, value in failure.items()}
    resources = dict(data.get(key) or {})
    if resources:
        failure[after] = list(resources)
    changed = {**data, key: {**resources, FAILURE: failure}}
    return {**body, "template": json.dumps(changed, default=str), "disable_rollback": False}
