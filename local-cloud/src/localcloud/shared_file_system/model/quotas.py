"""Quotas of shared file systems, and the usage of projects."""

from localcloud.core.store import Document
from localcloud.shared_file_system.model.state import State
from localcloud.web.http import ApiError

# More than a new cloud has of what there is here: this one is for a whole test suite.
DEFAULTS = {
    "shares": 500,
    "gigabytes": 100_000,
    "snapshots": 500,
    "snapshot_gigabytes": 100_000,
    "share_networks": 100,
    "share_groups": 50,
    "share_group_snapshots": 50,
    "share_replicas": 100,
    "replica_gigabytes": 1000,
    "per_share_gigabytes": -1,
    "backups": 10,
    "backup_gigabytes": 1000,
    "encryption_keys": 100,
}
# The minor versions that show what the first one did not have.
SINCE = {
    "share_groups": 40,
    "share_group_snapshots": 40,
    "share_replicas": 53,
    "replica_gigabytes": 53,
    "per_share_gigabytes": 62,
    "backups": 80,
    "backup_gigabytes": 80,
    "encryption_keys": 90,
}
NOT_BY_TYPE = frozenset({"share_networks", "share_groups", "share_group_snapshots"})
DEFAULT_CLASS = "class:default"
UNLIMITED = -1
_EITHER = "either per project/user or share type quota is exceeded"
_GIGABYTES = "exceeds allowed project/user or share type gigabytes quota"
_MESSAGES = {
    "shares": "ShareLimitExceeded: Maximum number of shares allowed ({limit}) " + f"{_EITHER}.",
    "snapshots": "SnapshotLimitExceeded: Maximum number of snapshots allowed ({limit}) "
    f"{_EITHER}.",
    "share_networks": "ShareNetworksLimitExceeded: Maximum number of share-networks allowed "
    "({limit}) exceeded.",
    "gigabytes": f"ShareSizeExceedsAvailableQuota: Requested share {_GIGABYTES}.",
    "snapshot_gigabytes": f"SnapshotSizeExceedsAvailableQuota: Requested snapshot {_GIGABYTES}.",
}


class OverQuotaError(ApiError):
    """The project has as much as it may have."""

    status = 413

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"Retry-After": "0"})


def key_of(project: str, type_id: str | None = None) -> str:
    """Return under which id the limits of a project, or of a type in it, are kept."""
    return project if type_id is None else f"{project}:{type_id}"


def limits(state: State, project: str, type_id: str | None = None) -> dict[str, int]:
    """Return the limits of a project, or of a type in it; -1 is for none."""
    own = {**default_limits(state), **_own(state, key_of(project))}
    return own if type_id is None else {**own, **_own(state, key_of(project, type_id))}


def default_limits(state: State) -> dict[str, int]:
    """Return the limits of projects that have none of their own."""
    return {**DEFAULTS, **_own(state, DEFAULT_CLASS)}


def _own(state: State, key: str) -> dict[str, int]:
    return {k: v for k, v in (state.quotas.get(key) or {}).items() if k != "id"}


def usage(state: State, project: str, type_id: str | None = None) -> dict[str, int]:
    """Return the usage of a project, of one type or of all."""
    shares = [
        share
        for share in state.shares.find(project_id=project)
        if type_id in (None, share["share_type_id"])
    ]
    snapshots = [
        snapshot
        for snapshot in state.snapshots.find(project_id=project)
        if type_id in (None, snapshot["share_type_id"])
    ]
    return {
        **dict.fromkeys(DEFAULTS, 0),
        "shares": len(shares),
        "gigabytes": sum(share["size"] for share in shares),
        "snapshots": len(snapshots),
        "snapshot_gigabytes": sum(snapshot["size"] for snapshot in snapshots),
        "share_networks": sum(1 for _ in state.networks.find(project_id=project)),
    }


def check(state: State, project: str, kind: Document | None = None, **more: int) -> None:
    """Raise :class:`OverQuotaError` where the project may not have this much more."""
    for type_id in (None,) if kind is None else (None, kind["id"]):
        allowed, used = limits(state, project, type_id), usage(state, project, type_id)
        for name, amount in more.items():
            if UNLIMITED != allowed[name] < used[name] + amount:
                raise OverQuotaError(_MESSAGES[name].format(limit=allowed[name]))


def check_size(state: State, project: str, kind: Document, size: int) -> None:
    """Raise :class:`OverQuotaError` where no share of the project may be so large."""
    most = limits(state, project, kind["id"])["per_share_gigabytes"]
    if UNLIMITED != most < size:
        raise OverQuotaError(
            f"ShareSizeExceedsLimit: Requested share size {size} is larger than maximum allowed "
            f"limit {most}."
        )
