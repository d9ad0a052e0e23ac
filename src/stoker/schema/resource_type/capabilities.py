"""What a type can do beyond the minimum: it has the methods of one of these Protocols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.schema.neighbours import Neighbour
from stoker.schema.resource_type.call import Call, Signal
from stoker.schema.resource_type.outcomes import Outcome
from stoker.schema.software import Deployment

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Capability = TypeVar("Capability")


@runtime_checkable
class Updates(Protocol):
    """The type can change an object in place, for properties declared ``update_allowed``."""

    def update(self, call: Call) -> Outcome:
        """Bring the object to ``call.properties``; ``call.update.changed`` names what differs."""


@runtime_checkable
class Reads(Protocol):
    """The type can read attributes from the live object."""

    def read(self, call: Call) -> Mapping[str, Any]:
        """All attributes of the live object by name, ``show`` included where declared."""


@runtime_checkable
class Foresees(Protocol):
    """The type has attributes that follow from its properties alone, so that previews show them."""

    def foreseen(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those attributes by name; unknown where the properties are."""


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
    """The type can remove what lost creates have made beside the object of a resource."""

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove the objects that carry ``call.token`` and are not ``call.physical_id``; the ids
        of what was removed. Objects without the token are never touched.
        """


@runtime_checkable
class Claims(Protocol):
    """Other objects belong to the object, and are found by the token of its resource."""

    def claim(self, call: Call) -> None:
        """Have what belongs to an adopted object bear ``call.token``. Safe to repeat."""


@runtime_checkable
class Checks(Protocol):
    """The type can compare the live object with what is expected of it."""

    def check(self, call: Call) -> Outcome:
        """Done if the object is as it should be, Failed with the difference otherwise."""


@runtime_checkable
class Suspends(Protocol):
    """The object can rest, and be woken. What a stack holds besides stays as it is meanwhile."""

    def suspend(self, call: Call) -> Outcome:
        """Put the object to rest; one that rests already is ``Done()``."""

    def resume(self, call: Call) -> Outcome:
        """Wake the object; one that is awake is ``Done()``."""


@runtime_checkable
class Observes(Protocol):
    """The type can tell which properties the live object has."""

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """The properties as the object has them, in the form of properties; None if it is gone.

        Called for an object with a physical id. What the service does not tell is left out.
        ``call.properties`` may hold names in the places of ids; a value that means the same as
        one of them may be given in its form. Raises what the cloud raises where nobody knows.
        """


@runtime_checkable
class Expects(Protocol):
    """The type gives objects more than their properties say."""

    def expected(self, call: Call) -> Mapping[str, Any]:
        """The properties that a live object should have: ``call.properties``, with what the type
        adds to them, as a generated key. The generated name need not be among them.
        """


@runtime_checkable
class Releases(Protocol):
    """The object holds what only one can have, as an address, and a replacement may need it.

    Both methods are called between actions: they keep what they need as ``data``, not as
    ``progress``, and they are called again for an object that has released already.
    """

    def release(self, call: Call) -> Outcome:
        """Free it, before a replacement is made; ``data`` says first what it takes to go back."""

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
        """The properties with which an object is made from the snapshot that ``data`` tells of,
        and to which one that exists is updated; without a snapshot, the properties themselves.
        """

    def delete_snapshot(self, call: Call) -> Outcome:
        """Remove the snapshot that ``call.data`` tells of, and whatever is named
        ``call.snapshot.name``. Nothing is ``Done()``, after ``call.snapshot.lands_until``.
        """


@runtime_checkable
class Signals(Protocol):
    """The type accepts signals."""

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """The signal in the form in which it is stored.

        Raises :class:`stoker.kernel.errors.Invalid` for a body that the type refuses.
        """

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """What the event of the signal says."""


@runtime_checkable
class Deploys(Protocol):
    """The type gives software to a server. A signal says what came of it."""

    def signalled(self, call: Call, details: Mapping[str, Any]) -> tuple[Deployment | None, str]:
        """The deployment with what a signal says, or None where nobody waits for it; and what the
        event of the signal says.
        """


@runtime_checkable
class CountsSignals(Protocol):
    """The type is complete when so many signals have come."""

    def counted_signals(self, call: Call) -> tuple[int, int]:
        """How many have come, and how many are waited for."""


@runtime_checkable
class ShowsSignals(Protocol):
    """The signals of a resource show in its metadata."""

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """What the signals add to the metadata of the resource."""


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


@runtime_checkable
class PublishesMetadata(TakesDeployments, Protocol):
    """The type is a server that may read its metadata elsewhere, as from an object store."""

    def publishes(self, properties: Mapping[str, Any]) -> bool:
        """Return whether this server does, instead of asking this service."""

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
        """Do what ``call.signal`` asks for: once, though this is called again after a crash."""


@runtime_checkable
class UpdatesAnyway(Protocol):
    """The type is updated though nothing has changed, if the user asks for that."""

    def updates_anyway(self, properties: Mapping[str, Any]) -> bool:
        """Return whether these properties ask for it."""


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


@runtime_checkable
class DependsImplicitly(Protocol):
    """The type needs other resources that its properties do not name by reference."""

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> frozenset[str]:
        """Names of resources to come first; ``others`` maps name to (type name, properties).

        ``others`` holds the resource itself too, and is a
        :class:`stoker.schema.neighbours.Neighbours` where the whole template is evaluated.
        Properties are as evaluated: references to resources that do not exist yet are Unknown.
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
