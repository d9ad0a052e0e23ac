"""The API of shares: lists, creation, changes, deletion, metadata, exports and instances."""

from typing import Any

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs, shares
from localcloud.shared_file_system.api import fields, views
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.api.metadata import metadata_endpoints
from localcloud.shared_file_system.model.state import missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError, NotFoundError
from localcloud.web.permissions import Access

DELETABLE = frozenset({"available", "error", "inactive"})
_SORTABLE = (
    "id", "status", "size", "host", "share_proto", "availability_zone", "user_id", "project_id",
    "created_at", "updated_at", "name", "share_type_id", "share_type", "share_network_id",
    "share_network", "snapshot_id", "display_name",
)  # fmt: skip
_FILTERS = (
    "name", "description", "status", "share_server_id", "share_type_id", "snapshot_id", "host",
    "share_network_id", "share_proto",
)  # fmt: skip


def _asked(call: Call) -> list[Document]:
    """Return the shares that a list is asked for."""
    if call.query("host") is not None and not call.context.is_admin:
        raise ForbiddenError("Policy doesn't allow share:list_by_host to be performed.")
    if call.query("extra_specs") is not None and not call.context.is_admin:
        raise ForbiddenError("Policy doesn't allow share_types_extra_spec:index to be performed.")
    project = call.context.project_id
    found = call.mine(call.state.shares.values())
    if call.optional_flag("is_public"):
        others = [s for s in call.state.shares.values() if s["project_id"] != project]
        known = {each["id"] for each in found}
        found += [s for s in others if s["is_public"] and s["id"] not in known]
    deleted = bool(call.optional_flag("is_soft_deleted")) and call.version.since(69)
    found = [share for share in found if share["is_soft_deleted"] is deleted]
    found = call.having(call.narrowed(found, *_FILTERS), "metadata")
    export = call.query("export_location_path") or call.query("export_location_id")
    if export is not None and call.version.since(35):
        found = [s for s in found if export in (*views.locations(call, s), s["export_id"])]
    return found


async def listed(call: Call) -> Document:
    """Return the shares of the project."""
    found = _asked(call)
    chosen, more = call.page(found, "/shares", _SORTABLE)
    shown = [views.brief(call, each, "shares") for each in chosen]
    return {"shares": shown, **_count(call, found), **more}


async def detailed(call: Call) -> Document:
    """Return the shares of the project with details."""
    found = _asked(call)
    chosen, more = call.page(found, "/shares", _SORTABLE)
    return {
        "shares": [views.share(call, each) for each in chosen],
        **_count(call, found),
        **more,
    }


def _count(call: Call, found: list[Document]) -> Document:
    return {"count": len(found)} if call.version.since(42) and call.flag("with_count") else {}


async def show(call: Call, share: Document) -> Document:
    """Return one share."""
    return {"share": views.share(call, share)}


async def create(call: Call) -> Document:
    """Make a share."""
    body = call.object("share")
    for name, why in (
        ("share_group_id", "Share group {} could not be found."),
        ("source_share_group_snapshot_member_id", "Share group snapshot {} could not be found."),
    ):
        if body.get(name):
            raise NotFoundError(why.format(body[name]))
    for name in ("mount_point_name", "encryption_key_ref"):
        if body.get(name):
            raise BadRequestError(
                f"Invalid input received: {name} is not supported by the share type."
            )
    is_public = fields.flag(body, "is_public", False)
    if is_public:
        _may_publish(call)
    size = body.get("size")
    made = shares.make(
        call.tools,
        call.context,
        shares.CreateSpec(
            protocol=fields.text(body, "share_proto", "") or "",
            size=None if size is None else fields.size(size),
            **fields.named(body),
            type_name=fields.text(body, "share_type", fields.text(body, "volume_type")),
            zone=fields.text(body, "availability_zone"),
            network_id=fields.text(body, "share_network_id") or None,
            snapshot_id=fields.text(body, "snapshot_id") or None,
            metadata=fields.metadata(body.get("metadata")),
            is_public=is_public,
        ),
    )
    return {"share": views.share(call, made)}


def _may_publish(call: Call) -> None:
    if not call.context.is_admin:
        raise ForbiddenError("User is not authorized to set 'is_public' to True in the request.")


