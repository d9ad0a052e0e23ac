"""Reads the quotas of a project, with the use of each.

A service that does not answer, or that does not show the use, is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stoker.clouds.faults import is_cloud_fault
from stoker.clouds.objects.collection import send
from stoker.clouds.objects.kinds import KINDS
from stoker.clouds.objects.lookups import LookupFailedError, Lookups
from stoker.schema.properties import Finder
from stoker.schema.quotas import FLAVOR, Quota, QuotaKeys

_FLAVORS = Finder("compute", "flavor")
_MOST_FLAVORS = 20  # that are read for one request
# Names of quotas: the fields of limit and use in the answer of the service.
_COMPUTE = {
    "instances": ("maxTotalInstances", "totalInstancesUsed"),
    "cores": ("maxTotalCores", "totalCoresUsed"),
    "ram": ("maxTotalRAMSize", "totalRAMUsed"),
    "server_groups": ("maxServerGroups", "totalServerGroupsUsed"),
}
_VOLUME = {
    "volumes": ("maxTotalVolumes", "totalVolumesUsed"),
    "gigabytes": ("maxTotalVolumeGigabytes", "totalGigabytesUsed"),
    "snapshots": ("maxTotalSnapshots", "totalSnapshotsUsed"),
    "backups": ("maxTotalBackups", "totalBackupsUsed"),
}

Levels = Mapping[str, tuple[int, int]]  # limit and use by name of the quota


def quotas_for(cloud: Any, lookups: Lookups, use: QuotaKeys) -> list[Quota]:
    """Return the quotas that the use counts against, in a fixed order."""
    requested: Counter[str] = Counter()
    flavors = []
    for key, number in use.items():
        if key.startswith(f"{FLAVOR}/"):
            flavors.append((key.partition("/")[2], number))
        else:
            requested[key] += number
    for name, number in flavors[:_MOST_FLAVORS]:
        requested.update(_of_flavor(cloud, lookups, name, number))
    found = []
    for service, read in _READERS.items():
        of_service = {
            key: n for key, n in requested.items() if key.startswith(f"{service}/") and n > 0
        }
        levels = _answer(read, cloud) if of_service else {}
        for name, (limit, used) in levels.items():
            if f"{service}/{name}" in of_service:
                number = of_service[f"{service}/{name}"]
                found.append(Quota(service, name, number, used, None if limit < 0 else limit))
    return found


def _answer(read: Callable[[Any], Levels], cloud: Any) -> Levels:
    try:
        return read(cloud)
    except Exception as fault:
        if not is_cloud_fault(fault):
            raise
        return {}


def _of_flavor(cloud: Any, lookups: Lookups, name: str, number: int) -> QuotaKeys:
    """Return the cores and the memory in MiB of servers of a flavor."""
    try:
        flavor_id = lookups.find(cloud, _FLAVORS, name)
        flavor = KINDS["compute", "flavor"].get(cloud, flavor_id)
    except LookupFailedError:
        return {}
    except Exception as fault:
        if not is_cloud_fault(fault):
            raise
        return {}
    return {
        "compute/cores": number * int(flavor.get("vcpus") or 0),
        "compute/ram": number * int(flavor.get("ram") or 0),
    }


def _levels(answer: Mapping[str, Any], fields: Mapping[str, tuple[str, str]]) -> Levels:
    absolute = answer["limits"]["absolute"]
    return {
        name: (int(absolute[limit]), int(absolute[used]))
        for name, (limit, used) in fields.items()
        if limit in absolute and used in absolute
    }


def _compute(cloud: Any) -> Levels:
    return _levels(send(cloud.service("compute"), "GET", "/limits"), _COMPUTE)


def _volume(cloud: Any) -> Levels:
    return _levels(send(cloud.service("block-storage"), "GET", "/limits"), _VOLUME)


def _network(cloud: Any) -> Levels:
    project = cloud.project_id
    answer = send(cloud.service("network"), "GET", f"/quotas/{project}/details.json")
    return dict(_network_levels(answer))


def _network_levels(answer: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    for name, level in answer["quota"].items():
        if isinstance(level, Mapping):
            used = int(level["used"]) + int(level.get("reserved") or 0)
            yield name, (int(level["limit"]), used)


_READERS: Mapping[str, Callable[[Any], Levels]] = {
    "compute": _compute,
    "volume": _volume,
    "network": _network,
}
