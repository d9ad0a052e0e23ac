"""Backups in the object store: the pieces of an archive as objects of the user's own account."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.object_store.api.uploads import Uploads
from localcloud.object_store.model.data import DataFiles, Part
from localcloud.object_store.model.records import ACCOUNT_PREFIX, Records
from localcloud.web.http import BadRequestError

CONTAINER = "volumebackups"  # where backups go that name no container
_PIECE = 50 << 20
_BITE = 1 << 20
_CHANGED = "The objects of the backup are not those that were stored: they were changed since."
_ATTRIBUTES: Document = {
    "metadata": {}, "headers": {}, "content_type": "application/octet-stream", "delete_at": None
}  # fmt: skip


class Archives:
    """Puts archives into the object store, and gets them back."""

    def __init__(self, cloud: Cloud) -> None:
        self._records = cloud.one(Records)
        self._files = DataFiles(cloud.settings.cloud_dir / "objects", cloud.settings.object_bytes)
        self._uploads = Uploads(self._records, self._files)

    async def put(self, backup: Document, archive: Path) -> dict[str, Any]:
        """Store an archive; return the fields that the backup records. Raises ApiError over quota.

        The user owns the objects and may change them, so the backup records the checksum, too.
        """
        container_id = _container(backup)
        if container_id not in self._records.containers:
            now = self._records.now()
            self._records.put_container(
                {
                    "id": container_id,
                    "account": container_id.partition("/")[0],
                    "name": backup["container"],
                    "created": now,
                    "timestamp": now,
                    "access": {},
                    "metadata": {},
                }
            )
        size = (await asyncio.to_thread(archive.stat)).st_size
        count = max(1, -(-size // _PIECE))
        for number in range(count):
            start = number * _PIECE
            await self._store(_piece(backup, number), _read(archive, start, start + _PIECE))
        checksum = await asyncio.to_thread(_sha256, archive)
        facts = {
            "version": "1.0.0",
            "backup_id": backup["id"],
            "volume_id": backup["volume_id"],
            "backup_name": backup["name"],
            "created_at": backup["created_at"],
            "objects": count,
            "sha256": checksum,
        }
        await self._store(f"{_prefix(backup)}_metadata", _once(json.dumps(facts).encode()))
        return {"object_count": count, "sha256": checksum}

    async def get(self, backup: Document, archive: Path) -> None:
        """Put the pieces together; raises :class:`BadRequestError` if one is missing or was
        changed.
        """
        names = [_piece(backup, number) for number in range(backup["object_count"])]
        items = [self._records.object(name) for name in names]
        missing = [name for name, item in zip(names, items, strict=True) if item is None]
        if missing:
            raise BadRequestError(f"The object {missing[0]} of the backup is gone.")
        if any(item["size"] > _PIECE for item in filter(None, items)):
            raise BadRequestError(_CHANGED)
        with archive.open("wb") as file:
            for item in filter(None, items):
                async for bite in self._files.stream([Part(item["data"], 0, item["size"])]):
                    await asyncio.to_thread(file.write, bite)
        # Backups of earlier clouds have no checksum; what they hold is unpacked as any archive is.
        known = backup.get("sha256")
        if known is not None and await asyncio.to_thread(_sha256, archive) != known:
            raise BadRequestError(_CHANGED)

    async def remove(self, backup: Document) -> None:
        """Remove the objects of a backup; those that are gone are fine."""
        names = [_piece(backup, number) for number in range(backup["object_count"] or 0)]
        for name in (*names, f"{_prefix(backup)}_metadata"):
            if self._records.object(name) is not None:
                await self._files.remove([self._records.remove_object(name)])

    async def _store(self, object_id: str, data: AsyncIterator[bytes]) -> None:
        await self._uploads.store(object_id, data, dict(_ATTRIBUTES))


def _container(backup: Document) -> str:
    return f"{ACCOUNT_PREFIX}{backup['project_id']}/{backup['container']}"


def _prefix(backup: Document) -> str:
    moment = "".join(sign for sign in backup["created_at"] if sign.isdigit())
    zone = backup["availability_zone"]
    name = f"volume_{backup['volume_id']}/{moment}/az_{zone}_backup_{backup['id']}"
    return f"{_container(backup)}/{name}"


def _piece(backup: Document, number: int) -> str:
    return f"{_prefix(backup)}-{number + 1:05}"


async def _read(path: Path, start: int, end: int) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (bite := await asyncio.to_thread(file.read, min(_BITE, end - start))):
            start += len(bite)
            yield bite


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
