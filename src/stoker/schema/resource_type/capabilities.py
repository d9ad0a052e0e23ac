"""Capabilities beyond the minimum: a type has one if it has the methods of its Protocol."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.schema.resource_type.call import Call, Signal
from stoker.schema.resource_type.neighbours import Neighbour, Neighbours
from stoker.schema.resource_type.outcomes import Outcome
from stoker.schema.software import Deployment

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Capability = TypeVar("Capability")


@runtime_checkable
class Updates(Protocol):
    """The type can change an object in place, for properties declared ``update_allowed``."""

    def update(self, call: Call) -> Outcome:
        """Change the object to ``call.properties``; ``call.update.changed`` names the changes."""


@runtime_checkable
class Reads(Protocol):
    """The type can read attributes from the live object."""

    def read(self, call: Call) -> Mapping[str, Any]:
        """All attributes of the live object by name, ``show`` included where declared."""


@runtime_checkable
class Replaces(Protocol):
    """The type decides from the change itself whether an update needs a new object."""

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the changes in ``call.update`` cannot be done in place."""


@runtime_checkable
class Adopts(Protocol):
    """The type can find an object that a lost create call may have made."""

    def find(self, call: Call) -> str | None:
        """The physical id of the object that a create of ``call`` has made, or None.

        It carries ``call.token`` as its name or marker. An object of a type that cannot show its
        owner (``unique``, and not ``finds_own``) is found by its properties. The engine calls this
        before the first request, too; an object that exists then belongs to others.
        """


@runtime_checkable
class Contends(Protocol):
    """A create is rejected because of, or would take away, an object that ``find`` does not see."""

    def occupants(self, call: Call) -> Sequence[str]:
        """All ids under which rows may name the object that is in the way of a create, alike or
        not, the one that the create would give it first; empty where there is none.
        """


@runtime_checkable
class Shares(Protocol):
    """The resource declares parts of an object that others may declare too, as a rule of a group.

    A part can be a resource of its own, or a value among the properties of another. It is removed
    from the object only when the last resource that declares it no longer does.
    """

    def parts(self, call: Call) -> Collection[str]:
        """One text for each part, the same for all types in ``shares``; empty while nothing is
        known of the object. May ask the cloud; the properties have ids where names are known.
        """


@runtime_checkable
class Sweeps(Protocol):
    """The type can remove the duplicates of a resource's object that lost creates have left."""

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove the objects with ``call.token`` other than ``call.physical_id``; return their ids.

        Objects without the token are never touched.
        """


@runtime_checkable
class Claims(Protocol):
    """Other objects belong to the object, and are found by the token of its resource."""

    def claim(self, call: Call) -> None:
        """Mark the parts of an adopted object with ``call.token``. Safe to repeat."""


@runtime_checkable
class Checks(Protocol):
    """The type can compare the live object with its expected state."""

    def check(self, call: Call) -> Outcome:
        """Done if the object is as it should be, Failed with the difference otherwise."""


@runtime_checkable
class Suspends(Protocol):
    """The object can be suspended and resumed. Other objects of the stack are unaffected."""

    def suspend(self, call: Call) -> Outcome:
        """Put the object to rest; one that rests already is ``Done()``."""

    def resume(self, call: Call) -> Outcome:
        """Wake the object; one that is awake is ``Done()``."""


@runtime_checkable
class Observes(Protocol):
    """The type can read the properties of the live object."""

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the live object, in the form of properties; None if it is gone.

        Called for an object with a physical id. Properties that the service does not return are
        left out. ``call.properties`` may hold names in the places of ids; an equivalent value may
        be returned in its form. Raises the error of the cloud if the state cannot be read.
        """


@runtime_checkable
class Expects(Protocol):
    """The type gives objects more than their properties say."""

    def expected(self, call: Call) -> Mapping[str, Any]:
        """Return the properties that a live object should have.

        These are ``call.properties`` plus additions of the type, such as a generated key. A
        generated name may be left out.
        """


@runtime_checkable
class Releases(Protocol):
    """The object has an exclusive part, as an address, that a replacement may need.

    Both methods are called between actions: they store their state as ``data``, not as
    ``progress``, and they are called again for an object that has released its part already.
    """

    def release(self, call: Call) -> Outcome:
        """Free it before a replacement is created; ``data`` first records how to reclaim it."""

    def reclaim(self, call: Call) -> Outcome:
        """Take it again: the object stays after all. Its replacement has released before."""


