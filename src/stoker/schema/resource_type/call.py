"""The arguments of a type's methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.schema.software import Deployment, SoftwareConfig


class StackFacts(Struct, frozen=True):
    """The facts about its stack that a type may use."""

    id: str
    name: str
    project_id: str
    user_project_id: str | None = None
    tags: tuple[str, ...] = ()
    region: str | None = None


class Signal(Struct, frozen=True):
    """A signal that a resource of the stack received; ``details`` is the body as it was sent."""

    id: str
    received_at: float
    details: Mapping[str, Any]


class Update(Struct, frozen=True):
    """The changes of an update."""

    previous: Mapping[str, Any] = field(default_factory=dict)  # properties before the update
    changed: frozenset[str] = frozenset()  # names of the properties that differ


class Inherited(Struct, frozen=True):
    """The settings that a separate stack (:class:`MakesStack`) inherits from its parent."""

    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)


class SnapshotFacts(Struct, frozen=True):
    """The snapshot of the object that is taken or removed."""

    name: str = ""  # unique name for the snapshot's object, with the intent token as a part
    # An earlier request may take effect until this time, so a missing object may still appear.
    lands_until: float = 0.0


NO_SNAPSHOT = SnapshotFacts()
NO_UPDATE = Update()
_NOTHING = Inherited()


class Call(Struct, frozen=True):
    """Everything that one call of a type's method may use."""

    stack: StackFacts
    name: str
    resource_id: str  # our own id of the resource, a UUID
    # Intent token: 12 characters, part of ``physical_name``; it identifies a lost create.
    token: str
    physical_name: str  # ``stack-resource-token``, shortened to the type's limit
    # Checked and converted, with defaults, and with ids for names. Absent values are None.
    properties: Mapping[str, Any]
    started_at: float
    now: float
    action: str = "CREATE"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    physical_id: str | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    update: Update = NO_UPDATE
    # Software configs of this project that the properties name, and the resource's own, by id. Only
    # for types that name or keep software.
    configs: Mapping[str, SoftwareConfig] = field(default_factory=dict)
    # The recorded software deployment of the resource, for types that keep software.
    deployment: Deployment | None = None
    inherited: Inherited = _NOTHING
    # By reference id (the value of ``get_resource``) of the signalled resources of this stack.
    signals: Mapping[str, Sequence[Signal]] = field(default_factory=dict)
    signal: Signal | None = None  # the signal that the type reacts to
    signalling: SignalCredentials | None = None
    snapshot: SnapshotFacts = NO_SNAPSHOT
    # Parts that other resources of the stack declare too, for types with ``shares``. Without those
    # of resources that are going to be removed, except in a create. They are determined when a
    # method first reads them, which may ask the cloud.
    shared: Set[str] = frozenset()
    # A ``stoker.clouds.cloud.Cloud`` for the stack's project, which can also be used as an
    # ``openstack.connection.Connection``; None without ``service``.
    cloud: Any = None

    @property
    def object_id(self) -> str:
        """The physical id, where the object is known to exist."""
        assert self.physical_id is not None
        return self.physical_id


class SignalCredentials(Protocol):
    """Creates addresses and credentials for calls from a server back to the service. Blocking.

    Every method is safe to repeat: existing objects are found by ``call.resource_id``.
    """

    def create_user(self, call: Call) -> Mapping[str, Any]:
        """A stack user: ``user_id``, ``username``, ``password``, ``project_id``."""

    def delete_user(self, call: Call) -> None:
        """Remove the stack user of this resource; none is fine."""

    def create_keypair(self, call: Call, user_id: str) -> Mapping[str, Any]:
        """EC2 credentials of a stack user: ``access`` and ``secret``; keep them as data."""

    def delete_keypair(self, call: Call, access: str) -> None:
        """Remove EC2 credentials; none is fine."""

    def user_id(self, call: Call, username: str) -> str | None:
        """The stack user of that name among those of this tree of stacks."""

    def signal_url(self, call: Call, project_id: str | None = None) -> str:
        """The REST address that accepts signals for this resource: from its stack user, unless
        another project is named.
        """

    def metadata_url(self, call: Call) -> str:
        """Return the address of the CloudFormation API for servers, as ``http://host:8000/v1/``."""

    def watch_url(self, call: Call) -> str:
        """Return the address of the CloudWatch API for servers, as ``http://host:8003/v1/``."""

    def presigned_url(self, call: Call, path: str, *, never_expire: bool = False) -> str:
        """A signed address of the CloudFormation endpoint (``waitcondition`` or ``signal``)."""

    def token(self, call: Call) -> str:
        """A token of this resource's stack user, whose credentials ``call.data`` holds."""
