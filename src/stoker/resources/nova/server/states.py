"""States of servers: usable, in progress, or broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import SERVERS
from stoker.resources.rest import polling_pause, went_to
from stoker.schema.resource_type import Call, Failed, Outcome, Wait

ACTIVE = "ACTIVE"
BROKEN = frozenset({"ERROR", "DELETED", "SOFT_DELETED", "UNKNOWN"})
_TASK = "OS-EXT-STS:task_state"


def live(call: Call) -> Object:
    """The server as the service describes it. Raises :class:`CloudFault` (404) if it is gone."""
    return SERVERS.get(call.cloud, call.object_id)


def broken(server: Mapping[str, Any]) -> Failed:
    """The failure of a broken server, in the service's words."""
    fault = server.get("fault") or {}
    message, code = (fault.get(name) or "Unknown" for name in ("message", "code"))
    return went_to(str(server.get("status")), f"Message: {message}, Code: {code}")


def until(
    call: Call, server: Mapping[str, Any], wanted: str, progress: Mapping[str, Any] | None = None
) -> Outcome | None:
    """None if the server has the wanted status and no task, else the outcome to return."""
    status = server.get("status")
    if status in BROKEN:
        return broken(server)
    if status == wanted and not server.get(_TASK):
        return None
    task = server.get(_TASK)
    doing = f"{status} ({task})" if task else str(status)
    return Wait(polling_pause(call), progress=progress, reason=f"the server is {doing}")
