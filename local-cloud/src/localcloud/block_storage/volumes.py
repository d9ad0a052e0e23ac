"""Creation of volumes: checks of the objects that a request names, quotas, and the new document."""

from typing import Any
from uuid import uuid4

from msgspec import Struct, field

from localcloud.block_storage import jobs
from localcloud.block_storage.context import ServiceContext
from localcloud.block_storage.model import quotas, volume_types
from localcloud.block_storage.model.state import HOST, ZONE
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.rootfs_cache import RootfsCache
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext

_USABLE = frozenset({"available", "in-use"})
_GIB = 1 << 30


class CreateSpec(Struct, frozen=True):
    """The requested properties of a new volume. At most one source is named."""

    size: int | None = None
    name: str | None = None
    description: str | None = None
    type_name: str | None = None
    zone: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    multiattach: bool = False
    snapshot_id: str | None = None
    source_volid: str | None = None
    image_id: str | None = None
    backup_id: str | None = None
    volume_id: str | None = None  # the id of the volume, where it follows from what it is for


def make(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> Document:
    """Write a new volume; it is made afterwards. Raises ApiError."""
    state, project = tools.state, who.require_project()
    if wish.zone not in (None, "", ZONE):
        raise BadRequestError(f"Availability zone '{wish.zone}' is invalid.")
    taken = _taken(tools, who, wish)
    kind = volume_types.chosen(state, who, wish.type_name or taken.pop("type_id", None))
    taken.pop("type_id", None)
    smallest = taken.pop("size", None)
    size = wish.size if wish.size is not None else smallest
    if size is None:
        raise BadRequestError(
            "The server could not comply with the request since it is either malformed or "
            "otherwise incorrect."
        )
    quotas.check(state, project, kind, volumes=1, gigabytes=size)
    volume = {
        "id": wish.volume_id or str(uuid4()),
        "project_id": project,
        "user_id": who.user_id,
        "name": wish.name,
        "description": wish.description,
        "size": size,
        "status": "creating",
        "volume_type_id": None if kind is None else kind["id"],
        "encrypted": kind is not None and bool(kind["encryption"]),
        "snapshot_id": wish.snapshot_id,
        "source_volid": wish.source_volid,
        "bootable": False,
        "base": None,
        "readonly": False,
        "multiattach": wish.multiattach or volume_types.is_shared(kind),
        "metadata": wish.metadata,
        "image_metadata": {},
        "availability_zone": ZONE,
        "host": HOST,
        "migration_status": None,
        "fail_reason": None,
        "created_at": state.now(),
        "updated_at": None,
        **taken,
        "task": {
            "kind": "create",
            "snapshot_id": wish.snapshot_id,
            "source_volid": wish.source_volid,
            "image_id": wish.image_id,
            "backup_id": wish.backup_id,
        },
    }
    state.volumes.put(volume)
    jobs.begin(tools, state.volumes, volume["id"])
    return volume


def _taken(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> dict[str, Any]:
    """Return the fields that a volume takes from its source; raises ApiError."""
    if wish.snapshot_id is not None:
        return _from_snapshot(tools, who, wish)
    if wish.source_volid is not None:
        return _from_volume(tools, who, wish)
    if wish.image_id is not None:
        return _from_image(tools, who, wish)
    if wish.backup_id is not None:
        return _from_backup(tools, who, wish)
    return {}


_INHERITED = ("size", "base", "bootable", "image_metadata")


def _from_snapshot(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> dict[str, Any]:
    snapshot = tools.state.snapshot(who, str(wish.snapshot_id))
    if snapshot["status"] != "available":
        raise BadRequestError(
            "Invalid snapshot: Originating snapshot status must be one of 'available' values"
        )
    if wish.size is not None and wish.size < snapshot["size"]:
        raise BadRequestError(
            f"Invalid input received: Volume size '{wish.size}'GB cannot be smaller than the "
            f"snapshot size {snapshot['size']}GB. They must be >= original snapshot size."
        )
    inherited = {name: snapshot[name] for name in _INHERITED}
    return {**inherited, "type_id": snapshot["volume_type_id"]}


def _from_volume(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> dict[str, Any]:
    source = tools.state.volume(who, str(wish.source_volid))
    if source["status"] not in _USABLE:
        raise BadRequestError(
            "Invalid volume: Source volume status must be one of 'available' or 'in-use' values"
        )
    if wish.size is not None and wish.size < source["size"]:
        raise BadRequestError(
            f"Invalid input received: Volume size '{wish.size}'GB cannot be smaller than original "
            f"volume size  {source['size']}GB. They must be >= original volume size."
        )
    inherited = {name: source[name] for name in _INHERITED}
    return {**inherited, "type_id": source["volume_type_id"]}


def _from_image(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> dict[str, Any]:
    try:
        image = tools.state.cloud.one(Images).visible(who, str(wish.image_id))
    except NotFoundError:
        raise BadRequestError(
            "Invalid image identifier or unable to access requested image."
        ) from None
    tools.state.cloud.one(RootfsCache).check_base(who, image)
    if image["status"] != "active":
        raise BadRequestError(f"Invalid input received: Image {wish.image_id} is not active.")
    needed = -(-max(image["size"] or 0, image["virtual_size"] or 0) // _GIB)
    if wish.size is not None and wish.size < needed:
        raise BadRequestError(
            f"Invalid input received: Size of specified image {needed}GB is larger than volume "
            f"size {wish.size}GB."
        )
    if wish.size is not None and wish.size < image["min_disk"]:
        raise BadRequestError(
            f"Invalid input received: Volume size {wish.size}GB cannot be smaller than the image "
            f"minDisk size {image['min_disk']}GB."
        )
    facts = ("container_format", "disk_format", "checksum", "min_disk", "min_ram", "size")
    image_facts = {name: str(image[name]) for name in facts if image[name] is not None}
    metadata = {
        "image_id": image["id"],
        "image_name": image["name"],
        **image_facts,
        **image["properties"],
    }
    return {"bootable": True, "image_metadata": metadata}


def _from_backup(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> dict[str, Any]:
    backup = tools.state.backup(who, str(wish.backup_id))
    if backup["status"] != "available":
        raise BadRequestError("Invalid backup: Backup status must be available")
    if wish.size is not None and wish.size < backup["size"]:
        raise BadRequestError(
            f"Invalid input received: Volume size '{wish.size}'GB cannot be smaller than the "
            f"backup size {backup['size']}GB. It must be >= backup size."
        )
    return {name: backup[name] for name in ("size", "base", "bootable")}
