"""Change sets of type IMPORT: existing objects that become resources of a stack.

Reads the parameter ``ResourcesToImport`` of CreateChangeSet. AWS identifies an object by one or
more named values; here each type has one id, so that the name of the value does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.imports import MOST_IMPORTS
from stoker.kernel.errors import MISSING_PARAMETER, ValidationError
from stoker.kernel.values import replace

IMPORT = "IMPORT"
IDENTIFIER = "Id"  # name of the id of every type, in template summaries
_MEMBER = re.compile(
    r"ResourcesToImport\.member\.([0-9]{1,4})\."
    r"(ResourceType|LogicalResourceId|ResourceIdentifier\.entry\.([0-9]{1,2})\.(key|value))",
    re.ASCII,
)


def importing(parameters: Mapping[str, str], request: StackRequest) -> StackRequest:
    """Return the request with the objects to import.

    Raises ValidationError (400) for objects that are not described completely.
    """
    found: dict[str, str] = {}
    for place, member in _members(parameters).items():
        where = f"ResourcesToImport.member.{place}"
        for key in ("ResourceType", "LogicalResourceId"):
            if not member.get(key):
                raise _missing(f"{where}.{key}")
        ids = [value for key, value in member.items() if key.endswith(".value")]
        if not ids or not ids[0]:
            raise _missing(f"{where}.ResourceIdentifier.entry.1.value")
        if len(ids) > 1:
            message = f"{where} has {len(ids)} identifiers; every type here has one, its id."
            raise ValidationError(message)
        found[member["LogicalResourceId"]] = ids[0]
    if not found:
        raise _missing("ResourcesToImport.member.1.LogicalResourceId")
    if len(found) > MOST_IMPORTS:
        raise ValidationError(f"A change set imports at most {MOST_IMPORTS} objects.")
    return replace(request, import_objects=found, is_import=True)


def require_types(parameters: Mapping[str, str], types: Mapping[str, str]) -> None:
    """Raise ValidationError (400) for an object of another type than its resource.

    ``types`` has the types of the importable resources of the template.
    """
    for member in _members(parameters).values():
        name, type_name = member.get("LogicalResourceId", ""), member.get("ResourceType", "")
        declared = types.get(name, type_name)
        if declared != type_name:
            message = f"The resource {name:.150} is a {declared}, not a {type_name:.150}."
            raise ValidationError(message)


def _members(parameters: Mapping[str, str]) -> dict[int, dict[str, str]]:
    """Return the parts of each object, by number."""
    members: dict[int, dict[str, str]] = {}
    for written, value in parameters.items():
        if (match := _MEMBER.fullmatch(written)) is not None:
            members.setdefault(int(match[1]), {})[match[2]] = value
    return {place: members[place] for place in sorted(members)}


def _missing(name: str) -> ValidationError:
    return ValidationError(f"The request needs the parameter {name}.", MISSING_PARAMETER)
