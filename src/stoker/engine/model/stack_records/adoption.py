"""Data that an adopted stack gets from the document of an abandoned one.

A document may come from any user. It is read once, when it is sent, into a form with only the data
that an adoption needs. Its objects can be used only with the sender's own rights in the cloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.errors import BAD_REQUEST, ValidationError

_OWN = ("user_id", "project_id", "access")
_CREDENTIALS = frozenset(
    {*_OWN, "username", "password", "secret", "token", "alarm_url", "signed_url"}
)
_MAX_ID_CHARACTERS = 255
_MAX_DEPTH = 20  # bounds the recursion


def without_credentials(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a type's data about an object, without its stack user and the user's credentials.

    Stack users belong to the service. A document that names the user of another project must not
    cause the removal of that user.
    """
    if not any(name in data for name in _OWN):
        return dict(data)
    return {name: value for name, value in data.items() if name not in _CREDENTIALS}


def recorded_resources(document: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return the resources of a document by name, in their stored form.

    Raises :class:`stoker.kernel.errors.ValidationError` (400) for another shape.
    """
    if depth > _MAX_DEPTH:
        raise invalid_document("its stacks are nested too deep")
    found = {}
    for name, entry in section(document, "resources").items():
        if not isinstance(entry, Mapping):
            raise invalid_document(f"the resource {name[:80]} is not an object")
        physical_id = entry.get("resource_id")
        if not isinstance(physical_id, str | None) or len(physical_id or "") > _MAX_ID_CHARACTERS:
            raise invalid_document(f"the resource_id of {name[:80]} is not the id of an object")
        found[name] = {
            "physical_id": physical_id,
            "data": without_credentials(section(entry, "resource_data", name)),
            "resources": recorded_resources(entry, depth + 1) if "resources" in entry else None,
        }
    return found


def section(
    document: Mapping[str, Any], key: str, where: str = "the document"
) -> Mapping[str, Any]:
    """Return a part of a document, or an empty one. Raises ValidationError (400)."""
    value = document.get(key)
    if not isinstance(value, Mapping | None):
        raise invalid_document(f"{key} of {where[:80]} is not an object")
    return value or {}


def invalid_document(fault: str) -> ValidationError:
    """Return the error for a document that cannot be adopted."""
    return ValidationError(f"Invalid adopt data: {fault}", BAD_REQUEST)
