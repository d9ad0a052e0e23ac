"""Snapshots of stacks, from rows of Heat, with the input that they were taken of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.engine.model.records import Input, Resource, Stack, Status
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.documents import map_of, time_of
from stoker.takeover.heat.trees import HeatBatch
from stoker.takeover.records.identifiers import derived_id, token_of
from stoker.takeover.records.states import INTERRUPTED, status_of
from stoker.takeover.records.type_data import HeatResource, translate

SnapshotRecord = Input | Snapshot | SnapshotPart


def snapshot_records(
    batch: HeatBatch, stack: Stack, current: Input, rows: Sequence[Resource]
) -> Iterator[SnapshotRecord]:
    """Yield the records of all snapshots of a stack."""
    by_name = {row.name: row for row in rows if row.replaced_by is None}
    for row in batch.snapshots.get(stack.id, ()):
        place = f"stack {stack.id}, snapshot {row['id']}"
        document = map_of(row["data"], f"{place}, column data")
        yield from _records(row, document, _parts(batch, row, document), stack, current, by_name)


def _parts(
    batch: HeatBatch, row: Row, document: Mapping[str, Any]
) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Return the documents of the resources: in rows of their own, or in that of the snapshot."""
    inside = document.get("resources") or {}
    if inside:
        return list(inside.items())
    place = f"snapshot {row['id']}, resource_snapshot"
    return [
        (part["resource_name"], map_of(part["data"], place))
        for part in batch.snapshot_parts.get(row["id"], ())
    ]


def _records(
    row: Row,
    document: Mapping[str, Any],
    parts: Iterable[tuple[str, Mapping[str, Any]]],
    stack: Stack,
    current: Input,
    by_name: Mapping[str, Resource],
) -> Iterator[SnapshotRecord]:
    input_id = derived_id("snapshot input", row["id"])
    yield Input(
        id=input_id,
        stack_id=stack.id,
        template=document.get("template") or current.template,
        environment={**current.environment, **(document.get("environment") or {})},
        files=document.get("files") or current.files,
    )
    status = status_of(row["status"], f"snapshot {row['id']}")
    ended = status is not Status.IN_PROGRESS
    yield Snapshot(
        id=row["id"],
        stack_id=stack.id,
        created_at=time_of(row["created_at"]) or stack.created_at,
        input_id=input_id,
        operation_id=derived_id("snapshot operation", row["id"]),
        name=row["name"],
        status=status if ended else Status.FAILED,
        reason=row["status_reason"] if ended else INTERRUPTED,
        stack_state={
            "action": row.get("action") or document.get("action") or stack.action.value,
            "status": document.get("status") or stack.status.value,
            "tags": document.get("tags") or [],
        },
    )
    for name, entry in parts:
        yield _part(row["id"], name, entry, stack, by_name.get(name))


def _part(
    snapshot_id: str, name: str, entry: Mapping[str, Any], stack: Stack, row: Resource | None
) -> SnapshotPart:
    row_id = derived_id("snapshot row", snapshot_id, name) if row is None else row.id
    implementation = str(entry.get("type")) if row is None else row.implementation
    heat = HeatResource(
        name=name,
        physical_id=entry.get("resource_id"),
        physical_name=f"{stack.name}-{name}-{token_of(row_id)}",
        properties={} if row is None else row.properties,
        data=entry.get("resource_data") or {},
        metadata=entry.get("metadata") or {},
        user_project_id=stack.user_project_id,
    )
    kept = translate(implementation, heat)
    return SnapshotPart(
        id=derived_id("snapshot part", snapshot_id, name),
        snapshot_id=snapshot_id,
        path=(name,),
        object_name=heat.physical_name,
        row_id=row_id,
        type_name=str(entry.get("type")),
        implementation=implementation,
        physical_id=entry.get("resource_id"),
        nested_id=None if row is None else row.nested_id,
        metadata=kept.metadata,
        data=kept.data,
        complete=True,
    )
