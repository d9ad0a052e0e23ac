"""OS::Heat::ResourceGroup: a number of identical resources.

The members form a nested stack and are named by numbers, from 0. The data record the names that
removal policies have excluded; their numbers are skipped, so that a removed member does not return.

Tested by tests/groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, filterfalse, islice
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.shared.groups import member_naming
from stoker.resources.shared.groups.batches import BATCHED, ROLLING, in_batches
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Nested, NestingCall, NestingType
from stoker.schema.support import since


class ResourceGroup(NestingType):
    """A group of identical resources with numbers as names."""

    type_name = "OS::Heat::ResourceGroup"
    description = "A number of identical resources."
    support = since("2014.1")
    properties = {
        "count": declare.at_least(0, "Number of members.", default=1, update_allowed=True),
        "index_var": declare.string(
            "Placeholder for the member's number in properties and metadata.",
            default="%index%",
            constraints=(Length(min=3),),
            support=since("2014.2"),
        ),
        "resource_def": declare.mapping(
            "Definition of each member.",
            required=True,
            update_allowed=True,
            entries={
                "type": declare.string("Type of the members.", required=True),
                "properties": declare.mapping("Properties of the members."),
                "metadata": declare.mapping("Metadata of the members.", support=since("5.0.0")),
            },
        ),
        "removal_policies": declare.records(
            "Members to remove, by name, number or reference. Others are created in their place.",
            default=[],
            update_allowed=True,
            support=since("2015.1"),
            entries={
                "resource_list": declare.sequence(
                    "Names, numbers or references of members.", default=[]
                )
            },
        ),
        "removal_policies_mode": declare.choice(
            ["append", "update"],
            "Add removal policies to earlier ones, or replace the earlier ones.",
            default="append",
            update_allowed=True,
            support=since("10.0.0"),
        ),
    }
    attributes = {
        "refs": member_naming.REFS,
        "refs_map": member_naming.REFS_MAP,
        "attributes": member_naming.ATTRIBUTES,
        "removed_rsrc_list": Attribute(
            "Names excluded by removal policies.", Type.LIST, support=since("7.0.0")
        ),
    }
    update_policies = {
        "rolling_update": declare.mapping(
            "Rolling update of the members when their definition changes.", entries=ROLLING
        ),
        "batch_create": declare.mapping("Batches for the creation of members.", entries=BATCHED),
    }

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """Return the attribute that has one value for each member, and the path into each value."""
        return member_naming.gathered(self.attributes, first, rest)

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the members are known although some of their properties are not."""
        return member_naming.are_known(properties, "resource_def")

    def written_at(self, path: Path) -> Path | None:
        """Return the place of a member's definition; all members share it."""
        return member_naming.written_at(path, "resource_def")

    def nested(self, call: NestingCall) -> Nested:
        """Return the nested stack of the members, in batches if a policy requests that."""
        desired, removed = call.properties["count"], _removed(call)
        member_naming.check_number(desired, call.properties["resource_def"])
        names = list(islice(filterfalse(set(removed).__contains__, map(str, count())), desired))
        policy, batched = _batched(call, names)
        definition = call.properties["resource_def"]
        resources = {
            name: _member(definition, call.properties["index_var"], name) for name in names
        }
        shown = member_naming.outputs(names, self.attributes, call.attributes_used)
        shown["removed_rsrc_list"] = {"value": removed}
        return Nested(
            member_naming.template(resources, shown),
            data={"removed": removed},
            batches=in_batches(batched, policy),
            pause=float(policy.get("pause_time") or 0),
        )


def _removed(call: NestingCall) -> list[str]:
    """Return the names to skip: those of removal policies, and recorded ones in append mode.

    A policy matches existing members, and those that it removed before.
    """
    before = set(call.data.get("removed") or ())
    by_reference = {str(reference): name for name, reference in call.members.items()}
    found = before if call.properties["removal_policies_mode"] == "append" else set()
    for policy in call.properties["removal_policies"] or ():
        for entry in policy.get("resource_list") or ():
            name = str(entry)
            if name in before or name in call.members:
                found = found | {name}
            elif name in by_reference:
                found = found | {by_reference[name]}
    return sorted(found, key=lambda name: (len(name), name))


def _batched(call: NestingCall, names: list[str]) -> tuple[Mapping[str, Any], list[str]]:
    """Return the policy for batches, and its members.

    A changed definition updates all members; otherwise only new members are created.
    """
    rolling = call.update_policy.get("rolling_update")
    changes = call.previous.get("resource_def") != call.properties["resource_def"]
    if call.members and changes and rolling is not None:
        return rolling, names
    new = [name for name in names if name not in call.members]
    creating = call.update_policy.get("batch_create")
    return (creating, new) if creating is not None else ({}, [])


def _member(definition: Mapping[str, Any], index_var: str, name: str) -> dict[str, Any]:
    body: dict[str, Any] = {"type": definition["type"]}
    for part in ("properties", "metadata"):
        if definition.get(part):
            body[part] = _numbered(definition[part], index_var, name)
    directives = body.get("metadata", {}).get("stoker")
    if isinstance(directives, Mapping) and isinstance(directives.get("import"), list):
        # Each member imports the object with the id at its place; the others are created.
        ids, place = directives["import"], int(name)
        directives = {**directives, "import": ids[place] if place < len(ids) else ""}
        body["metadata"] = {**body["metadata"], "stoker": directives}
    return body


def _numbered(value: Any, index_var: str, number: str) -> Any:
    """Replace the variable by the member's number in all values, but not in keys."""
    if isinstance(value, str):
        return value.replace(index_var, number)
    if isinstance(value, Mapping):
        return {key: _numbered(inner, index_var, number) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_numbered(inner, index_var, number) for inner in value]
    return value
