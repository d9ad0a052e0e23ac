"""A type of resource: its declaration, and how its objects are made and removed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type.call import Call
from stoker.schema.resource_type.outcomes import Outcome
from stoker.schema.support import SUPPORTED, SupportStatus

VALUES = "values"  # in :attr:`ResourceType.uses_early`


class ResourceType(ABC):
    """The schema of a resource. One instance serves all resources of the type."""

    type_name: ClassVar[str]
    properties: ClassVar[Mapping[str, Property]] = {}
    attributes: ClassVar[Mapping[str, Attribute]] = {}
    description: ClassVar[str] = ""
    support: ClassVar[SupportStatus] = SUPPORTED
    # Service type of the catalog without which the type is not available, as ``network``.
    service: ClassVar[str | None] = None
    # Extension of the network service's API without which the type is not available.
    extension: ClassVar[str] = ""
    # Why no stack can have such a resource, in words that follow the name of the type.
    undeployable: ClassVar[str] = ""
    # All names of a renamed type: an object created under one is an object of each.
    also_named: frozenset[str] = frozenset()
    physical_name_limit: ClassVar[int] = 255
    # Form of the physical id, as ``ROUTER:subnet_id=SUBNET``; empty for the service's own id.
    id_form: ClassVar[str] = ""
    id_pattern: ClassVar[str] = ""  # that an id must match to be imported; empty for any
    # Why an existing object cannot become a resource of this type; empty if it can.
    not_importable: ClassVar[str] = ""
    # The service makes no second object for the same properties, so that a create whose answer got
    # lost may be sent again immediately. Unless the type ``finds_own``, the engine searches for
    # such an object before the first create, and fails if there is one: it belongs to others.
    unique: ClassVar[bool] = False
    # For a unique type: ``find`` returns only an object of this resource.
    finds_own: ClassVar[bool] = False
    # The kind of link that the physical id names, as "router interface", if it does not name the
    # object itself: equal ids mean the same object, also those of other types with this word. A
    # create that is called with such an id changes that object to the properties.
    link: ClassVar[str] = ""
    # Kinds of the parts that ``parts`` returns, as "route": only types with a common kind share.
    shares: ClassVar[frozenset[str]] = frozenset()
    # ``release`` deletes the object: it is called only if the object blocks the create of its
    # replacement, and not for one that is to be retained.
    release_deletes: ClassVar[bool] = False
    user_scoped: ClassVar[bool] = False  # each user of a project has their own links
    fixed_metadata: ClassVar[bool] = False  # a change of the metadata replaces the object
    # Properties whose values may be ids of software configs, at any depth; calls have these.
    names_software: ClassVar[frozenset[str]] = frozenset()
    # Calls have the software config or deployment of the resource.
    keeps_software: ClassVar[bool] = False
    # The object is kept by this service: an adopted resource gets its own new one.
    renewed: ClassVar[bool] = False
    # Attributes and stored data that previews hide, wherever they are used.
    secrets: ClassVar[frozenset[str]] = frozenset()
    # The objects hold data of their users, which no template can restore.
    has_data: ClassVar[bool] = False
    # The quota that an object counts against, as "network/port"; empty for none.
    quota: ClassVar[str] = ""
    # Under express: attributes with their final values as soon as a create answers with
    # ``Wait.early``.
    early_attributes: ClassVar[frozenset[str]] = frozenset()
    # Under express: a word for the object of such a create, for types that need only its id.
    early_kind: ClassVar[str] = ""
    # Under express: what a create can use before it is settled, :data:`VALUES` (early attributes of
    # any object) and early kinds. Empty if everything that the resource depends on must be settled.
    uses_early: ClassVar[frozenset[str]] = frozenset()
    # Under express: a delete is accepted while objects that were created with its values are still
    # being deleted.
    deleted_early: ClassVar[bool] = False
    # Update policies that the type knows, declared as properties are; empty for none.
    update_policies: ClassVar[Mapping[str, Property]] = {}
    capabilities: ClassVar[dict[object, bool]]  # cached results of :func:`can` for this class

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.capabilities = {}

    def reference(self, call: Call) -> Any:
        """Return the value of ``get_resource``:

        the physical id, or the name before there is one.
        """
        return call.physical_id if call.physical_id is not None else call.name

    def holds_data(self, properties: Mapping[str, Any]) -> bool:
        """Return whether a delete of an object with these properties deletes data of its users.

        Plans mark such deletes, and ask about them separately.
        """
        return self.has_data

    def updates_anyway(self, properties: Mapping[str, Any]) -> bool:
        """Return whether an object is updated although nothing has changed."""
        return False

    def foreseen(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the attributes that follow from properties only, so that previews show them.

        They are unknown where the properties are.
        """
        return {}

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return whether ``find`` returns only objects of this resource, for these properties."""
        return not self.unique or self.finds_own

    @property
    def kind(self) -> str:
        """Return the kind of the objects: equal ids of one kind mean the same object.

        Several types can have objects of one REST collection.
        """
        collection = getattr(self, "collection", None)
        plain = self.type_name if collection is None else f"{collection.service}{collection.path}"
        return self.link or plain

    def identity(self, physical_id: str, properties: Mapping[str, Any]) -> str:
        """Return a key of an object among its kind; ids may not be one, as those of attachments."""
        return physical_id

    def maker(self, shown: Mapping[str, Any]) -> str | None:
        """Return the object that another one, as its service shows it, is a part of; or None."""
        return None

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        """Return objects that only one resource can use at a time: unique text to description.

        An update creates before it deletes, so a new resource cannot take such an object over from
        one that is deleted by the same update. Plans refuse that.
        """
        return {}

    def quota_use(self, properties: Mapping[str, Any]) -> Mapping[str, int]:
        """Return the use of an object with these properties, by :mod:`stoker.schema.quotas` key.

        Unknown values are left out.
        """
        return {self.quota: 1} if self.quota else {}

    def service_for(self, properties: Mapping[str, Any]) -> str | None:
        """The service that calls with these properties use; one without calls none and needs no
        connection.
        """
        return self.service


class ManagedType(ResourceType):
    """A type whose objects are made and removed by calls."""

    @abstractmethod
    def create(self, call: Call) -> Outcome:
        """Make the object. Called first without, later with ``call.physical_id``."""

    @abstractmethod
    def delete(self, call: Call) -> Outcome:
        """Remove the object. A physical id of None, or an object that is gone, is ``Done()``."""
