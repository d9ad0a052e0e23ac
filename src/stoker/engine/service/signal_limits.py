"""Limits of signals, in bytes and in number.

A signal may be sent by a guest, with the token that its user data holds, and every signal of a
resource is kept as long as the resource. All interfaces apply the same limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.interfaces import Inside
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Resource
from stoker.kernel.errors import LimitExceeded
from stoker.kernel.json_text import dumps

_ADVICE = "Send less data, or keep it in the object store and send its address"


def signal_size(limits: Limits, name: str, details: Mapping[str, Any]) -> int:
    """The bytes of a signal as JSON. Raises LimitExceeded beyond the limit of one signal."""
    size = len(dumps(details).encode(errors="replace"))
    if size > limits.signal_bytes:
        raise LimitExceeded(
            f"The signal to {name} has {size} bytes, the limit is {limits.signal_bytes}"
            f" (max_signal_size). {_ADVICE}"
        )
    return size


def require_room(inside: Inside, limits: Limits, row: Resource, size: int) -> None:
    """Raise LimitExceeded where a resource, or its stack, may not keep so many bytes more."""
    known = inside.signals_of(row.id)
    if known.count >= limits.signals_per_resource:
        raise LimitExceeded(
            f"{row.name} already has {limits.signals_per_resource} signals, the limit for a"
            " resource"
        )
    if known.size + size > limits.signals_bytes_per_resource:
        raise LimitExceeded(
            f"The signals to {row.name} would have {known.size + size} bytes together, the limit"
            f" is {limits.signals_bytes_per_resource} (max_signals_size_per_resource). {_ADVICE}"
        )
    together = inside.signals_size_of_stack(row.stack_id) + size
    if together > limits.values_bytes_per_stack:
        raise LimitExceeded(
            f"The signals to the resources of this stack would have {together} bytes together, the"
            f" limit is {limits.values_bytes_per_stack} (max_values_size_per_stack). {_ADVICE}"
        )
