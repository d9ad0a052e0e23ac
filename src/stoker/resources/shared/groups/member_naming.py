"""Builds the nested template of groups and chains, and the outputs that expose their members.

The nested stack has an output for each referenced attribute, with the name of the attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in

VERSION = "2021-04-16"  # Of generated templates.

REFS = Attribute("References of the members, in order.", Type.LIST)
REFS_MAP = Attribute("References by name of the member.", Type.MAP, support=since("7.0.0"))
ATTRIBUTES = Attribute(
    "Map from each member to one of its attributes.",
    Type.MAP,
    of_members=True,
    support=since("2014.2"),
)

MEMBER = "resource."
_BY_NAME = "attributes."
MAX_MEMBERS = 10_000
MAX_VALUES = 500_000  # Values in the definitions of all members together.
_LONG_TEXT = 64


def gathered(own: Iterable[str], first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
    """Return the attribute that has one value for each member, and the path into each value.

    None for the group's ``own`` attributes, and for attributes of a single member.
    """
    if first == "attributes" and rest and isinstance(rest[0], str):
        return by_name(rest[0]), rest[1:]
    if first in own or first.startswith(MEMBER):
        return None
    return first, rest


def by_name(attribute: str) -> str:
    """Return the attribute of the group that maps each member to one of its attributes."""
    return _BY_NAME + attribute


def outputs(
    names: Sequence[str],
    own: Mapping[str, Attribute],
    used: Iterable[str],
    called: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the outputs of the nested stack: references, and the attributes that are used.

    ``called`` maps external names of members to their names in the nested stack.
    """
    known = {name: name for name in names} | dict(called or {})
    references = {name: {"get_resource": name} for name in names}
    values: dict[str, Any] = {"refs": list(references.values()), "refs_map": references}
    if "attributes" in own:
        values["attributes"] = {}
    for attribute in sorted(used):
        if attribute.startswith(MEMBER):
            name, _, inner = attribute.removeprefix(MEMBER).partition(".")
            if name in known and inner:
                values[attribute] = {"get_attr": [known[name], inner]}
            else:
                # If there is no such member, this raises an error that names it.
                values[attribute] = {"get_resource": known.get(name, name)}
        elif attribute.startswith(_BY_NAME):
            inner = attribute.removeprefix(_BY_NAME)
            values[attribute] = {name: {"get_attr": [name, inner]} for name in names}
        elif attribute in own and own[attribute].of_members:
            # The attribute was requested together with all others, without the name of a member's.
            values[attribute] = [] if own[attribute].type is Type.LIST else {}
        elif attribute not in own:
            values[attribute] = [{"get_attr": [name, attribute]} for name in names]
    return {name: {"value": value} for name, value in values.items()}


def template(resources: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return a generated template."""
    return {"heat_template_version": VERSION, "resources": dict(resources), "outputs": dict(shown)}


def are_known(properties: Mapping[str, Any], definition: str) -> bool:
    """Return whether the members are known, though some of their properties may not be.

    ``definition`` names the property that defines them.
    """
    member = properties.get(definition)
    others = [value for name, value in properties.items() if name != definition]
    if not isinstance(member, Mapping) or unknown_in(others) is not None:
        return False
    parts = [part for name, part in member.items() if name not in ("properties", "metadata")]
    return unknown_in(parts) is None


def written_at(path: Path, definition: str) -> Path | None:
    """Translate a path in the nested template to the place in the property that defines members."""
    return (definition, *path[2:]) if path[:1] == ("resources",) else None


def check_number(count: int, definition: Any = None) -> None:
    """Raise :class:`DiagnosticError` if there are too many members."""
    if count <= MAX_MEMBERS and count * _size(definition) <= MAX_VALUES:
        return
    message = (
        f"{count} such members are too many: at most {MAX_MEMBERS} fit into a group, with"
        f" {MAX_VALUES} values in all"
    )
    raise DiagnosticError([Diagnostic("too-many-members", message)])


def _size(value: Any) -> int:
    if isinstance(value, str):
        return 1 + len(value) // _LONG_TEXT
    if isinstance(value, Mapping):
        return 1 + sum(map(_size, value.values()))
    return 1 + sum(map(_size, value)) if isinstance(value, list) else 1
