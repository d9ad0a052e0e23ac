"""The API of volumes and their metadata."""

from typing import Any

from localcloud.block_storage import jobs, volumes
from localcloud.block_storage.api import fields, views
from localcloud.block_storage.api.call import Call
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, NotFoundError

_NEW = (
    "name", "display_name", "description", "display_description", "size", "snapshot_id",
    "source_volid", "imageRef", "image_id", "volume_type", "availability_zone", "metadata",
    "multiattach", "consistencygroup_id", "source_replica", "group_id", "backup_id", "cluster",
    "user_id", "project_id", "status", "attach_status", "OS-SCH-HNT:scheduler_hints",
)  # fmt: skip
_DELETABLE = frozenset(
    {"available", "error", "error_restoring", "error_extending", "error_managing"}
)


async def listed(call: Call) -> Document:
    """Return the volumes of the project."""
    found, more = call.paged(call.mine(_asked(call)), "/volumes", "volumes")
    return {"volumes": [views.brief(call, each, "volumes") for each in found], **more}


async def detailed(call: Call) -> Document:
    """Return the volumes of the project with details."""
    found, more = call.paged(call.mine(_asked(call)), "/volumes/detail", "volumes")
    return {"volumes": [views.volume(call, each) for each in found], **more}


def _asked(call: Call) -> list[Document]:
    found = list(call.state.volumes.values())
    bootable, metadata = call.query("bootable"), call.query("metadata")
    if bootable is not None:
        found = [each for each in found if str(each["bootable"]).lower() == bootable.lower()]
    if metadata is not None:
        pairs = _pairs(metadata)
        found = [each for each in found if pairs.items() <= each["metadata"].items()]
    return found


def _pairs(text: str) -> dict[str, str]:
    """Return a mapping that clients write as a Python dictionary: ``{'key': 'value'}``."""
    inner = text.strip().removeprefix("{").removesuffix("}")
    pairs = (pair.partition(":") for pair in inner.split(",") if ":" in pair)
    return {_plain(key): _plain(value) for key, _, value in pairs}


def _plain(text: str) -> str:
    return text.strip().removeprefix("u").strip("'\"")


async def summary(call: Call) -> Document:
    """Return the number of the project's volumes."""
    found = call.mine(call.state.volumes.values())
    totals: Document = {
        "total_size": sum(each["size"] for each in found),
        "total_count": len(found),
    }
    if call.version.since(36):
        merged: dict[str, list[str]] = {}
        for each in found:
            for key, value in each["metadata"].items():
                if value not in merged.setdefault(key, []):
                    merged[key].append(value)
        totals["metadata"] = merged
    return {"volume-summary": totals}


async def show(call: Call, volume: Document) -> Document:
    """Return one volume."""
    return {"volume": views.volume(call, volume)}


async def create(call: Call) -> Document:
    """Make a volume."""
    body = call.object("volume", _NEW)
    if body.get("backup_id") and not call.version.since(47):
        raise fields.refused("volume", body, "'backup_id' needs version 3.47")
    if body.get("group_id") or body.get("consistencygroup_id") or body.get("source_replica"):
        raise BadRequestError("Invalid input received: this cloud has no groups of volumes.")
    image = body.get("imageRef") or body.get("image_id")
    size = body.get("size")
    made = volumes.make(
        call.tools,
        call.context,
        volumes.CreateSpec(
            size=None if size is None else fields.number(size, "size", 1),
            name=fields.text(body, "name", fields.text(body, "display_name")),
            description=fields.text(body, "description", fields.text(body, "display_description")),
            type_name=fields.text(body, "volume_type"),
            zone=fields.text(body, "availability_zone"),
            metadata=fields.texts(body.get("metadata"), "metadata"),
            multiattach=fields.boolean(body, "multiattach", False),
            snapshot_id=_id(body, "snapshot_id"),
            source_volid=_id(body, "source_volid"),
            image_id=str(image) if image else None,
            backup_id=_id(body, "backup_id"),
        ),
    )
    return {"volume": views.volume(call, made)}


def _id(body: dict[str, Any], key: str) -> str | None:
    return fields.uuid(body[key], key) if body.get(key) else None


async def change(call: Call, volume: Document) -> Document:
    """Change name, description or metadata of a volume."""
    known = ("name", "description", "display_name", "display_description", "metadata")
    body = call.object("volume", known)
    changes: dict[str, Any] = {}
    for key in ("name", "description"):
        for given in (f"display_{key}", key):
            if given in body:
                changes[key] = fields.text(body, given)
    if "metadata" in body:
        changes["metadata"] = fields.texts(body["metadata"], "metadata")
    if not body:
        raise fields.refused("volume", body, "{} is not valid under any of the given schemas")
    changed = call.state.change(call.state.volumes, volume["id"], **changes)
    return {"volume": views.volume(call, changed or volume)}


