"""Applied properties and other values, from rows of ``resource_properties_data``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.schema.resource_type import ResourceType
from stoker.schema.values import check_properties
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.documents import map_of


def values_of(row: Row, decryption: Decryption, place: str) -> Mapping[str, Any]:
    """Return the values in a row of ``resource_properties_data``."""
    where = f"{place}, resource_properties_data {row['id']}"
    found = map_of(row["data"], where)
    if not row["encrypted"]:
        return found
    return {name: decryption.pair(value, where) for name, value in found.items()}


def checked_properties(
    properties: Mapping[str, Any], type_: ResourceType | None
) -> tuple[Mapping[str, Any], Sequence[Diagnostic]]:
    """Return the properties as Stoker stores them, with defaults; as they are if refused."""
    if type_ is None:
        return properties, ()
    checked = check_properties(properties, type_.properties)
    return (properties, checked.errors) if checked.errors else (checked.values, ())
