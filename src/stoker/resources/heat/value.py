"""OS::Heat::Value: holds a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.schema.conversion import (
    TypeMismatchError,
    to_boolean,
    to_list,
    to_map,
    to_number,
    to_string,
)
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import VALUES, Call, Done, ManagedType, Outcome
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in

_FITS: Mapping[str, Callable[[Any], Any]] = {
    "string": to_string,
    "number": to_number,
    "comma_delimited_list": to_list,
    "json": to_map,
    "boolean": to_boolean,
}


class Value(ManagedType):
    """An expression that is evaluated once and used in several places."""

    type_name = "OS::Heat::Value"
    uses_early = frozenset({VALUES})
    description = "Holds a value, so that an expression can be used in several places."
    support = since("7.0.0")
    properties = {
        "type": declare.choice(
            ["string", "number", "comma_delimited_list", "json", "boolean"],
            "Required type of the value.",
            update_allowed=True,
        ),
        "value": Property(Type.ANY, "The value.", required=True, update_allowed=True),
    }
    attributes = {"value": Attribute("The value.")}

    def create(self, call: Call) -> Outcome:
        """Store the value."""
        return Done(physical_id=call.physical_name, attributes=self.foreseen(call.properties))

    def update(self, call: Call) -> Outcome:
        """Store the new value."""
        return Done(attributes=self.foreseen(call.properties))

    def foreseen(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the value as it will be, for previews."""
        return {"value": properties["value"]}

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete."""
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the value has the required type."""
        kind, value = properties["type"], properties["value"]
        if kind is None or value is None or unknown_in([kind, value]) is not None:
            return ()
        try:
            _FITS[kind](value)
        except TypeMismatchError as mismatch:
            return (Diagnostic("wrong-type", str(mismatch), ("value",)),)
        return ()
