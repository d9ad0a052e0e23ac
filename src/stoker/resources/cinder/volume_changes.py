"""Changes a volume in place: one step for each kind of change, each safe to repeat.

A step that takes time sends its request once and then polls. A restore, and a resize where the
cloud cannot extend attached volumes, need the volume to be detached. Its servers are recorded in
the progress, so that it is attached to them again after a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import BACKUPS, VOLUME_TYPES, VOLUMES
from stoker.resources.base.rest import polling_pause
from stoker.resources.shared.storage.volumes import READINESS, attached, failed, give_back, let_go
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call, Failed, Outcome, Wait

_GROWS_IN_USE = "3.42"
_REFUSED = frozenset({400, 406})


class Step(Struct, frozen=True):
    """One kind of change."""

    name: str
    properties: frozenset[str]
    # (call, the live volume) -> None when the change is done
    run: Callable[[Call, Object], Outcome | None]


def apply_changes(call: Call) -> Outcome | None:
    """Apply ``call.update.changed`` in a fixed order; return None when all is done."""
    done = list(call.progress.get("done", []))
    for step in _STEPS:
        if step.name in done or call.update.changed.isdisjoint(step.properties):
            continue
        outcome = step.run(call, VOLUMES.get(call.cloud, call.object_id))
        if isinstance(outcome, Wait):
            progress = {**call.progress, **(outcome.progress or {}), "done": done}
            return Wait(outcome.after, progress=progress, reason=outcome.reason)
        if outcome is not None:
            return outcome
        done.append(step.name)
    return None


def set_read_only(call: Call) -> None:
    """Set whether servers can write to the volume."""
    desired = bool(call.properties.get("read_only"))
    _act(call, {"os-update_readonly_flag": {"readonly": desired}})


def _act(call: Call, body: Object, microversion: str | None = None) -> None:
    path = VOLUMES.at(call.object_id, "/action")
    VOLUMES.ask(call.cloud, "POST", path, json=body, microversion=microversion)


def _describe(call: Call, volume: Object) -> None:
    body: Object = {}
    if "name" in call.update.changed:
        body["name"] = call.properties.get("name") or call.physical_name
    if "description" in call.update.changed:
        body["description"] = call.properties.get("description")
    VOLUMES.update(call.cloud, call.object_id, body)


def _set_metadata(call: Call, volume: Object) -> None:
    path = VOLUMES.at(call.object_id, "/metadata")
    texts = as_texts(call.properties.get("metadata"))
    VOLUMES.ask(call.cloud, "PUT", path, json={"metadata": texts})


def _set_read_only(call: Call, volume: Object) -> None:
    set_read_only(call)


def _retype(call: Call, volume: Object) -> Outcome | None:
    desired = call.properties.get("volume_type")
    if _is_pending(volume):
        return _waiting(call, volume)
    if volume.get("status") in READINESS.failed:
        return failed(call, volume)
    if desired is None or desired in {volume.get("volume_type"), _type_id(call, volume)}:
        return None
    if call.progress.get("retyped"):
        return Failed(f"the volume is still of type {volume.get('volume_type')}")
    _act(call, {"os-retype": {"new_type": desired, "migration_policy": "never"}})
    return _waiting(call, volume, retyped=True)


def _type_id(call: Call, volume: Object) -> str | None:
    name = volume.get("volume_type")
    listed = VOLUME_TYPES.select(call.cloud) if name else []
    return next((str(each["id"]) for each in listed if each.get("name") == name), None)


def _grow(call: Call, volume: Object) -> Outcome | None:
    size, desired = int(volume.get("size") or 0), call.properties.get("size")
    if _is_pending(volume):
        return _waiting(call, volume)
    if volume.get("status") in READINESS.failed:
        return failed(call, volume)
    if desired is not None and desired < size:
        return Failed("Shrinking volume is not supported.", kind="NotSupported")
    if desired is None or desired == size:
        return _back_to_servers(call)
    if call.progress.get("held") is not None:
        if not let_go(call, call.progress["held"]):
            return _waiting(call, volume)
        _act(call, {"os-extend": {"new_size": desired}})
        return _waiting(call, volume)
    try:
        version = _GROWS_IN_USE if volume.get("status") == "in-use" else None
        _act(call, {"os-extend": {"new_size": desired}}, version)
    except CloudError as fault:
        if fault.status_code not in _REFUSED or volume.get("status") != "in-use":
            raise
        return _waiting(call, volume, held=attached(volume))
    return _waiting(call, volume)


def _overwrite(call: Call, volume: Object) -> Outcome | None:
    backup_id = call.properties.get("backup_id")
    if backup_id is None:
        return None
    if "held" not in call.progress:
        return _waiting(call, volume, held=attached(volume))
    if call.progress.get("restored"):
        if _is_pending(volume):
            return _waiting(call, volume)
        if volume.get("status") in READINESS.failed:
            return failed(call, volume)
        return _back_to_servers(call)
    if not let_go(call, call.progress["held"]):
        return _waiting(call, volume)
    path = BACKUPS.at(str(backup_id), "/restore")
    BACKUPS.ask(call.cloud, "POST", path, json={"restore": {"volume_id": call.object_id}})
    return _waiting(call, volume, restored=True)


def _back_to_servers(call: Call) -> Outcome | None:
    held = call.progress.get("held") or []
    if not held or give_back(call, held):
        return None
    return Wait(polling_pause(call), reason="the volume is attached to its servers again")


def _is_pending(volume: Object) -> bool:
    return volume.get("status") in READINESS.pending


def _waiting(call: Call, volume: Object, **progress: Any) -> Wait:
    reason = f"the volume is {volume.get('status')}"
    return Wait(polling_pause(call), progress=progress, reason=reason)


_STEPS = (
    Step("description", frozenset({"name", "description"}), _describe),
    Step("metadata", frozenset({"metadata"}), _set_metadata),
    Step("backup", frozenset({"backup_id"}), _overwrite),
    Step("type", frozenset({"volume_type"}), _retype),
    Step("size", frozenset({"size"}), _grow),
    Step("read_only", frozenset({"read_only"}), _set_read_only),
)
