"""Changes a server in place.

The changed properties go in; None comes out when all are applied. There is a step for each kind of
change, in a fixed order. Each step can be repeated. A step that takes time sends its request once
and polls. The progress records that the request was sent: a server that shows its old state again
after a request has failed, in contrast to one that has not been asked yet.

Called by ``Server.update``. Tested by tests/resource_types_openstack/test_servers.py.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import SERVERS
from stoker.resources.base.rest import polling_pause
from stoker.resources.nova.server.body import tags_with_marker
from stoker.resources.nova.server.networks import set_networks
from stoker.resources.nova.server.states import ACTIVE, BROKEN, TASK, broken_by, live
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call, Failed, Outcome, Wait

_TAGS = "2.26"
_REBUILD_USER_DATA = "2.57"
_NO_LONGER_RESIZED = 400
_REBUILDS = frozenset({"REBUILD", "REBUILD_PRESERVE_EPHEMERAL"})


class Step(Struct, frozen=True):
    """One kind of change."""

    name: str
    is_needed: Callable[[Call], bool]
    # (call, whether the request was sent before) -> None when the change is done
    run: Callable[[Call, bool], Outcome | None]


def apply_changes(call: Call, user_data: Callable[[], str]) -> Outcome | None:
    """Apply ``call.update.changed``, in a fixed order; None when everything is applied."""
    done = list(call.progress.get("done", []))
    asked = call.progress.get("asked")
    for step in _steps(user_data):
        if step.name in done or not step.is_needed(call):
            continue
        outcome = step.run(call, asked == step.name)
        if isinstance(outcome, Wait):
            progress = {"done": done, "asked": step.name, **(outcome.progress or {})}
            return Wait(outcome.after, progress=progress, reason=outcome.reason)
        if outcome is not None:
            return outcome
        done.append(step.name)
    return None


def needs_rebuild(call: Call) -> bool:
    """Return whether the server must be rebuilt, for a new image or new user data."""
    properties = call.properties
    image = "image" in call.update.changed and properties.get("image_update_policy") in _REBUILDS
    return image or _takes_user_data(call)


def _takes_user_data(call: Call) -> bool:
    policy = call.properties.get("user_data_update_policy")
    return "user_data" in call.update.changed and policy == "REBUILD"


def _steps(user_data: Callable[[], str]) -> tuple[Step, ...]:
    return (
        Step("metadata", _changes("metadata"), _set_metadata),
        Step("name", _changes("name"), _rename),
        Step("tags", _changes("tags", "name"), _set_tags),
        Step("admin_pass", _changes("admin_pass"), _set_password),
        Step("networks", _changes("networks"), set_networks),
        Step("flavor", _changes("flavor"), _resize),
        Step("rebuild", needs_rebuild, lambda call, asked: _rebuild(call, asked, user_data)),
    )


def _changes(*names: str) -> Callable[[Call], bool]:
    return lambda call: not call.update.changed.isdisjoint(names)


def _path(call: Call, suffix: str = "") -> str:
    return SERVERS.at(call.object_id, suffix)


def _act(call: Call, body: Object, microversion: str | None = None) -> None:
    path = _path(call, "/action")
    send(call.cloud.service("compute"), "POST", path, json=body, microversion=microversion)


def _set_metadata(call: Call, _asked: bool) -> None:
    desired = as_texts(call.properties.get("metadata"))
    path = _path(call, "/metadata")
    present = send(call.cloud.service("compute"), "GET", path).get("metadata", {})
    for key in as_texts(call.update.previous.get("metadata")):
        if key not in desired and key in present:
            send(call.cloud.service("compute"), "DELETE", f"{path}/{key}")
    changed = {key: value for key, value in desired.items() if present.get(key) != value}
    if changed:
        send(call.cloud.service("compute"), "POST", path, json={"metadata": changed})


def _rename(call: Call, _asked: bool) -> None:
    name = call.properties.get("name") or call.physical_name
    SERVERS.update(call.cloud, call.object_id, {"name": name})


def _set_tags(call: Call, _asked: bool) -> None:
    body = {"tags": tags_with_marker(call)}
    send(call.cloud.service("compute"), "PUT", _path(call, "/tags"), json=body, microversion=_TAGS)


def _set_password(call: Call, _asked: bool) -> None:
    if call.properties.get("admin_pass"):
        _act(call, {"changePassword": {"adminPass": call.properties["admin_pass"]}})


def _resize(call: Call, was_sent: bool) -> Outcome | None:
    server = live(call)
    status, flavor = server.get("status"), (server.get("flavor") or {}).get("id")
    desired = call.properties["flavor"]
    if status in BROKEN:
        return broken_by(call, server)
    if status == "VERIFY_RESIZE":
        return _confirm(call)
    if status == "RESIZE" or server.get(TASK):
        return Wait(polling_pause(call), reason=f"the server is {status}")
    if flavor == desired:
        return None
    # A failed resize leaves the server active with its old flavor, and the cause in its fault.
    if was_sent:
        return Failed(f"the resize to flavor {desired} was undone: {_last_fault(server)}")
    _act(call, {"resize": {"flavorRef": desired}})
    return Wait(polling_pause(call), reason="the server is being resized")


def _confirm(call: Call) -> Wait:
    """Confirm the resize once.

    The server stays in VERIFY_RESIZE for a while after it, and Nova refuses a second confirmation.
    """
    if not call.progress.get("confirmed"):
        try:
            _act(call, {"confirmResize": None})
        except CloudError as fault:
            if fault.status_code != _NO_LONGER_RESIZED:
                raise
    reason = "the resize is being confirmed"
    return Wait(polling_pause(call), progress={"confirmed": True}, reason=reason)


def _last_fault(server: Object) -> str:
    fault: dict[str, Any] = server.get("fault") or {}
    return str(fault.get("message") or f"the server is {server.get('status')} with its old flavor")


def _rebuild(call: Call, was_sent: bool, user_data: Callable[[], str]) -> Outcome | None:
    server = live(call)
    status = server.get("status")
    if status in BROKEN:
        return broken_by(call, server)
    if status == "REBUILD" or server.get(TASK):
        return Wait(polling_pause(call), reason="the server is being rebuilt")
    if was_sent and status == ACTIVE:
        return None
    properties = call.properties
    # Nova requires an image, even for a rebuild that only changes user data.
    image = properties.get("image") or (server.get("image") or {}).get("id")
    body: Object = {"imageRef": image}
    if properties.get("image_update_policy") == "REBUILD_PRESERVE_EPHEMERAL":
        body["preserve_ephemeral"] = True
    if properties.get("admin_pass"):
        body["adminPass"] = properties["admin_pass"]
    version = None
    if _takes_user_data(call):
        body["user_data"] = base64.b64encode(user_data().encode()).decode()
        version = _REBUILD_USER_DATA
    _act(call, {"rebuild": body}, version)
    return Wait(polling_pause(call), reason="the server is being rebuilt")
