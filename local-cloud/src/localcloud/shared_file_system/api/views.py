"""Views of shares, snapshots, instances and exports in each microversion."""

from typing import Any

from localcloud.core.store import Document
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.exports import location_of
from localcloud.shared_file_system.model import share_types


def brief(call: Call, found: Document, kind: str) -> Document:
    """Return an object as lists without details show it."""
    links = call.links(f"/{kind}/{found['id']}")
    return {"id": found["id"], "name": found["name"], "links": links}


def _since(call: Call, shown: dict[int, Document]) -> Document:
    """Return the fields of the request's version, by the version that introduced them."""
    found: Document = {}
    for minor, more in shown.items():
        if call.version.since(minor):
            found |= more
    return found


def locations(call: Call, share: Document) -> list[str]:
    """Return from where a share is mounted."""
    if share["host"] is None:
        return []
    return [location_of(call.state.address_of(share), share["share_proto"], share)]


def share(call: Call, found: Document) -> Document:
    """Return a share with all that is shown of it."""
    kind = call.state.types.get(found["share_type_id"]) or {"name": None}
    view: Document = {
        **brief(call, found, "shares"),
        "size": found["size"],
        "availability_zone": found["availability_zone"],
        "created_at": moment(found["created_at"]),
        "status": found["status"],
        "description": found["description"],
        "project_id": found["project_id"],
        "snapshot_id": found["snapshot_id"],
        "share_network_id": found["share_network_id"],
        "share_proto": found["share_proto"],
        "metadata": found["metadata"],
        "share_type": found["share_type_id"] if call.version.since(6) else kind["name"],
        "volume_type": kind["name"],
        "is_public": found["is_public"],
    }
    if not call.version.since(9):
        paths = locations(call, found)
        view |= {"export_location": paths[0] if paths else None, "export_locations": paths}
    view |= _since(call, _later_of_share(call, found, kind["name"]))
    if call.context.is_admin:
        view |= {"share_server_id": found["share_server_id"], "host": found["host"]}
    return view


def _later_of_share(call: Call, found: Document, kind: str | None) -> dict[int, Document]:
    promised = found["capabilities"]
    return {
        2: {"snapshot_support": promised[share_types.SNAPSHOTS]},
        5: {"task_state": None},
        6: {"share_type_name": kind},
        10: {"access_rules_status": rules_status(call, found)},
        11: {"replication_type": None, "has_replicas": False},
        16: {"user_id": found["user_id"]},
        31: {"share_group_id": None, "source_share_group_snapshot_member_id": None},
        54: {"progress": found["progress"]},
        69: {
            "is_soft_deleted": found["is_soft_deleted"],
            "scheduled_to_be_deleted_at": moment(found["scheduled_to_be_deleted_at"]),
        },
        80: {"source_backup_id": None},
        90: {"encryption_key_ref": None},
    } | {minor: {name: promised[name]} for name, minor in share_types.CAPABILITIES.items()}


def rules_status(call: Call, found: Document) -> str:
    """Return how far the access rules of a share are."""
    states = {rule["state"] for rule in call.state.rules.find(owner_id=found["id"])}
    if "error" in states:
        return "error"
    return "active" if states <= {"active"} else "syncing"


def instance(call: Call, found: Document) -> Document:
    """Return the one instance of a share."""
    view: Document = {
        "id": found["instance_id"],
        "share_id": found["id"],
        "availability_zone": found["availability_zone"],
        "created_at": moment(found["created_at"]),
        "host": found["host"],
        "status": found["status"],
        "share_network_id": found["share_network_id"],
        "share_server_id": found["share_server_id"],
    }
    if not call.version.since(9):
        paths = locations(call, found)
        view |= {"export_location": paths[0] if paths else None, "export_locations": paths}
    return view | _since(
        call,
        {
            10: {"access_rules_status": rules_status(call, found)},
            11: {"replica_state": None},
            22: {"share_type_id": found["share_type_id"]},
            30: {"cast_rules_to_readonly": False},
            54: {"progress": found["progress"]},
            71: {"updated_at": moment(found["updated_at"])},
        },
    )


def exports(call: Call, found: Document) -> list[Document]:
    """Return the export locations of a share: one, as soon as it is made."""
    shown = []
    for path in locations(call, found):
        view: Document = {"id": found["export_id"], "path": path}
        if call.version.since(14):
            view["preferred"] = False
        if call.version.since(87):
            view["metadata"] = found["export_metadata"]
        if call.context.is_admin:
            view |= {"share_instance_id": found["instance_id"], "is_admin_only": False}
        shown.append(view)
    return shown


def snapshot(call: Call, found: Document) -> Document:
    """Return a snapshot with all that is shown of it."""
    view: Document = {
        **brief(call, found, "snapshots"),
        "share_id": found["share_id"],
        "share_size": found["size"],
        "created_at": moment(found["created_at"]),
        "status": found["status"],
        "description": found["description"],
        "size": found["size"],
        "share_proto": found["share_proto"],
    }
    later: dict[int, Any] = {
        17: {"user_id": found["user_id"], "project_id": found["project_id"]},
        73: {"metadata": found["metadata"]},
    }
    if call.context.is_admin:
        later[12] = {"provider_location": None}
    return view | _since(call, later)


def snapshot_instance(found: Document, share: Document | None, *, detailed: bool) -> Document:
    """Return the one instance of a snapshot."""
    view = {"id": found["instance_id"], "snapshot_id": found["id"], "status": found["status"]}
    if not detailed:
        return view
    return {
        **view,
        "created_at": moment(found["created_at"]),
        "updated_at": moment(found["updated_at"]),
        "share_id": found["share_id"],
        "share_instance_id": None if share is None else share["instance_id"],
        "progress": found["progress"],
        "provider_location": None,
    }


def rule(call: Call, found: Document, *, with_share: bool = True) -> Document:
    """Return an access rule of a share."""
    state = found["state"]
    if not call.version.since(28):
        # as it was when rules had fewer states
        state = {"active": "active", "error": "error"}.get(state, "new")
    view: Document = {
        "id": found["id"],
        "access_level": found["access_level"],
        "access_to": found["access_to"],
        "access_type": found["access_type"],
        "state": state,
    }
    if with_share:
        view["share_id"] = found["owner_id"]
    return view | _since(
        call,
        {
            21: {"access_key": found["access_key"]},
            33: {
                "created_at": moment(found["created_at"]),
                "updated_at": moment(found["updated_at"]),
            },
            45: {"metadata": found["metadata"]},
        },
    )