async def delete(call: Call, volume: Document) -> None:
    """Delete a volume, with its snapshots where the query says ``cascade``."""
    state = call.state
    force = call.context.is_admin and call.version.since(23) and call.flag("force")
    snapshots = list(state.snapshots.find(volume_id=volume["id"]))
    if (snapshots and not call.flag("cascade")) or not (force or _is_deletable(call, volume)):
        raise BadRequestError(
            "Invalid volume: Volume status must be available or error or error_restoring or "
            "error_extending or error_managing and must not be migrating, attached, belong to a "
            "group, have snapshots, awaiting a transfer, or be disassociated from snapshots after "
            "volume transfer."
        )
    busy = [each for each in snapshots if each["status"] not in {"available", "error"}]
    if busy:
        raise BadRequestError(
            f"Invalid volume: Failed to update snapshot {busy[0]['id']}: it is {busy[0]['status']}."
        )
    for each in snapshots:
        remove(call, state.snapshots, each["id"])
    remove(call, state.volumes, volume["id"])


def _is_deletable(call: Call, volume: Document) -> bool:
    return volume["status"] in _DELETABLE and not call.state.attached(volume["id"])


def remove(call: Call, collection: Any, object_id: str) -> None:
    """Start the removal of a volume, snapshot or backup."""
    call.state.change(collection, object_id, status="deleting", task={"kind": "delete"})
    jobs.begin(call.tools, collection, object_id)


async def encryption(call: Call, volume: Document) -> Document:
    """Return the encryption of a volume."""
    kind = call.state.types.get(volume["volume_type_id"] or "")
    settings = (kind or {}).get("encryption") if volume["encrypted"] else None
    names = ("provider", "cipher", "key_size", "control_location")
    return {**{name: (settings or {}).get(name) for name in names}, "encryption_key_id": None}


async def metadata(call: Call, found: Document) -> Document:
    """Return the metadata of a volume or snapshot."""
    return {"metadata": found["metadata"]}


async def metadatum(call: Call, found: Document) -> Document:
    """Return one entry of the metadata of a volume or snapshot."""
    key = call.argument("key")
    _known(found, key)
    return {"meta": {key: found["metadata"][key]}}


async def add_metadata(call: Call, found: Document) -> Document:
    """Add to the metadata of a volume or snapshot."""
    given = fields.texts(call.body().get("metadata"), "metadata")
    return _saved(call, found, {**found["metadata"], **given})


async def set_metadata(call: Call, found: Document) -> Document:
    """Replace the metadata of a volume or snapshot."""
    return _saved(call, found, fields.texts(call.body().get("metadata"), "metadata"))


async def set_metadatum(call: Call, found: Document) -> Document:
    """Set one entry of the metadata of a volume or snapshot."""
    given = fields.texts(call.body().get("meta"), "meta")
    key = call.argument("key")
    if list(given) != [key]:
        raise BadRequestError("Request body and URI mismatch")
    _saved(call, found, {**found["metadata"], **given})
    return {"meta": given}


async def delete_metadatum(call: Call, found: Document) -> None:
    """Remove one entry of the metadata of a volume or snapshot."""
    key = call.argument("key")
    _known(found, key)
    _saved(call, found, {k: v for k, v in found["metadata"].items() if k != key})


def _known(found: Document, key: str) -> None:
    if key not in found["metadata"]:
        kind = "Snapshot" if "volume_id" in found else "Volume"
        raise NotFoundError(f"{kind} {found['id']} has no metadata with key {key}.")


def _saved(call: Call, found: Document, changed: dict[str, str]) -> Document:
    state = call.state
    collection = state.snapshots if "volume_id" in found else state.volumes
    state.change(collection, found["id"], metadata=changed)
    return {"metadata": changed}


_VOLUME, _METADATA = "/volumes/{volume_id}", "/volumes/{volume_id}/metadata"
ENDPOINTS = (
    Endpoint("GET", "/volumes", listed),
    Endpoint("GET", "/volumes/detail", detailed),
    Endpoint("GET", "/volumes/summary", summary, first=12),
    Endpoint("POST", "/volumes", create, status=202),
    Endpoint("GET", _VOLUME, show),
    Endpoint("PUT", _VOLUME, change),
    Endpoint("DELETE", _VOLUME, delete, status=202),
    Endpoint("GET", f"{_VOLUME}/encryption", encryption),
    *(
        endpoint
        for path in (_METADATA, "/snapshots/{snapshot_id}/metadata")
        for endpoint in (
            Endpoint("GET", path, metadata),
            Endpoint("POST", path, add_metadata),
            Endpoint("PUT", path, set_metadata),
            Endpoint("GET", f"{path}/{{key}}", metadatum),
            Endpoint("PUT", f"{path}/{{key}}", set_metadatum),
            Endpoint("DELETE", f"{path}/{{key}}", delete_metadatum, status=200),
        )
    ),
)
