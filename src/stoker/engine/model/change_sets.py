"""What users keep beside their stacks: change sets, and what protects the stacks.

A change set is a request that waits for somebody to carry it out, with what it would do: a saved
plan with a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.engine.model.client_tokens import ClientTokenInside, KeepsClientTokens
from stoker.engine.model.exports import Export as Export
from stoker.engine.model.exports import ExportInside, KeepsExports


class ChangeSet(Struct, frozen=True):
    """One change set of a stack. Nothing of it changes but that it is carried out."""

    id: str
    stack_id: str
    name: str
    created_at: float
    description: str = ""
    makes: bool = False
    """The stack is to be made: so far there is nothing but its change sets."""
    fault: str = ""
    """Why it cannot be carried out."""
    fingerprint: str = ""
    operation_id: str | None = None
    """The operation that carries it out."""
    client_token: str | None = None
    """That of the client that made it, and a digest of what it asked for."""
    client_digest: str | None = None
    request: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a :class:`stoker.engine.model.requests.StackRequest`; kept encrypted."""
    shown: Mapping[str, Any] = field(default_factory=dict)
    """What it would do, for those who look at it; kept encrypted."""


class ChangeSetChange(Struct, frozen=True):
    """What a commit changes about the change sets of a stack."""

    new: tuple[ChangeSet, ...] = ()
    executed: tuple[str, str] | None = None
    """The id of a change set and that of the operation that carries it out; the others of its
    stack that were not carried out go, as they no longer say what would be done.
    """
    dropped: tuple[str, ...] = ()
    """Ids."""


NO_CHANGE_SETS = ChangeSetChange()


class ChangeSetReads(Protocol):
    """Reads of change sets."""

    async def summaries(self, stack_id: str) -> Sequence[ChangeSet]:
        """Those of a stack, oldest first, without request and what is shown."""

    async def named(self, stack_id: str, name: str) -> ChangeSet | None:
        """The change set of a stack that has a name, or an id."""


class Protection(Struct, frozen=True):
    """What protects one stack. It is no part of the stack's row, which the stack's engine writes:
    users set it while that is under way.
    """

    stack_id: str
    keeps: bool = False
    """The stack is not deleted."""
    policy: Mapping[str, Any] = field(default_factory=dict)
    """Which updates may do what to which resources; empty for anything."""


class ProtectionReads(Protocol):
    """Reads of protections."""

    async def protection(self, stack_id: str) -> Protection:
        """That of a stack; an empty one where nothing was set."""


class Detection(Struct, frozen=True):
    """A look at the live objects of a stack, and what it has found."""

    id: str
    stack_id: str
    started_at: float
    ended_at: float | None = None
    """None while it goes on."""
    fault: str = ""
    """Why it came to nothing."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """What is told of each resource, by name; kept encrypted."""


class DetectionReads(Protocol):
    """Reads of detections."""

    async def detection(self, detection_id: str) -> Detection | None:
        """One detection."""

    async def latest(self, stack_id: str) -> Detection | None:
        """The newest one of a stack that has come to its end with something found."""


class KeepsChangeSets(KeepsExports, KeepsClientTokens, Protocol):
    """A store with what users keep."""

    @property
    def change_sets(self) -> ChangeSetReads:
        """What reads change sets."""

    @property
    def protections(self) -> ProtectionReads:
        """What reads protections."""

    @property
    def detections(self) -> DetectionReads:
        """What reads detections of drift."""


class ChangeSetInside(ExportInside, ClientTokenInside, Protocol):
    """What guards look at; see :class:`stoker.engine.model.interfaces.Inside`."""

    def change_sets(self, stack_id: str) -> Mapping[str, str | None]:
        """The names of a stack's change sets, with the operation that carries each out."""

    def protection(self, stack_id: str) -> Protection:
        """What protects a stack; ask for the stack first, which locks it."""
