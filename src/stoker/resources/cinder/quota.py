"""OS::Cinder::Quota: limits of block storage for a project."""

from __future__ import annotations

from stoker.resources.shared.quotas import PROJECT, ProjectQuota, limit
from stoker.schema.support import since


class Quota(ProjectQuota):
    """The block storage quota of a project. For administrators only."""

    type_name = "OS::Cinder::Quota"
    description = "Limits of block storage for a project."
    service = "block-storage"
    support = since("7.0.0")
    path = "/os-quota-sets"
    key = "quota_set"

    properties = {
        "backup_gigabytes": limit("GiB of backups", support=since("16.0.0")),
        "backups": limit("backups", support=since("16.0.0")),
        "gigabytes": limit("GiB of volumes and snapshots"),
        "project": PROJECT,
        "snapshots": limit("snapshots of volumes"),
        "volumes": limit("volumes"),
    }
