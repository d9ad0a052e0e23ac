"""Creation of shares: checks of the objects that a request names, quotas, and the new document."""

from typing import Any

from msgspec import Struct, field

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.context import ServiceContext
from localcloud.shared_file_system.model import quotas, share_types
from localcloud.shared_file_system.model.access import PROTOCOLS
from localcloud.shared_file_system.model.state import ZONE, found, missing
from localcloud.web.http import BadRequestError, NotFoundError, RequestContext


class CreateSpec(Struct, frozen=True):
    """The requested properties of a new share."""

    protocol: str
    size: int | None
    name: str | None = None
    description: str | None = None
    type_name: str | None = None
    zone: str | None = None
    network_id: str | None = None
    snapshot_id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    is_public: bool = False


def make(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> Document:
    """Write a new share; it is made afterwards. Raises ApiError."""
    state, project = tools.state, who.require_project()
    protocol = wish.protocol.upper()
    if protocol not in PROTOCOLS:
        raise BadRequestError(
            f"Invalid input received: Invalid share protocol provided: {wish.protocol}. It is "
            f"either disabled or unsupported. Available protocols: {list(PROTOCOLS)}."
        )
    if wish.zone not in (None, "", ZONE):
        raise NotFoundError(f"Availability zone {wish.zone} could not be found.")
    snapshot = _snapshot(tools, who, wish)
    kind = share_types.find(state, who, wish.type_name or _type_of(snapshot))
    network_id = wish.network_id or (snapshot or {}).get("share_network_id")
    if network_id is not None:
        found(state.networks, who, network_id, _no_network(network_id))
    elif share_types.truth(kind["extra_specs"], share_types.SERVERS):
        raise BadRequestError(
            "Share network must be set when the driver_handles_share_servers is true."
        )
    size = wish.size if wish.size is not None else int((snapshot or {})["size"])
    quotas.check_size(state, project, kind, size)
    quotas.check(state, project, kind, shares=1, gigabytes=size)
    promised = (share_types.SNAPSHOTS, *share_types.CAPABILITIES)
    share = state.record(
        who,
        name=wish.name,
        description=wish.description,
        size=size,
        share_proto=protocol,
        status="creating",
        progress=None,
        share_type_id=kind["id"],
        capabilities={name: share_types.truth(kind["extra_specs"], name) for name in promised},
        is_public=wish.is_public,
        metadata=wish.metadata,
        snapshot_id=wish.snapshot_id,
        share_network_id=network_id,
        share_server_id=None,
        availability_zone=None,
        host=None,
        instance_id=state.new_id(),
        export_id=state.new_id(),
        export_metadata={},
        is_soft_deleted=False,
        scheduled_to_be_deleted_at=None,
        request_id=who.request_id,
        task={"kind": "create"},
    )
    state.shares.put(share)
    jobs.begin(tools, state.shares, share["id"])
    return share


def _no_network(network_id: str) -> NotFoundError:
    return NotFoundError(f"Share network {network_id} could not be found.")


def _type_of(snapshot: Document | None) -> str:
    return share_types.DEFAULT if snapshot is None else str(snapshot["share_type_id"])


def _snapshot(tools: ServiceContext, who: RequestContext, wish: CreateSpec) -> Document | None:
    if wish.snapshot_id is None:
        if wish.size is None:
            raise BadRequestError(
                "Invalid input received: Share size 'None' must be an integer and greater than 0."
            )
        return None
    error = missing(f"ShareSnapshotNotFound: Snapshot {wish.snapshot_id} could not be found.")
    snapshot = found(tools.state.snapshots, who, wish.snapshot_id, error)
    if snapshot["status"] != "available":
        raise BadRequestError("Invalid share snapshot: status must be 'available'.")
    if wish.size is not None and wish.size < snapshot["size"]:
        raise BadRequestError(
            f"Invalid input received: Share size '{wish.size}' must be equal or greater than "
            "snapshot size."
        )
    if not snapshot["capabilities"]["create_share_from_snapshot_support"]:
        raise BadRequestError(
            f"A new share may not be created from snapshot '{wish.snapshot_id}', because the "
            "snapshot's parent share does not have that capability."
        )
    source = tools.state.shares.get(snapshot["share_id"]) or {}
    return {**snapshot, "share_network_id": source.get("share_network_id")}


def make_snapshot(
    tools: ServiceContext, who: RequestContext, share: Document, **named: Any
) -> Document:
    """Write a new snapshot; it is made afterwards. Raises ApiError for its quota."""
    state = tools.state
    kind = state.types.get(share["share_type_id"])
    quotas.check(state, share["project_id"], kind, snapshots=1, snapshot_gigabytes=share["size"])
    snapshot = {
        **state.record(
            who,
            share_id=share["id"],
            size=share["size"],
            share_proto=share["share_proto"],
            share_type_id=share["share_type_id"],
            capabilities=share["capabilities"],
            status="creating",
            progress=None,
            instance_id=state.new_id(),
            export_id=state.new_id(),
            task={"kind": "create"},
            **named,
        ),
        "project_id": share["project_id"],
    }
    state.snapshots.put(snapshot)
    jobs.begin(tools, state.snapshots, snapshot["id"])
    return snapshot
