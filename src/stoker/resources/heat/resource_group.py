"""A number of identical resources, as the members of a nested stack."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, filterfalse, islice
from typing import Any

from stoker.kernel.diagnostics import Path
from stoker.resources.base import declare
from stoker.resources.shared import member_naming
from stoker.resources.shared.batches import BATCHED, ROLLING, in_batches
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Nested, NestingCall, NestingType
from stoker.schema.support import since


class ResourceGroup(NestingType):
    """Members are named by numbers; the number of a removed member is not reused."""

    type_name = "OS::Heat::ResourceGroup"
    description = "A number of identical resources."
    support = since("2014.1")
    properties = {
        "count": declare.at_least(0, "Number of members.", default=1, update_allowed=True),
        "index_var": declare.string(
            "Placeholder for the number of the member in properties and metadata.",
            default="%index%",
            constraints=(Length(min=3),),
            support=since("2014.2"),
        ),
        "resource_def": declare.mapping(
            "The definition of each member.",
            required=True,
            update_allowed=True,
            entries={
                "type": declare.string("Type of the members.", required=True),
                "properties": declare.mapping("Properties of the members."),
                "metadata": declare.mapping("Metadata of the members.", support=since("5.0.0")),
            },
        ),
        "removal_policies": declare.records(
            "Members to remove, by name, number or reference; the group creates others instead.",
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
            "Whether the removal policies add to earlier ones or replace them.",
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
            "How members are updated when their definition changes.", entries=ROLLING
        ),
        "batch_create": declare.mapping("How new members are created.", entries=BATCHED),
    }

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that holds a value for each member, and the path into each of them."""
        return member_naming.gathered(self.attributes, first, rest)

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the members are known before all of their properties are."""
        return member_naming.are_known(properties, "resource_def")

    def written_at(self, path: Path) -> Path | None:
        """Return the place of a member's definition, which is that of all members."""
        return member_naming.written_at(path, "resource_def")

    def nested(self, call: NestingCall) -> Nested:
        """The members, in batches if a policy says so."""
        wanted, removed = call.properties["count"], _removed(call)
        member_naming.check_number(wanted, call.properties["resource_def"])
        names = list(islice(filterfalse(set(removed).__contains__, map(str, count())), wanted))
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
    """Names that are not to be used: recorded ones unless replaced, and those that policies name.

    A policy applies to members that exist, or that it has removed before.
    """
    before = set(call.data.get("removed") or ())
    by_reference = {str(reference): name for name, reference in call.members.items()}
    found = before if call.properties["removal_policies_mode"] == "append" else set()
    for policy in call.properties["removal_policies"] or ():
        for entry in policy.get("resource_list") or ():
            wanted = str(entry)
            if wanted in before or wanted in call.members:
                found = found | {wanted}
            elif wanted in by_reference:
                found = found | {by_reference[wanted]}
    return sorted(found, key=lambda name: (len(name), name))


def _batched(call: NestingCall, names: list[str]) -> tuple[Mapping[str, Any], list[str]]:
    """The policy that holds, and for whom: for all members when their definition changes, else
    for the new ones alone.
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
    return body


def _numbered(value: Any, index_var: str, number: str) -> Any:
    """The value with the variable replaced by the number of the member; keys are unchanged."""
    if isinstance(value, str):
        return value.replace(index_var, number)
    if isinstance(value, Mapping):
        return {key: _numbered(inner, index_var, number) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_numbered(inner, index_var, number) for inner in value]
    return value
