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

    policy: str  # name of the signalled resource
    group: Any  # reference of the group
    kind: str  # ``change_in_capacity``, ``exact_capacity`` or ``percent_change_in_capacity``
    amount: float
    least: int = 0  # minimal number of members that a change in percent adds or removes
    cooldown: float = 0.0  # seconds after a change during which the same policy changes nothing


@runtime_checkable
class AdjustsGroup(Protocol):
    """A signal to the resource changes the size of a group of the same stack."""

    def adjustment(self, call: Call) -> Adjustment:
        """Return the adjustment that the signal requests."""


class Resized(Struct, frozen=True):
    """The result of an adjustment of a group."""

    data: Mapping[str, Any]  # data of the group, for the next :meth:`NestingType.nested`
    reason: str  # the change in words


class NoChangeError(Exception):
    """An adjustment that leaves a group as it is. The text says why."""


class ScalableType(NestingType):
    """A group whose size adjustments change."""

    @abstractmethod
    def resized(self, call: NestingCall, adjustment: Adjustment) -> Resized:
        """The group with its new size. Raises :class:`NoChangeError`."""

    @abstractmethod
    def capacity(self, call: NestingCall) -> int:
        """Return the number of members of the group, from its data."""

    @abstractmethod
    def settled(self, call: NestingCall, adjustment: Adjustment | None) -> Mapping[str, Any]:
        """The data once an adjustment, or else a create or an update of the group, is complete."""
