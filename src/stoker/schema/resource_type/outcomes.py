"""What a call of a type's method answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.schema.software import NO_SOFTWARE, SoftwareChange


class Done(Struct, frozen=True):
    """The action is finished."""

    physical_id: str | None = None
    """The id of the new object; None keeps the recorded one."""
    attributes: Mapping[str, Any] | None = None
    """Attributes known by now; others are read when they are asked for. None leaves them."""
    data: Mapping[str, Any] | None = None
    """Stored with the resource, encrypted, and passed to later calls. None leaves it."""
    reason: str | None = None
    """Shown as the status reason; None for the usual text."""
    software: SoftwareChange = NO_SOFTWARE
    """Put on record before anything else follows from the answer; servers are told."""


class Wait(Struct, frozen=True):
    """Not finished: call again after ``after`` seconds, or at the next signal if ``on_signal``."""

    after: float = 1.0
    physical_id: str | None = None
    progress: Mapping[str, Any] | None = None
    """Passed to the next call of the same action; None leaves it."""
    data: Mapping[str, Any] | None = None
    on_signal: bool = False
    """Call again as soon as any resource of the stack is signalled."""
    reason: str | None = None
    """What is being waited for, in words: shown while waiting."""
    attributes: Mapping[str, Any] | None = None
    software: SoftwareChange = NO_SOFTWARE


class Failed(Struct, frozen=True):
    """The action failed for good. ``reason`` says why, with the cloud's own words."""

    reason: str
    physical_id: str | None = None
    data: Mapping[str, Any] | None = None
    kind: str | None = None
    """The name by which clients know this kind of failure, if they know one."""
    attributes: Mapping[str, Any] | None = None
    """Attributes that tell more of the failure."""


Outcome = Done | Wait | Failed
