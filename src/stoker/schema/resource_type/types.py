"""A type of resource: its declaration, and how its objects are made and removed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type.call import Call
from stoker.schema.resource_type.outcomes import Outcome
from stoker.schema.support import SUPPORTED, SupportStatus


class ResourceType(ABC):
    """What a template may say of a resource. One instance serves all resources of the type."""

    type_name: ClassVar[str]
    properties: ClassVar[Mapping[str, Property]] = {}
    attributes: ClassVar[Mapping[str, Attribute]] = {}
    description: ClassVar[str] = ""
    support: ClassVar[SupportStatus] = SUPPORTED
    service: ClassVar[str | None] = None
    """Service type of the catalog without which the type is not available, as ``network``."""
    extension: ClassVar[str] = ""
    """Extension of the network service's API without which the type is not available."""
    undeployable: ClassVar[str] = ""
    """Why no stack can have such a resource, in words that follow the name of the type."""
    also_named: frozenset[str] = frozenset()
    """All names of the type if it was renamed: an object made under one is an object of each."""
    physical_name_limit: ClassVar[int] = 255
    unique: ClassVar[bool] = False
    """The service makes no second object for the same properties, so that a create whose answer got
    lost may be sent again immediately. Unless the type ``finds_own``, the engine searches for such
    an object before the first create, and fails if there is one: it belongs to others."""
    finds_own: ClassVar[bool] = False
    """Of a unique type: ``find`` sees only what this resource has made, or there is no object."""
    link: ClassVar[str] = ""
    """What the physical id names, as "router interface", where it says what the object is and not
    which: equal ids mean the same object, also those of other types with this word. A create that
    is called with such an id brings that object to the properties."""
    shares: ClassVar[frozenset[str]] = frozenset()
    """Kinds of the parts that ``parts`` names, as "route": only types with a common kind share."""
    release_deletes: ClassVar[bool] = False
    """``release`` deletes the object: it is called only if the object blocks the create of its
    replacement, and not for one that is to be retained."""
    user_scoped: ClassVar[bool] = False
    """Each user of a project has links of their own."""
    fixed_metadata: ClassVar[bool] = False
    """A change of the metadata makes a new object."""
    names_software: ClassVar[frozenset[str]] = frozenset()
    """Properties whose values may be ids of software configs, at any depth: calls have these."""
    keeps_software: ClassVar[bool] = False
    """Calls have the software config or deployment that the resource is."""
    renewed: ClassVar[bool] = False
    """What stands behind a resource is kept by this service: an adopted one gets its own anew."""
    secrets: ClassVar[frozenset[str]] = frozenset()
    """Names of the attributes and stored data that previews do not show, wherever they are used."""
    has_data: ClassVar[bool] = False
    """The objects hold data of their users, which no template can restore."""
    capabilities: ClassVar[dict[object, bool]]
    """What :func:`can` has found out about this class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.capabilities = {}

    def reference(self, call: Call) -> Any:
        """What ``get_resource`` gives: the physical id, and the name before there is one."""
        return call.physical_id if call.physical_id is not None else call.name

    def holds_data(self, properties: Mapping[str, Any]) -> bool:
        """Return whether a delete of an object with these properties deletes data of its users.

        Plans mark such deletes, and ask about them separately.
        """
        return self.has_data

    def shows_owner(self, properties: Mapping[str, Any]) -> bool:
        """Return whether ``find`` returns only objects of this resource, for these properties."""
        return not self.unique or self.finds_own

    def identity(self, physical_id: str, properties: Mapping[str, Any]) -> str:
        """Return a key of an object among its kind; ids may not be one, as those of attachments."""
        return physical_id

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        """Return objects that only one resource can use at a time: unique text to description.

        An update creates before it deletes, so a new resource cannot take such an object over from
        one that is deleted by the same update. Plans refuse that.
        """
        return {}

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
