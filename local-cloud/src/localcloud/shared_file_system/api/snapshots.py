"""The API of snapshots, their instances, and who may mount them."""

from starlette.responses import Response

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.api import access, fields, views
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.api.metadata import metadata_endpoints
from localcloud.shared_file_system.exports import location_of
from localcloud.shared_file_system.model.state import found, missing
from localcloud.shared_file_system.shares import make_snapshot
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ForbiddenError
from localcloud.web.permissions import Access

_STATES = (
    "available", "creating", "deleting", "error", "error_deleting", "manage_error",
    "manage_starting", "migrating", "migrating_to", "restoring", "unmanage_error",
    "unmanage_starting",
)  # fmt: skip
_SORTABLE = ("id", "status", "size", "share_id", "user_id", "project_id", "created_at", "name")


def _asked(call: Call) -> list[Document]:
    names = ("name", "description", "status", "share_id", "size")
    known = call.narrowed(call.mine(call.state.snapshots.values()), *names)
    return call.having(known, "metadata") if call.version.since(73) else known


async def listed(call: Call) -> Document:
    """Return the snapshots of the project."""
    chosen, more = call.page(_asked(call), "/snapshots", _SORTABLE)
    return {"snapshots": [views.brief(call, each, "snapshots") for each in chosen], **more}


async def detailed(call: Call) -> Document:
    """Return the snapshots of the project with details."""
    chosen, more = call.page(_asked(call), "/snapshots", _SORTABLE)
    return {"snapshots": [views.snapshot(call, each) for each in chosen], **more}


async def show(call: Call, snapshot: Document) -> Document:
    """Return one snapshot."""
    return {"snapshot": views.snapshot(call, snapshot)}


async def create(call: Call) -> Document:
    """Make a snapshot of a share."""
    body = call.object("snapshot")
    share_id = fields.text(body, "share_id") or ""
    error = missing("NotFound: Resource could not be found.")
    share = found(call.state.shares, call.context, share_id, error)
    if share["is_soft_deleted"]:
        raise ForbiddenError(
            f"Snapshots cannot be created for share '{share_id}' since it has been soft deleted."
        )
    if not share["capabilities"]["snapshot_support"]:
        raise fields.UnprocessableError(
            f"Snapshots cannot be created for share '{share_id}' since it does not have that "
            "capability."
        )
    if share["status"] != "available":
        raise BadRequestError("Invalid share: Source share status must be available.")
    named = {"name": None, "description": None, **fields.named(body)}
    metadata = fields.metadata(body.get("metadata")) if call.version.since(73) else {}
    made = make_snapshot(call.tools, call.context, share, **named, metadata=metadata)
    return {"snapshot": views.snapshot(call, made)}


async def change(call: Call, snapshot: Document) -> Document:
    """Change name or description of a snapshot."""
    changes = fields.named(call.object("snapshot"))
    changed = call.state.change(call.state.snapshots, snapshot["id"], **changes)
    return {"snapshot": views.snapshot(call, changed or snapshot)}


async def delete(call: Call, snapshot: Document) -> None:
    """Delete a snapshot."""
    if snapshot["status"] not in ("available", "error"):
        raise BadRequestError(
            "Invalid share snapshot: Share Snapshot status must be one of ('available', 'error')."
        )
    _begin_to_delete(call, snapshot)


def _begin_to_delete(call: Call, snapshot: Document) -> None:
    task = {"kind": "delete"}
    call.state.change(call.state.snapshots, snapshot["id"], status="deleting", task=task)
    jobs.begin(call.tools, call.state.snapshots, snapshot["id"])


def _reset_status(call: Call, snapshot: Document, given: Document) -> None:
    call.require_admin()
    if "status" not in given:
        raise BadRequestError("Must specify 'status'")
    if given["status"] not in _STATES:
        raise BadRequestError(f"Invalid state. Valid states: {', '.join(_STATES)}.")
    call.state.change(call.state.snapshots, snapshot["id"], status=given["status"])
    call.tools.exports.refresh(snapshot["id"])


def _force_delete(call: Call, snapshot: Document, given: Document) -> None:
    call.require_admin()
    _begin_to_delete(call, snapshot)


def _allow(call: Call, snapshot: Document, given: Document) -> Document:
    _require_mountable(snapshot)
    rule = access.new_rule(call, snapshot, given, "ro")
    call.state.rules.put(rule)
    jobs.apply_rules(call.tools, call.state.snapshots, snapshot["id"])
    return {"snapshot_access": _rule_view(rule)}


def _deny(call: Call, snapshot: Document, given: Document) -> None:
    _require_mountable(snapshot)
    rule = access.known(call, snapshot, given)
    call.state.change(call.state.rules, rule["id"], state="queued_to_deny")
    jobs.apply_rules(call.tools, call.state.snapshots, snapshot["id"])


def _require_mountable(snapshot: Document) -> None:
    if not snapshot["capabilities"]["mount_snapshot_support"]:
        raise BadRequestError(
            f"Cannot control access to the snapshot {snapshot['id']} since the parent share "
            f"{snapshot['share_id']} does not support mounting its snapshots."
        )


