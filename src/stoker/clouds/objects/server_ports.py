"""Ports that this service creates for a server, and deletes with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_MARKER = "stoker:"
_NAME = re.compile(r"-port-[0-9a-f]{8}$")


def is_for_server(port: Mapping[str, Any]) -> bool:
    """Return whether a port was created for a server of a stack."""
    is_marked = str(port.get("description") or "").startswith(_MARKER)
    return is_marked and _NAME.search(str(port.get("name") or "")) is not None
