"""Addresses that clients know and that this release does not serve. They say so: a client that is
told that there is nothing at an address says that there is no such stack.
"""

from __future__ import annotations

from starlette.responses import Response

from stoker.api.rest.call import Call
from stoker.kernel.errors import NotSupported

_STACK = "/stacks/{stack_name}/{stack_id}"
_SNAPSHOT = _STACK + "/snapshots/{snapshot_id}"

ADDRESSES = {
    "Snapshots of stacks are": (
        ("POST", _STACK + "/snapshots", "stacks:snapshot"),
        ("GET", _STACK + "/snapshots", "stacks:list_snapshots"),
        ("GET", _SNAPSHOT, "stacks:show_snapshot"),
        ("DELETE", _SNAPSHOT, "stacks:delete_snapshot"),
        ("POST", _SNAPSHOT + "/restore", "stacks:restore_snapshot"),
    ),
}
"""What is missing, by the beginning of the refusal: method, path below the project, policy."""


async def refuse(call: Call, what: str) -> Response:
    """Refuse (400, ``NotSupported``), saying what is missing."""
    raise NotSupported(f"{what} not supported by this release of Stoker.")
