"""The contract of a resource type.

A type declares its properties and attributes and answers a few calls. It keeps no state: all that
a call needs comes in a :class:`Call`, all that it wants kept goes out in its answer. After a
:class:`Wait` the same method is called again, with the ``physical_id``, ``progress`` and ``data``
that the answer named; it looks how far the work is and answers anew. After a crash it is called
just so, hence every method must be safe to repeat: that is the whole of recovery for a type.

Types never touch the database, another resource, or the clock. Types with a ``service`` run on
worker threads and may block; all others run on the event loop and must not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from stoker.kernel.diagnostics import Diagnostic
from stoker.schema.properties import Attribute, Property
from stoker.schema.support import SUPPORTED, SupportStatus


@dataclass(frozen=True, slots=True)
class Done:
    """The action is finished."""

    physical_id: str | None = None
    """The id of what was made; None leaves the one that is recorded."""
    attributes: Mapping[str, Any] | None = None
    """Attributes known by now; others are read when they are asked for. None leaves them."""
    data: Mapping[str, Any] | None = None
    """Kept with the resource, encrypted, and handed to later calls. None leaves it."""
    metadata: Mapping[str, Any] | None = None
    """Replaces the resource's metadata. None leaves it."""
    reason: str | None = None
    """Shown as the status reason; None for the usual text."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Not finished: call again after ``after`` seconds, or at the next signal if ``on_signal``."""

    after: float = 1.0
    physical_id: str | None = None
    progress: Mapping[str, Any] | None = None
    """Handed to the next call of the same action; None leaves it."""
    data: Mapping[str, Any] | None = None
    on_signal: bool = False
    """Call again as soon as any resource of the stack is signalled."""
    reason: str | None = None
    """What is being waited for, in words: shown while waiting."""
    attributes: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The action failed for good. ``reason`` says why, with the cloud's own words."""

    reason: str
    physical_id: str | None = None
    data: Mapping[str, Any] | None = None
    kind: str | None = None
    """The name by which clients know this kind of failure, where they know one."""


Outcome = Done | Wait | Failed


@dataclass(frozen=True, slots=True)
class StackFacts:
    """What a type may know of its stack."""

    id: str
    name: str
    project_id: str
    user_project_id: str | None = None
    tags: tuple[str, ...] = ()
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that the stack's resources received; ``details`` is the body as it was sent."""

    id: str
    received_at: float
    details: Mapping[str, Any]


class Signalling(Protocol):
    """Makes the addresses and credentials by which a server can call back. Blocking.

    Every method is safe to repeat: what exists is found again by ``call.resource_id``.
    """

    def create_user(self, call: Call) -> Mapping[str, Any]:
        """A stack user: ``user_id``, ``username``, ``password``, ``project_id``."""

    def delete_user(self, call: Call) -> None:
        """Remove the stack user of this resource; none is fine."""

    def create_keypair(self, call: Call, user_id: str) -> Mapping[str, Any]:
        """EC2 credentials of a stack user: ``access`` and ``secret``; keep them as data."""

    def signal_url(self, call: Call) -> str:
        """The REST address that accepts signals for this resource."""

    def cfn_url(self, call: Call) -> str:
        """The root of the CloudFormation endpoint as servers reach it; no slash at the end."""

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        """A signed address of the CloudFormation endpoint (``waitcondition`` or ``signal``)."""

    def token(self, call: Call) -> str:
        """A token of this resource's stack user, whose credentials ``call.data`` holds."""


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that one call of a type's method may use."""

    stack: StackFacts
    name: str
    """Logical name."""
    resource_id: str
    """Our own id of the resource, a UUID."""
    token: str
    """Intent token: 12 characters, part of ``physical_name``; a lost create is found by it."""
    physical_name: str
    """``stack-resource-token``, shortened to the type's limit."""
    properties: Mapping[str, Any]
    """Checked, coerced, defaults filled in, names turned into ids. Absent values are None."""
    started_at: float
    now: float
    action: str = "CREATE"
    previous: Mapping[str, Any] = field(default_factory=dict)
    """The properties before an update."""
    changed: frozenset[str] = frozenset()
    """The names of the properties that an update changes."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    physical_id: str | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    signals: Mapping[str, Sequence[Signal]] = field(default_factory=dict)
    """By reference id (what ``get_resource`` gives) of the signalled resources of this stack."""
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    configs: Mapping[str, str] = field(default_factory=dict)
    """Content of the software configs of this project that the properties name, by id."""
    members: Mapping[str, Any] = field(default_factory=dict)
    """Of a type that nests: references of the nested stack's resources as they are, by name."""
    failed_members: frozenset[str] = frozenset()
    """Those of the members that have failed or were marked unhealthy."""
    attributes_used: frozenset[str] = frozenset()
    """Of a type that nests: the attributes that the rest of the template refers to."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Of a type that has a stack made elsewhere: the files that came with the template."""
    environment: Mapping[str, Any] = field(default_factory=dict)
    """Of such a type: what the stack to be made inherits of the environment."""
    cloud: Any = None
    """An ``openstack.connection.Connection`` for the stack's project; None without ``service``."""
    signalling: Signalling | None = None


