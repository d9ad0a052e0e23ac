"""The outcomes of calls of a type's methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.schema.software import NO_SOFTWARE, SoftwareChange


class Done(Struct, frozen=True):
    """The action is finished."""

    physical_id: str | None = None  # the id of the new object; None keeps the recorded one
    # Known attributes; others are read when they are needed. None keeps the recorded ones.
    attributes: Mapping[str, Any] | None = None
    # Stored with the resource, encrypted, and passed to later calls. None keeps the current data.
    data: Mapping[str, Any] | None = None
    reason: str | None = None  # shown as the status reason; None for the usual text
    # Recorded before any other effect of the answer; servers are notified.
    software: SoftwareChange = NO_SOFTWARE


class Wait(Struct, frozen=True):
    """Not finished: call again after ``after`` seconds, or at the next signal if ``on_signal``."""

    after: float = 1.0
    physical_id: str | None = None
    # Passed to the next call of the same action; None keeps the current value.
    progress: Mapping[str, Any] | None = None
    data: Mapping[str, Any] | None = None
    on_signal: bool = False  # call again as soon as any resource of the stack is signalled
    reason: str | None = None  # shown while waiting, in words
    # Under express, other resources need not wait any longer: the object of a create has its id and
    # its early attributes, or a delete is certain to proceed without further requests.
    early: bool = False
    attributes: Mapping[str, Any] | None = None
    software: SoftwareChange = NO_SOFTWARE


class Failed(Struct, frozen=True):
    """The action failed for good. ``reason`` says why, with the cloud's own words."""

    reason: str
    physical_id: str | None = None
    data: Mapping[str, Any] | None = None
    kind: str | None = None  # name of this kind of failure that clients know, if any
    attributes: Mapping[str, Any] | None = None  # attributes that explain the failure


Outcome = Done | Wait | Failed
