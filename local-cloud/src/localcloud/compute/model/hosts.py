"""The compute hosts of the cloud, and the choice of a host for a server.

The cloud has one machine. It is divided into three hosts in name, so that availability zones,
aggregates and the policies of server groups have the same meaning as elsewhere.
"""

import os
import shutil
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from msgspec import Struct

from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError

HOSTS = ("compute-1", "compute-2", "compute-3")
DEFAULT_ZONE = "nova"
INTERNAL_ZONE = "internal"
_BINARIES = (("nova-conductor", "controller"), ("nova-scheduler", "controller"))


class Capacity(Struct, frozen=True):
    """The resources of one host, as a share of the machine."""

    vcpus: int
    memory_mb: int
    disk_gb: int


def uuid_of(name: str) -> str:
    """Return the stable UUID of a host or service."""
    return str(uuid5(NAMESPACE_URL, f"localcloud:{name}"))


def bootstrap(state: State) -> None:
    """Make the records of the services that are missing."""
    services = (*_BINARIES, *(("nova-compute", host) for host in HOSTS))
    for number, (binary, host) in enumerate(services, start=1):
        key = uuid_of(f"{binary}/{host}")
        if key not in state.services:
            state.services.put(
                {
                    "id": key,
                    "number": number,
                    "binary": binary,
                    "host": host,
                    "disabled": False,
                    "disabled_reason": None,
                    "forced_down": False,
                }
            )


def capacity(directory: Path) -> Capacity:
    """Return the resources of a host."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    disk = shutil.disk_usage(directory).total
    share = len(HOSTS)
    return Capacity(
        vcpus=max((os.cpu_count() or 1) // share, 1),
        memory_mb=(pages >> 20) // share,
        disk_gb=(disk >> 30) // share,
    )


def aggregate(state: State, key: str) -> Document:
    """Return an aggregate by id or UUID; raises :class:`NotFoundError`."""
    for found in state.aggregates.values():
        if key in {found["id"], found["uuid"]}:
            return found
    raise NotFoundError(f"Aggregate {key} could not be found.")


def zone_of(state: State, host: str) -> str:
    """Return the availability zone of a host."""
    for aggregate in state.aggregates.values():
        zone = aggregate["metadata"].get("availability_zone")
        if zone and host in aggregate["hosts"]:
            return str(zone)
    return DEFAULT_ZONE


def zones(state: State) -> dict[str, list[str]]:
    """Return the availability zones with their hosts."""
    found: dict[str, list[str]] = {}
    for host in HOSTS:
        found.setdefault(zone_of(state, host), []).append(host)
    return found


def require_zone(state: State, zone: str | None) -> None:
    """Raise :class:`BadRequestError` for an availability zone that does not exist."""
    if zone is not None and zone not in zones(state):
        raise BadRequestError("The requested availability zone is not available")


def usable(state: State, host: str) -> bool:
    """Return whether new servers may go to the host."""
    service = state.services.get(uuid_of(f"nova-compute/{host}"))
    return service is None or not (service["disabled"] or service["forced_down"])


def load(state: State) -> dict[str, int]:
    """Return how many servers each host has."""
    counts = dict.fromkeys(HOSTS, 0)
    for server in state.servers.values():
        if server["host"] in counts:
            counts[server["host"]] += 1
    return counts


def choose(state: State, server: Document) -> str:
    """Return the host for a server: allowed by zone and group, with the fewest servers.

    Raises :class:`ConflictError` where there is none.
    """
    zone = server["availability_zone"]
    counts = load(state)
    candidates = [h for h in HOSTS if usable(state, h)]
    if server.get("wanted_host"):
        candidates = [h for h in candidates if h == server["wanted_host"]]
    if zone:
        candidates = [h for h in candidates if zone_of(state, h) == zone]
    candidates = _by_group(state, server, candidates)
    if not candidates:
        raise ConflictError("No valid host was found. There are not enough hosts available.")
    return min(candidates, key=lambda h: counts[h])


def _by_group(state: State, server: Document, candidates: list[str]) -> list[str]:
    group = state.groups.get(server["group_id"] or "")
    if group is None:
        return candidates
    others = [state.servers.get(m) for m in group["members"] if m != server["id"]]
    hosts = [o["host"] for o in others if o is not None and o["host"]]
    policy = group["policy"]
    if policy == "affinity":
        return [h for h in candidates if h in hosts] if hosts else candidates
    if policy == "anti-affinity":
        most = int(group["rules"].get("max_server_per_host", 1))
        return [h for h in candidates if hosts.count(h) < most]
    if policy == "soft-affinity":
        return [h for h in candidates if h in hosts] or candidates
    fewest = min((hosts.count(h) for h in candidates), default=0)
    return [h for h in candidates if hosts.count(h) == fewest]
