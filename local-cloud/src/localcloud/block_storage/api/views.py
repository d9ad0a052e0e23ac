"""Views of volumes, snapshots, backups and attachments in each microversion."""

from typing import Any

from localcloud.block_storage.api.call import Call
from localcloud.core.store import Document


def moment(text: str | None) -> str | None:
    """Return a time of documents as this API shows it."""
    return None if text is None else text.rstrip("Z") + ".000000"


def brief(call: Call, found: Document, kind: str) -> Document:
    """Return an object as lists without details show it."""
    links = call.links(f"/{kind}/{found['id']}")
    return {"id": found["id"], "name": found["name"], "links": links}


def volume(call: Call, found: Document) -> Document:
    """Return a volume with all that is shown of it."""
    kind = call.state.types.get(found["volume_type_id"] or "")
    held = [each for each in call.state.attached(found["id"]) if each["status"] == "attached"]
    extra = {"readonly": "True"} if found["readonly"] else {}
    modes = {"attached_mode": held[0]["mode"]} if held else {}
    view: Document = {
        **brief(call, found, "volumes"),
        "description": found["description"],
        "status": found["status"],
        "size": found["size"],
        "volume_type": None if kind is None else kind["name"],
        "snapshot_id": found["snapshot_id"],
        "source_volid": found["source_volid"],
        "bootable": str(found["bootable"]).lower(),
        "encrypted": found["encrypted"],
        "multiattach": found["multiattach"],
        "availability_zone": found["availability_zone"],
        "created_at": moment(found["created_at"]),
        "updated_at": moment(found["updated_at"]),
        "metadata": {**found["metadata"], **extra, **modes},
        "user_id": found["user_id"],
        "replication_status": None,
        "consistencygroup_id": None,
        "attachments": [_held(each) for each in held],
        "os-vol-tenant-attr:tenant_id": found["project_id"],
    }
    if found["image_metadata"]:
        view["volume_image_metadata"] = found["image_metadata"]
    if call.context.is_admin:
        view |= {
            "migration_status": found["migration_status"],
            "os-vol-host-attr:host": found["host"],
            "os-vol-mig-status-attr:migstat": found["migration_status"],
            "os-vol-mig-status-attr:name_id": None,
        }
    return view | _later_of_volume(call, found)


def _held(attachment: Document) -> Document:
    return {
        "id": attachment["volume_id"],
        "attachment_id": attachment["id"],
        "volume_id": attachment["volume_id"],
        "server_id": attachment["server_id"],
        "host_name": "localhost",
        "device": attachment["device"],
        "attached_at": moment(attachment["attached_at"]),
    }


def _later_of_volume(call: Call, found: Document) -> Document:
    since = call.version.since
    view: Document = {}
    if since(13):
        view["group_id"] = None
    if since(21) and call.context.is_admin:
        view["provider_id"] = None
    if since(48):
        view["service_uuid"] = None
        view["shared_targets"] = False
    if since(61) and call.context.is_admin:
        view["cluster_name"] = None
    if since(63):
        view["volume_type_id"] = found["volume_type_id"]
    if since(65):
        view["consumes_quota"] = True
    return view


def snapshot(call: Call, found: Document) -> Document:
    """Return a snapshot as plain lists show it."""
    view: Document = {
        "id": found["id"],
        "name": found["name"],
        "description": found["description"],
        "volume_id": found["volume_id"],
        "status": found["status"],
        "size": found["size"],
        "created_at": moment(found["created_at"]),
        "updated_at": moment(found["updated_at"]),
        "metadata": found["metadata"],
    }
    if call.version.since(14):
        view["group_snapshot_id"] = None
    if call.version.since(41):
        view["user_id"] = found["user_id"]
    if call.version.since(65):
        view["consumes_quota"] = True
    return view


def whole_snapshot(call: Call, found: Document) -> Document:
    """Return a snapshot with all that is shown of it."""
    done = "100%" if found["status"] == "available" else "0%"
    return {
        **snapshot(call, found),
        "os-extended-snapshot-attributes:progress": done,
        "os-extended-snapshot-attributes:project_id": found["project_id"],
    }


def backup(call: Call, found: Document) -> Document:
    """Return a backup with all that is shown of it."""
    view: Document = {
        **brief(call, found, "backups"),
        "status": found["status"],
        "size": found["size"],
        "object_count": found["object_count"],
        "availability_zone": found["availability_zone"],
        "container": found["container"],
        "created_at": moment(found["created_at"]),
        "updated_at": moment(found["updated_at"]),
        "description": found["description"],
        "fail_reason": found["fail_reason"],
        "volume_id": found["volume_id"],
        "is_incremental": False,
        "has_dependent_backups": False,
        "snapshot_id": found["snapshot_id"],
        "data_timestamp": moment(found["created_at"]),
    }
    if call.context.is_admin and call.version.since(18):
        view["os-backup-project-attr:project_id"] = found["project_id"]
    if call.version.since(43):
        view["metadata"] = found["metadata"]
    if call.version.since(56):
        view["user_id"] = found["user_id"]
    if call.version.since(64):
        view["encryption_key_id"] = None
    return view


def attachment(found: Document) -> Document:
    """Return an attachment with all that is shown of it."""
    return {
        **brief_attachment(found),
        "attached_at": moment(found["attached_at"]) or "",
        "detached_at": "",
        "attach_mode": found["mode"],
        "connection_info": _connection(found),
    }


def brief_attachment(found: Document) -> Document:
    """Return an attachment as plain lists show it."""
    return {
        "id": found["id"],
        "status": found["status"],
        "instance": found["server_id"],
        "volume_id": found["volume_id"],
    }


def _connection(found: Document) -> dict[str, Any]:
    """Connection data for a driver. The volume is in the same process, so that none is needed."""
    if found["connector"] is None:
        return {}
    return {
        "driver_volume_type": "local",
        "volume_id": found["volume_id"],
        "attachment_id": found["id"],
        "access_mode": found["mode"],
        "encrypted": False,
    }