class ResourceType(ABC):
    """A type of resource. One instance serves all resources of the type."""

    type_name: ClassVar[str]
    properties: ClassVar[Mapping[str, Property]] = {}
    attributes: ClassVar[Mapping[str, Attribute]] = {}
    description: ClassVar[str] = ""
    support: ClassVar[SupportStatus] = SUPPORTED
    service: ClassVar[str | None] = None
    """Service type of the catalog without which the type is not available, as ``network``."""
    physical_name_limit: ClassVar[int] = 255
    unique: ClassVar[bool] = False
    """The service makes no second object for the same properties: a create whose answer got lost
    may be sent again at once."""

    @abstractmethod
    def create(self, call: Call) -> Outcome:
        """Make the object. Called first without, later with ``call.physical_id``."""

    @abstractmethod
    def delete(self, call: Call) -> Outcome:
        """Remove the object. A physical id of None, or an object that is gone, is ``Done()``."""

    def reference(self, call: Call) -> Any:
        """What ``get_resource`` gives: the physical id, and the name before there is one."""
        return call.physical_id if call.physical_id is not None else call.name


@runtime_checkable
class Updates(Protocol):
    """The type can change an object in place, for properties declared ``update_allowed``."""

    def update(self, call: Call) -> Outcome:
        """Bring the object to ``call.properties``; ``call.changed`` names what differs."""


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
        """Whether ``call.changed`` from ``call.previous`` cannot be done in place."""


@runtime_checkable
class Adopts(Protocol):
    """The type can find an object that a lost create call may have made."""

    def find(self, call: Call) -> str | None:
        """The physical id of the object whose name carries ``call.token``, or None."""


@runtime_checkable
class Sweeps(Protocol):
    """The type can remove what lost creates have made beside the object of a resource."""

    def sweep(self, call: Call) -> Sequence[str]:
        """Remove the objects that carry ``call.token`` and are not ``call.physical_id``; the ids
        of what was removed. Objects without the token are never touched.
        """


@runtime_checkable
class Checks(Protocol):
    """The type can compare the live object with what is expected of it."""

    def check(self, call: Call) -> Outcome:
        """Done if the object is as it should be, Failed with the difference otherwise."""


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
    """The type can be snapshotted before it is deleted, as the deletion policy may ask for."""

    def snapshot(self, call: Call) -> Outcome:
        """Take a snapshot; its id goes into ``data``. An object that is gone is ``Done()``."""


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
class ShowsSignals(Protocol):
    """The signals of a resource show in its metadata."""

    def signal_metadata(self, signals: Sequence[Signal]) -> Mapping[str, Any]:
        """What the signals add to the metadata of the resource."""


@dataclass(frozen=True, slots=True)
class Adjustment:
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


@dataclass(frozen=True, slots=True)
class Resized:
    """What an adjustment makes of a group."""

    data: Mapping[str, Any]
    """The data of the group, for the next :meth:`Nests.nested`."""
    reason: str
    """What happens, in words."""


class NoChange(Exception):
    """An adjustment that leaves a group as it is. The text says why."""


@runtime_checkable
class Resizes(Protocol):
    """The type is a group, which nests, and whose size adjustments change."""

    def resized(self, call: Call, adjustment: Adjustment) -> Resized:
        """The group with its new size. Raises :class:`NoChange`."""

    def settled(self, call: Call, adjustment: Adjustment) -> Mapping[str, Any]:
        """The data once the new size is reached."""


@runtime_checkable
class Validates(Protocol):
    """The type checks more than its declarations can say."""

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Findings on checked properties (values may be Unknown); paths start at the property."""


@runtime_checkable
class DependsImplicitly(Protocol):
    """The type needs other resources that its properties do not name by reference."""

    def implicit_needs(
        self, properties: Mapping[str, Any], others: Mapping[str, tuple[str, Mapping[str, Any]]]
    ) -> frozenset[str]:
        """Names of resources to come first; ``others`` maps name to (type name, properties).

        ``others`` holds the resource itself too, and is a
        :class:`stoker.schema.neighbours.Neighbours` where the whole template is evaluated.
        Properties are as evaluated: references to resources that do not exist yet are Unknown.
        """


@dataclass(frozen=True, slots=True)
class Nested:
    """A nested stack to be: what a nesting type expands into."""

    template: Mapping[str, Any] | str | None
    """None for the file ``url``, which comes with the request or is fetched."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None
    """The file that the template came from, which anchors relative names inside it."""
    data: Mapping[str, Any] | None = None
    """Kept with the resource, and handed to later calls. None leaves it."""
    batches: Sequence[Sequence[str]] = ()
    """Names of resources that are applied batch after batch; those in none need not wait."""
    pause: float = 0.0
    """Seconds between a batch and the next."""
    timeout_mins: int | None = None
    """Time limit of the nested stack's operations; that of the stack around holds in any case."""


@runtime_checkable
class ForeseesMembers(Protocol):
    """The nested stack has a shape that is known before all values in it are."""

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Whether ``nested`` can be asked with these properties, some of which are unknown."""


@runtime_checkable
class MakesStack(Protocol):
    """The type has a stack made through a service: one that is not nested, and made from text."""

    def made_from(self, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
        """The template and the values of its parameters; None as long as it is not known."""


@runtime_checkable
class NamesOutputs(Protocol):
    """A type that nests whose attributes are not named as the outputs that they show."""

    def attribute_of(self, output: str) -> str:
        """The attribute that shows an output of the nested stack."""


@runtime_checkable
class Nests(Protocol):
    """The type expands into a nested stack; the framework creates, updates and deletes that."""

    def nested(self, call: Call) -> Nested:
        """The nested stack as it should be for ``call.properties``."""


_CAPABILITIES: WeakKeyDictionary[type, dict[type, bool]] = WeakKeyDictionary()


def can(type_: ResourceType, capability: type) -> bool:
    """Whether a type is an instance of one of these Protocols, found out once for each class.

    ``isinstance`` takes ten microseconds for it in Python 3.11: too long to ask of every resource.
    """
    known = _CAPABILITIES.setdefault(type(type_), {})
    if capability not in known:
        known[capability] = isinstance(type_, capability)
    return known[capability]
