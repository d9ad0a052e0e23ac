"""Everything in the lab's cloud and its Keystone that a stack can leave behind."""

from __future__ import annotations

from collections.abc import Mapping, Set

from keystoneauth1.session import Session

from tests.recovery.inventory import COLLECTIONS, IDENTITY
from tests.takeover_live import lab

_OF_ADMIN = {
    **COLLECTIONS,
    **{kind: (path, kind) for kind, path in IDENTITY.items()},
    "domains": ("/identity/v3/domains", "domains"),
    "images": ("/image/v2/images", "images"),
    "volume snapshots": ("/volume/v3/snapshots?all_tenants=1", "snapshots"),
    "volume backups": ("/volume/v3/backups?all_tenants=1", "backups"),
}
Inventory = Mapping[str, Set[str]]


def inventory(admin: Session) -> Inventory:
    """Return the ids of all objects by kind, as the administrator sees them."""
    found: dict[str, Set[str]] = {}
    for kind, (path, key) in _OF_ADMIN.items():
        answer = admin.get(lab.CLOUD_URL + path).json()
        found[kind] = {entry["id"] for entry in answer[key]}
    return found


def left_since(before: Inventory, now: Inventory) -> dict[str, list[str]]:
    """Return the ids of new objects by kind."""
    new = {kind: sorted(ids - before[kind]) for kind, ids in now.items()}
    return {kind: ids for kind, ids in new.items() if ids}