def _rule_view(rule: Document) -> Document:
    return {name: rule[name] for name in ("id", "access_type", "access_to", "state")}


_ACTIONS = {
    "allow_access": (_allow, 32),
    "deny_access": (_deny, 32),
    "reset_status": (_reset_status, 7),
    "force_delete": (_force_delete, 7),
    "os-reset_status": (_reset_status, 0),
    "os-force_delete": (_force_delete, 0),
}


async def act(call: Call, snapshot: Document) -> Answer:
    """Perform the action on a snapshot that the body names."""
    name, given = call.action()
    if name not in _ACTIONS:
        raise BadRequestError(f"There is no such action: {name}")
    handler, first = _ACTIONS[name]
    if not call.version.since(first) or (name.startswith("os-") and call.version.since(7)):
        raise missing()
    return handler(call, snapshot, given) or Response(status_code=202)


async def rules(call: Call, snapshot: Document) -> Document:
    """Return the access rules of a snapshot."""
    _require_mountable(snapshot)
    known = call.state.rules.find(owner_id=snapshot["id"])
    return {"snapshot_access_list": [_rule_view(rule) for rule in known]}


def _exports(call: Call, snapshot: Document, *, instance: bool = False) -> list[Document]:
    share = call.state.shares.get(snapshot["share_id"])
    mountable = snapshot["capabilities"]["mount_snapshot_support"]
    if share is None or not mountable or snapshot["status"] == "creating":
        return []
    path = location_of(call.state.address_of(share), snapshot["share_proto"], snapshot)
    view = {"id": snapshot["export_id"], "path": path, "links": _export_links(call, snapshot)}
    if call.context.is_admin:
        view |= {"share_snapshot_instance_id": snapshot["instance_id"], "is_admin_only": False}
    if instance:
        view |= {
            "created_at": moment(snapshot["created_at"]),
            "updated_at": moment(snapshot["updated_at"]),
        }
    return [view]


def _export_links(call: Call, snapshot: Document) -> list[dict[str, str]]:
    return call.links(f"/share_snapshot_export_locations/{snapshot['export_id']}")


async def exports(call: Call, snapshot: Document) -> Document:
    """Return the export locations of a snapshot."""
    return {"share_snapshot_export_locations": _exports(call, snapshot)}


async def export(call: Call, snapshot: Document) -> Document:
    """Return one export location of a snapshot."""
    for view in _exports(call, snapshot, instance=True):
        if view["id"] == call.argument("export_id"):
            return {"share_snapshot_export_location": view}
    raise missing(f"Export location '{call.argument('export_id')}' not found.")


async def instances(call: Call) -> Document:
    """Return the instances of snapshots."""
    detailed = call.request.url.path.endswith("/detail")
    known = list(call.state.snapshots.values())
    if call.query("snapshot_id") is not None:
        known = [each for each in known if each["id"] == call.query("snapshot_id")]
    shown = [_instance(call, each, detailed=detailed) for each in known[::-1]]
    return {"snapshot_instances": shown}


def _instance(call: Call, snapshot: Document, *, detailed: bool) -> Document:
    share = call.state.shares.get(snapshot["share_id"])
    return views.snapshot_instance(snapshot, share, detailed=detailed)


def _of_instance(call: Call) -> Document:
    for snapshot in call.state.snapshots.values():
        if snapshot["instance_id"] == call.argument("instance_id"):
            return snapshot
    raise missing()


async def instance(call: Call) -> Document:
    """Return one instance of a snapshot."""
    return {"snapshot_instance": _instance(call, _of_instance(call), detailed=True)}


async def instance_exports(call: Call) -> Document:
    """Return the export locations of an instance of a snapshot."""
    return {"share_snapshot_export_locations": _exports(call, _of_instance(call), instance=True)}


_SNAPSHOTS, _ONE = "/snapshots", "/snapshots/{snapshot_id}"
_INSTANCES = "/snapshot-instances"
ENDPOINTS = (
    Endpoint("GET", _SNAPSHOTS, listed),
    Endpoint("GET", f"{_SNAPSHOTS}/detail", detailed),
    Endpoint("POST", _SNAPSHOTS, create, status=202),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change),
    Endpoint("DELETE", _ONE, delete, status=202),
    Endpoint("POST", f"{_ONE}/action", act),
    *metadata_endpoints(_ONE, lambda state: state.snapshots, first=73),
    Endpoint("GET", f"{_ONE}/access-list", rules, first=32),
    Endpoint("GET", f"{_ONE}/export-locations", exports, first=32),
    Endpoint("GET", f"{_ONE}/export-locations/{{export_id}}", export, first=32),
    Endpoint("GET", _INSTANCES, instances, Access.ADMIN, first=19),
    Endpoint("GET", f"{_INSTANCES}/detail", instances, Access.ADMIN, first=19),
    Endpoint("GET", f"{_INSTANCES}/{{instance_id}}", instance, Access.ADMIN, first=19),
    Endpoint("GET", f"{_INSTANCES}/{{instance_id}}/export-locations", instance_exports,
             Access.ADMIN, first=32),
)  # fmt: skip
