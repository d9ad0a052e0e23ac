"""Events, from rows of Heat. Their order is that of Heat's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Event
from stoker.takeover.errors import UnreadableValueError
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.documents import document_of, time_of
from stoker.takeover.heat.trees import HeatBatch
from stoker.takeover.records.properties import values_of
from stoker.takeover.records.states import action_of, status_of

_STACK = "OS::Heat::Stack"


def event_of(
    row: Row, batch: HeatBatch, resource_ids: Mapping[str, str], decryption: Decryption
) -> Event:
    """Return an event; ``resource_ids`` are those of the stack's resources by name."""
    is_of_stack = row["physical_resource_id"] == row["stack_id"]
    return Event(
        id=row["uuid"],
        stack_id=row["stack_id"],
        time=time_of(row["created_at"]) or 0.0,
        action=action_of(row["resource_action"], f"event {row['uuid']}"),
        status=status_of(row["resource_status"], f"event {row['uuid']}"),
        reason=row["resource_status_reason"] or "",
        resource_name=row["resource_name"] or "",
        resource_type=row["resource_type"] or _STACK,
        resource_id=None if is_of_stack else resource_ids.get(row["resource_name"], row["uuid"]),
        physical_id=row["physical_resource_id"],
        properties=None if is_of_stack else _properties(row, batch, decryption),
    )


def _properties(row: Row, batch: HeatBatch, decryption: Decryption) -> Mapping[str, Any]:
    place = f"event {row['uuid']}"
    found = batch.properties.get(row["rsrc_prop_data_id"])
    if found is not None:
        return values_of(found, decryption, place)
    old = row["resource_properties"]
    if old is None:
        return {}
    try:
        known = document_of(old, place)
    except UnreadableValueError:
        return {}  # an object of Python in a column that newer releases do not write
    return known if isinstance(known, Mapping) else {}
