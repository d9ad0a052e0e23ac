"""Documents of the block storage service, and how they are found.

A request writes the ``task`` of a volume, snapshot or backup and is answered; the work follows in
the background. The task is in the store before the answer, so that a restart resumes it.
"""

from pathlib import Path
from typing import Any

from localcloud.core.cloud import Cloud
from localcloud.core.store import Collection, Document
from localcloud.web.http import NotFoundError, RequestContext

ZONE = "nova"
# The one back end, in the service's way of naming it.
HOST = "localhost@local#local"


class State:
    """The collections of the block storage service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.volumes = store.collection("block_storage.volume", index=("project_id", "name"))
        self.snapshots = store.collection(
            "block_storage.snapshot", index=("project_id", "volume_id", "name")
        )
        self.backups = store.collection("block_storage.backup", index=("project_id", "volume_id"))
        self.attachments = store.collection(
            "block_storage.attachment", index=("volume_id", "server_id")
        )
        self.types = store.collection("block_storage.type", index=("name",))
        self.qos = store.collection("block_storage.qos", index=("name",))
        self.quotas = store.collection("block_storage.quota")

    def now(self) -> str:
        """Return the present time as documents hold it."""
        return self.cloud.now()

    def directory(self, object_id: str) -> Path:
        """Return the directory with the content of a volume or a snapshot."""
        return self.cloud.settings.cloud_dir / "volumes" / object_id

    def volume(self, who: RequestContext, volume_id: str) -> Document:
        """Return a volume that the caller may see; raises NotFoundError."""
        return _seen(self.volumes, who, volume_id, "Volume")

    def snapshot(self, who: RequestContext, snapshot_id: str) -> Document:
        """Return a snapshot that the caller may see; raises NotFoundError."""
        return _seen(self.snapshots, who, snapshot_id, "Snapshot")

    def backup(self, who: RequestContext, backup_id: str) -> Document:
        """Return a backup that the caller may see; raises NotFoundError."""
        return _seen(self.backups, who, backup_id, "Backup")

    def attachment(self, who: RequestContext, attachment_id: str) -> Document:
        """Return an attachment that the caller may see; raises NotFoundError."""
        found = self.attachments.get(attachment_id)
        if found is None or not (who.is_admin or found["project_id"] == who.project_id):
            raise NotFoundError(
                "Volume attachment could not be found with filter: "
                f"attachment_id = {attachment_id}."
            )
        return found

    def change(self, collection: Collection, object_id: str, **changes: Any) -> Document | None:
        """Write changes to an object and return it; None where it is gone."""
        return collection.change(object_id, **changes, updated_at=self.now())

    def attached(self, volume_id: str) -> list[Document]:
        """Return the attachments of a volume."""
        return list(self.attachments.find(volume_id=volume_id))


def _seen(collection: Collection, who: RequestContext, object_id: str, words: str) -> Document:
    found = collection.get(object_id)
    if found is None or not (who.is_admin or found["project_id"] == who.project_id):
        raise NotFoundError(f"{words} {object_id} could not be found.")
    return found