async def change(call: Call, share: Document) -> Document:
    """Change name, description or who sees a share."""
    body = call.object("share")
    changes: dict[str, Any] = fields.named(body)
    if "is_public" in body:
        changes["is_public"] = fields.flag(body, "is_public", False)
        if changes["is_public"]:
            _may_publish(call)
    changed = call.state.change(call.state.shares, share["id"], **changes) if changes else None
    return {"share": views.share(call, changed or share)}


async def delete(call: Call, share: Document) -> None:
    """Delete a share that has no snapshots."""
    check_deletable(call, share)
    begin_to_delete(call, share)


def check_deletable(call: Call, share: Document) -> None:
    """Raise ForbiddenError where a share cannot be deleted now."""
    if share["status"] not in DELETABLE:
        raise ForbiddenError(
            "Invalid share: Share status must be one of ('available', 'error', 'inactive')."
        )
    snapshots = sum(1 for _ in call.state.snapshots.find(share_id=share["id"]))
    if snapshots:
        raise ForbiddenError(f"Invalid share: Share still has {snapshots} dependent snapshots.")
    locks = [
        lock["id"]
        for lock in call.state.locks.find(resource_id=share["id"])
        if lock["resource_action"] == "delete"
    ]
    if locks:
        raise ForbiddenError(f"Resource lock/s [{','.join(locks)}] prevent delete action.")


def begin_to_delete(call: Call, share: Document) -> None:
    """Start the deletion of a share in any state."""
    task = {"kind": "delete"}
    call.state.change(call.state.shares, share["id"], status="deleting", task=task)
    jobs.begin(call.tools, call.state.shares, share["id"])


async def exports(call: Call, share: Document) -> Document:
    """Return the export locations of a share."""
    return {"export_locations": views.exports(call, share)}


async def export(call: Call, share: Document) -> Document:
    """Return one export location."""
    return {"export_location": _export(call, share)}


def _export(call: Call, share: Document) -> Document:
    export_id = call.argument("export_id")
    for view in views.exports(call, share):
        if view["id"] == export_id:
            return {
                **view,
                "created_at": moment(share["created_at"]),
                "updated_at": moment(share["updated_at"]),
            }
    raise NotFoundError(f"Export location '{export_id}' not found.")


async def instances_of(call: Call, share: Document) -> Document:
    """Return the instances of a share."""
    return {"share_instances": [views.instance(call, share)]}


async def instances(call: Call) -> Document:
    """Return the instances of all shares."""
    found = call.narrowed(call.state.shares.values(), "host", "share_server_id")
    path = call.query("export_location_path")
    if path is not None:
        found = [share for share in found if path in views.locations(call, share)]
    return {"share_instances": [views.instance(call, share) for share in found[::-1]]}


def _of_instance(call: Call) -> Document:
    instance_id = call.argument("instance_id")
    for share in call.state.shares.values():
        if share["instance_id"] == instance_id:
            return share
    raise missing()


async def instance(call: Call) -> Document:
    """Return one instance."""
    return {"share_instance": views.instance(call, _of_instance(call))}


async def instance_exports(call: Call) -> Document:
    """Return the export locations of an instance."""
    return {"export_locations": views.exports(call, _of_instance(call))}


async def instance_export(call: Call) -> Document:
    """Return one export location of an instance."""
    return {"export_location": _export(call, _of_instance(call))}


_SHARE, _ONE = "/shares", "/shares/{share_id}"
_INSTANCE = "/share_instances/{instance_id}"
ENDPOINTS = (
    Endpoint("GET", _SHARE, listed),
    Endpoint("GET", f"{_SHARE}/detail", detailed),
    Endpoint("POST", _SHARE, create),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change),
    Endpoint("DELETE", _ONE, delete, status=202),
    *metadata_endpoints(_ONE, lambda state: state.shares),
    Endpoint("GET", f"{_ONE}/export_locations", exports, first=9),
    Endpoint("GET", f"{_ONE}/export_locations/{{export_id}}", export, first=9),
    Endpoint("GET", f"{_ONE}/instances", instances_of, Access.ADMIN, first=3),
    Endpoint("GET", "/share_instances", instances, Access.ADMIN, first=3),
    Endpoint("GET", _INSTANCE, instance, Access.ADMIN, first=3),
    Endpoint("GET", f"{_INSTANCE}/export_locations", instance_exports, Access.ADMIN, first=9),
    Endpoint("GET", f"{_INSTANCE}/export_locations/{{export_id}}", instance_export, Access.ADMIN,
             first=9),
)  # fmt: skip
