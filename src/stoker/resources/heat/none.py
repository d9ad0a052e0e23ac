"""OS::Heat::None: accepts all properties and does nothing."""

from __future__ import annotations

from stoker.schema.properties import AnyAttribute, AnyName
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import since


class NoneResource(ManagedType):
    """A type that environments map other types to, to disable them."""

    type_name = "OS::Heat::None"
    description = "Does nothing: accepts all properties, and all its attributes are empty."
    support = since("5.0.0")
    properties = AnyName()
    attributes = AnyAttribute()

    def create(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to create."""
        return Done(physical_id=call.resource_id)

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()