@runtime_checkable
class Snapshots(Protocol):
    """The object can be snapshotted: with its stack, or before it is deleted."""

    def snapshot(self, call: Call) -> Outcome:
        """Take a snapshot that is named ``call.snapshot.name``: by that a lost one is found again,
        which is looked for until ``call.snapshot.lands_until``.
        The ``data`` of the outcome says which it is; where there is nothing to snapshot, they name
        none, nor an earlier one.
        """

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties for an object restored from the snapshot in ``data``.

        A new object is created with them, and an existing one is updated to them. Without a
        snapshot, they are the given properties.
        """

    def delete_snapshot(self, call: Call) -> Outcome:
        """Remove the snapshot in ``call.data``, and any object named ``call.snapshot.name``.

        If there is none, the result is ``Done()``, after ``call.snapshot.lands_until``.
        """


@runtime_checkable
class Signals(Protocol):
    """The type accepts signals."""

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the signal in its stored form.

        Raises :class:`stoker.kernel.errors.ValidationError` for a body that the type does not
        accept.
        """

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Return the reason in the event of the signal."""


@runtime_checkable
class Deploys(Protocol):
    """The type deploys software to a server. A signal reports the result."""

    def signalled(self, call: Call, details: Mapping[str, Any]) -> tuple[Deployment | None, str]:
        """Return the deployment with the signal's result, and the reason of its event.

        The deployment is None if it does not wait for a signal.
        """


@runtime_checkable
class CountsSignals(Protocol):
    """The type is complete after a number of signals."""

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """Return the number of received and of expected signals."""


@runtime_checkable
class ShowsSignals(Protocol):
    """The signals of a resource show in its metadata."""

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """Return the additions of signals to the metadata of the resource."""


@runtime_checkable
class GrantsAccess(Protocol):
    """The type is a user of the stack that may read metadata of several resources."""

    def grants(
        self, properties: Mapping[str, Any], name: str, others: Mapping[str, Neighbour]
    ) -> bool:
        """Return whether the user may read the resource ``name``; ``others`` has all resources."""


@runtime_checkable
class TakesDeployments(Protocol):
    """The type is a server that software deployments can be for; its metadata shows them."""

    def takes_deployments(self, properties: Mapping[str, Any]) -> bool:
        """Return whether this server does."""

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether this server reads its metadata elsewhere, as from an object store."""

    def publish(self, call: Call) -> None:
        """Put ``call.metadata`` where the server ``call.physical_id`` reads it.

        Properties are as they were given: names may stand for ids.
        """


@runtime_checkable
class RestartsResource(Protocol):
    """A signal to the resource replaces another resource of its stack, and all that needs it."""

    def restarts(self, call: Call) -> Any:
        """The reference of the resource that is replaced."""


@runtime_checkable
class Reacts(Protocol):
    """A signal to the resource has the type do something in the cloud."""

    def react(self, call: Call) -> Outcome:
        """Do the action that ``call.signal`` requests:

        once, although this is called again after a crash.
        """


@runtime_checkable
class Validates(Protocol):
    """The type checks more than its declarations can say."""

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Findings on checked properties (values may be Unknown); paths start at the property."""


@runtime_checkable
class NamesResources(Protocol):
    """The type has properties with the plain names of other resources of the stack."""

    def named(self, properties: Mapping[str, Any]) -> Sequence[tuple[Path, Any]]:
        """These names, some perhaps Unknown, each with its path, which starts at the property."""


@runtime_checkable
class RequestsAddresses(Protocol):
    """The type has properties with fixed addresses. Only one port can have an address."""

    def requested_addresses(self, properties: Mapping[str, Any]) -> Sequence[tuple[Path, Any, Any]]:
        """Return the path from the property, the network and the address of each.

        Networks and addresses may be Unknown.
        """


class Impossible(Struct, frozen=True):
    """A reason for which the service certainly rejects a resource."""

    path: Path  # from the properties to the value at fault
    message: str  # the fault, and what to do
    # The extension of the network service without which the resource may be accepted.
    extension: str = ""
    # Ids of the objects in the way. They are no obstacle if they belong to the same stack.
    holders: tuple[str, ...] = ()


@runtime_checkable
class JudgesNeighbours(Protocol):
    """Other resources of the template can show that the service will reject this one."""

    def impossible_beside(
        self, properties: Mapping[str, Any], others: Neighbours, existing: Collection[str]
    ) -> Sequence[Impossible]:
        """Return the faults; empty unless every service rejects the resource.

        Called for each create and update. Properties are as evaluated: references are Unknown.
        ``others`` has no properties for objects that exist outside the stack. ``existing`` has the
        names of resources that the stack had before: other stacks may have changed their objects.
        """


@runtime_checkable
class FindsObstacles(Protocol):
    """The cloud can show before a create that it will be rejected."""

    def may_be_obstructed(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the cloud has to be read for these properties."""

    def obstacles(self, call: Call) -> Sequence[Impossible]:
        """Read the cloud, with a few requests, and return the obstacles to a create.

        Called before a request is accepted, for each new resource. References are Unknown, and
        names are ids where they are known.
        """


class ObjectUser(Struct, frozen=True):
    """Another object that uses an object, and prevents its deletion."""

    words: str
    ids: tuple[str, ...]  # of the object, and of those that it belongs to


@runtime_checkable
class ShowsUsers(Protocol):
    """The cloud rejects the delete of an object that others use, and can show them."""

    def users(self, call: Call) -> Sequence[ObjectUser]:
        """Read the cloud, with a few requests, and return the users of ``call.physical_id``.

        Called for plans that delete the object. ``call.properties`` is empty.
        """


@runtime_checkable
class DependsImplicitly(Protocol):
    """The type needs other resources that its properties do not name by reference."""

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> frozenset[str]:
        """Names of resources to come first; ``others`` maps name to (type name, properties).

        ``others`` holds the resource itself too, and is a
        :class:`stoker.schema.resource_type.neighbours.Neighbours` where the whole template is
        evaluated. Properties are as evaluated: references to resources that do not exist yet are
        Unknown.
        """


def can(type_: object, capability: Callable[..., Capability]) -> TypeIs[Capability]:
    """Return whether a type has the methods of one of these Protocols, cached by class.

    ``isinstance`` takes ten microseconds for it in Python 3.11: too long to ask of every resource.
    """
    known: dict[object, bool] | None = getattr(type_, "capabilities", None)
    if known is None:
        return False
    if capability not in known:
        assert isinstance(capability, type)
        known[capability] = isinstance(type_, capability)
    return known[capability]
