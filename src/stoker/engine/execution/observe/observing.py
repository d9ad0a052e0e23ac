"""Reads the live object of a resource, and compares it with the applied properties.

Properties are recorded as the user gave them, also with names, but objects have ids. A name is
looked up only if its property would differ otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.build import lookups_of, with_ids
from stoker.engine.execution.session import StackRows
from stoker.kernel.errors import NotFoundError
from stoker.kernel.ids import TOKEN_LENGTH
from stoker.kernel.values import replace
from stoker.schema.drift import SAME, Comparison, Difference, compare
from stoker.schema.resource_type import (
    Call,
    Done,
    Expects,
    ManagedType,
    Observes,
    Outcome,
    ResourceType,
    Updates,
    can,
)
from stoker.schema.words import shown

# End of generated names, also of adopted objects with tokens of other stacks.
_GENERATED = re.compile(rf"-[a-z2-7]{{{TOKEN_LENGTH}}}\Z")


class Observation(Struct, frozen=True):
    """The result of a comparison with a live object."""

    gone: bool = False
    found: Comparison = SAME
    unread: str | None = None  # why the object was not compared


def comparison_with_live(
    stack_rows: StackRows, type_: ManagedType
) -> Callable[[Call], Observation] | None:
    """Return the function that compares objects of a type, for a worker thread, or None."""
    if not can(type_, Observes):
        return None
    observed = type_

    def live(call: Call) -> Observation:
        observation = observation_of(observed, call)
        differing = {each.name for each in observation.found.differences}
        properties, unknown = _with_ids(stack_rows, type_, call.properties, differing)
        if properties is not call.properties:
            observation = observation_of(observed, replace(call, properties=properties))
        if not unknown:
            return observation
        known = tuple(each for each in observation.found.differences if each.name not in unknown)
        unreported = (*observation.found.unreported, *sorted(unknown))
        return replace(observation, found=Comparison(known, unreported))

    return live


def check_by(
    stack_rows: StackRows, type_: ManagedType, check: Callable[[Call], Outcome]
) -> Callable[[Call], Outcome]:
    """Return the check of a type, with external changes in its reason."""
    compare_live = comparison_with_live(stack_rows, type_)
    if compare_live is None:
        return check

    def checked(call: Call) -> Outcome:
        outcome = check(call)
        if not isinstance(outcome, Done) or call.physical_id is None:
            return outcome
        found = compare_live(call).found.differences
        changes = [
            f"{each.name} is {shown(each.live)} instead of {shown(each.applied)}" for each in found
        ]
        reason = f"changed outside of the stack: {'; '.join(changes)}" if changes else None
        return replace(outcome, reason=reason)

    checked.__name__ = check.__name__
    return checked


def repairable(type_: ResourceType | None, observation: Observation) -> dict[str, Difference]:
    """Return the differences that an update can set back in place, by property."""
    if type_ is None or not can(type_, Updates):
        return {}
    schema = type_.properties
    return {
        each.name: each
        for each in observation.found.differences
        if schema[each.name].update_allowed and not schema[each.name].immutable
    }


def observation_of(type_: Observes, call: Call) -> Observation:
    """Return one comparison. Names among the properties must be ids where objects have ids."""
    live = type_.live(call)
    if live is None:
        return Observation(gone=True)
    expected = type_.expected(call) if can(type_, Expects) else call.properties
    if "name" in live and not expected.get("name"):
        # An imported object may have no name.
        own = live["name"] and not _GENERATED.search(str(live["name"]))
        expected = {**expected, "name": call.physical_name if own else None}
    assert isinstance(type_, ManagedType)
    return Observation(found=compare(type_.properties, expected, live))


def _with_ids(
    stack_rows: StackRows, type_: ManagedType, properties: Mapping[str, Any], names: Collection[str]
) -> tuple[Mapping[str, Any], set[str]]:
    """Return the properties with ids for names, and the properties whose names do not exist.

    Only the properties in ``names`` are resolved.
    """
    lookups = [each for each in lookups_of(type_, properties) if each.path[0] in names]
    ports, unknown = stack_rows.ports, set()
    ids: dict[int, str] = {}
    for index, each in enumerate(lookups):
        try:
            ids[index] = ports.clouds.lookup(stack_rows.stack, [each])[0]
        except NotFoundError:
            ids[index] = each.value
            unknown.add(str(each.path[0]))
    return with_ids(properties, lookups, ids) if lookups else properties, unknown
