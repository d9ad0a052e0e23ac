"""Quotas of block storage, and the usage of projects."""

from localcloud.block_storage.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import ApiError

# More than a new cloud has: this one is for a whole test suite.
DEFAULTS = {
    "volumes": 2000,
    "snapshots": 2000,
    "gigabytes": 100_000,
    "per_volume_gigabytes": -1,
    "backups": 2000,
    "backup_gigabytes": 100_000,
    "groups": 10,
}
BY_TYPE = ("volumes", "snapshots", "gigabytes")  # what is also limited for each type of volume
DEFAULT_CLASS = "class:default"
_UNLIMITED = -1
_KINDS = {
    "volumes": "VolumeLimitExceeded",
    "snapshots": "SnapshotLimitExceeded",
    "backups": "BackupLimitExceeded",
    "backup_gigabytes": "VolumeBackupSizeExceedsAvailableQuota",
}
_SIZES = {
    "gigabytes": "Requested volume or snapshot exceeds allowed gigabytes quota.",
    "backup_gigabytes": "Requested backup exceeds allowed Backup gigabytes quota.",
}


class OverQuotaError(ApiError):
    """The project has as much as it may have."""

    status = 413

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}", headers={"Retry-After": "0"})


def names(state: State) -> list[str]:
    """Return all that is limited."""
    types = [found["name"] for found in state.types.values()]
    return [*DEFAULTS, *(f"{name}_{kind}" for kind in types for name in BY_TYPE)]


def limits(state: State, project: str) -> dict[str, int]:
    """Return the limits of a project; -1 is for none."""
    return {**default_limits(state), **_own(state, project)}


def default_limits(state: State) -> dict[str, int]:
    """Return the limits of projects that have none of their own."""
    unlimited = dict.fromkeys(names(state), _UNLIMITED)
    return {**unlimited, **DEFAULTS, **_own(state, DEFAULT_CLASS)}


def _own(state: State, key: str) -> dict[str, int]:
    found = state.quotas.get(key)
    return {} if found is None else {k: v for k, v in found.items() if k != "id"}


def usage(state: State, project: str) -> dict[str, int]:
    """Return the usage of a project."""
    used = dict.fromkeys(names(state), 0)

    def add(name: str, amount: int, kind: str | None = None) -> None:
        for key in (name, f"{name}_{kind}"):
            if key in used:
                used[key] += amount

    known = {found["id"]: found["name"] for found in state.types.values()}
    for volume in state.volumes.find(project_id=project):
        add("volumes", 1, known.get(volume["volume_type_id"]))
        add("gigabytes", volume["size"], known.get(volume["volume_type_id"]))
    for snapshot in state.snapshots.find(project_id=project):
        add("snapshots", 1, known.get(snapshot["volume_type_id"]))
        add("gigabytes", snapshot["size"], known.get(snapshot["volume_type_id"]))
    for backup in state.backups.find(project_id=project):
        add("backups", 1)
        add("backup_gigabytes", backup["size"])
    return used


def check(state: State, project: str, kind: Document | None, **more: int) -> None:
    """Raise :class:`OverQuotaError` where the project may not have this much more."""
    allowed, used = limits(state, project), usage(state, project)
    largest = allowed["per_volume_gigabytes"]
    if "volumes" in more and _UNLIMITED != largest < more["gigabytes"]:
        raise OverQuotaError(
            "VolumeSizeExceedsLimit",
            f"Requested volume size {more['gigabytes']}G is larger than maximum allowed "
            f"limit {largest}G.",
        )
    for name, amount in more.items():
        for key in (name, f"{name}_{kind['name']}" if kind is not None else name):
            limit = allowed.get(key, _UNLIMITED)
            if limit != _UNLIMITED and used.get(key, 0) + amount > limit:
                raise _exceeded(name, key, amount, limit, used.get(key, 0))


def _exceeded(name: str, key: str, amount: int, limit: int, used: int) -> OverQuotaError:
    if name in _SIZES:
        return OverQuotaError(
            _KINDS.get(name, "VolumeSizeExceedsAvailableQuota"),
            f"{_SIZES[name]} Requested {amount}G, quota is {limit}G and {used}G has been consumed.",
        )
    message = f"Maximum number of {name} allowed ({limit}) exceeded for quota '{key}'."
    return OverQuotaError(_KINDS[name], message)
