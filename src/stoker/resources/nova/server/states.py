"""Statuses of servers, and their failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import SERVERS
from stoker.kernel.values import replace
from stoker.resources.base.rest import error_status
from stoker.schema.resource_type import Call, Failed

ACTIVE = "ACTIVE"
SUSPENDED = "SUSPENDED"
BROKEN = frozenset({"ERROR", "DELETED", "SOFT_DELETED", "UNKNOWN"})
GONE = frozenset({"DELETED", "SOFT_DELETED"})
TASK = "OS-EXT-STS:task_state"  # Field with the current task of a server.


def live(call: Call) -> Object:
    """Return the server. Raise :class:`CloudError` (404) if it does not exist."""
    return SERVERS.get(call.cloud, call.object_id)


def not_active(server: Mapping[str, Any]) -> Failed:
    """Return the failure of a check of a server that is not active."""
    status = str(server.get("status"))
    if status in BROKEN:
        return broken(server)
    return Failed(f"'status': expected '{ACTIVE}', got '{status}'", kind="Error")


def broken(server: Mapping[str, Any]) -> Failed:
    """Return the failure of a broken server, with Nova's fault message."""
    fault = server.get("fault") or {}
    message, code = (fault.get(name) or "Unknown" for name in ("message", "code"))
    return error_status(str(server.get("status")), f"Message: {message}, Code: {code}")


def broken_by(call: Call, server: Mapping[str, Any]) -> Failed:
    """Return the failure with the id of the last request, for a search in Nova's logs."""
    failed, path = broken(server), SERVERS.at(call.object_id, "/os-instance-actions")
    try:
        actions = send(call.cloud.service("compute"), "GET", path).get("instanceActions") or [{}]
    except CloudError:
        return failed  # The id is only additional information.
    request_id = actions[0].get("request_id")
    return (
        failed
        if request_id is None
        else replace(failed, reason=f"{failed.reason} (request {request_id})")
    )
