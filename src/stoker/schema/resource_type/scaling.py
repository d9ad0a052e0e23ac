"""Groups whose size signals change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from stoker.schema.resource_type.call import Call
from stoker.schema.resource_type.nesting import NestingCall, NestingType


class Adjustment(Struct, frozen=True):
    """A change to the size of a group that a signal asks for."""

    policy: str
    """Name of the resource that was signalled."""
    group: Any
    """Reference of the group."""
    kind: str
    """``change_in_capacity``, ``exact_capacity`` or ``percent_change_in_capacity``."""
    amount: float
    least: int = 0
    """Members that a change in percent adds or removes at least."""
    cooldown: float = 0.0
    """Seconds after a change in which the same policy changes nothing."""


@runtime_checkable
class AdjustsGroup(Protocol):
    """A signal to the resource changes the size of a group of the same stack."""

    def adjustment(self, call: Call) -> Adjustment:
        """What the signal asks for."""


class Resized(Struct, frozen=True):
    """What an adjustment makes of a group."""

    data: Mapping[str, Any]
    """The data of the group, for the next :meth:`NestingType.nested`."""
    reason: str
    """What happens, in words."""


class NoChangeError(Exception):
    """An adjustment that leaves a group as it is. The text says why."""


class ScalableType(NestingType):
    """A group whose size adjustments change."""

    @abstractmethod
    def resized(self, call: NestingCall, adjustment: Adjustment) -> Resized:
        """The group with its new size. Raises :class:`NoChangeError`."""

    @abstractmethod
    def capacity(self, call: NestingCall) -> int:
        """How many members the group has by its data."""

    @abstractmethod
    def settled(self, call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
        """The data once an adjustment, or else a create or an update of the group, is complete."""
