"""OS::Heat::ResourceChain: resources of several types with the same properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.shared.groups import member_naming
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Nested, NestingCall, NestingType
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in


class ResourceChain(NestingType):
    """A nested stack with a member for each type, named by the position in the list."""

    type_name = "OS::Heat::ResourceChain"
    description = "Resources of several types with the same properties, created one after another."
    support = since("6.0.0")
    properties = {
        "resources": declare.sequence(
            "Types of the members, in order.", required=True, update_allowed=True
        ),
        "concurrent": declare.boolean("Create the members at the same time.", default=False),
        "resource_properties": declare.mapping("Properties of every member."),
    }
    attributes = {
        "refs": member_naming.REFS,
        "attributes": Attribute(
            "Map from each member to one of its attributes.", Type.MAP, of_members=True
        ),
    }

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """Return the attribute that has one value for each member, and the path into each value."""
        return member_naming.gathered(self.attributes, first, rest)

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the members are known although some of their properties are not."""
        others = [value for name, value in properties.items() if name != "resource_properties"]
        return unknown_in(others) is None

    def written_at(self, path: Path) -> Path | None:
        """Translate a path in the nested template: to the list of types, or to the shared
        properties."""
        if path[:1] != ("resources",) or len(path) == 1:
            return None
        if path[2:3] == ("properties",):
            return ("resource_properties", *path[3:])
        return ("resources", int(path[1]))

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack. Each member depends on the previous one, unless concurrent."""
        member_naming.check_number(len(call.properties["resources"]))
        resources: dict[str, Any] = {}
        for position, type_name in enumerate(call.properties["resources"]):
            body: dict[str, Any] = {"type": str(type_name)}
            if call.properties.get("resource_properties"):
                body["properties"] = call.properties["resource_properties"]
            if position and not call.properties["concurrent"]:
                body["depends_on"] = [str(position - 1)]
            resources[str(position)] = body
        shown = member_naming.outputs(list(resources), self.attributes, call.attributes_used)
        return Nested(member_naming.template(resources, shown))
