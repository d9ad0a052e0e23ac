"""Properties that must hold after every scenario, whatever died in it.

Each check yields violations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from stoker.dispatch.in_process import LOOK_AGAIN
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import (
    Action,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
)
from tests.simulation.cloud import IMAGE
from tests.simulation.disk import LOCKED
from tests.simulation.expectations import WALKS, expectations
from tests.simulation.outcome import Outcome

GRACE = 10.0
TIES = ("Sim::Tie", "Sim::Knot")
_ENDED = (OperationStatus.COMPLETE, OperationStatus.FAILED)


def violations(outcome: Outcome) -> Iterator[str]:
    """Everything that is wrong."""
    yield from outcome.cloud.violations
    if outcome.stack is None:
        if outcome.cloud.objects:
            yield "P3: objects without a stack"
        return
    yield from outcome.torn
    yield from outcome.unheard
    yield from expectations(outcome)
    yield from _finished(outcome, outcome.stack)
    yield from _final_events(outcome)
    yield from _objects(outcome)
    yield from _ties(outcome)
    yield from _signals(outcome)
    yield from _readings(outcome)
    yield from _events_match_rows(outcome)
    yield from _in_time(outcome)
    yield from _rolled_back(outcome, outcome.stack)
    yield from _scaled(outcome)
    yield from _acted(outcome)
    yield from _up_to_date(outcome, outcome.stack)
    yield from _hooks(outcome)
    yield from _resting(outcome, outcome.stack)


def _resting(outcome: Outcome, stack: Stack) -> Iterator[str]:
    """Check that suspended objects are suspended, and resumed ones are not."""
    things = [
        row
        for row in outcome.everything
        if row.implementation == "Sim::Thing" and row.action is not Action.INIT
    ]
    for row in things:
        found = outcome.cloud.objects.get(row.physical_id or "")
        if found is None or row.status is not Status.COMPLETE:
            continue
        if row.action in (Action.SUSPEND, Action.RESUME) and found.rests is not (
            row.action is Action.SUSPEND
        ):
            yield f"P5: {row.name} is {row.action}_COMPLETE, its object rests: {found.rests}"
    # what rests cannot be changed, not even by a signal to a policy
    rests = (stack.action, stack.status) == (Action.SUSPEND, Status.COMPLETE)
    for row in things if rests else ():
        if row.replaced_by is None and (row.action, row.status) != (stack.action, stack.status):
            yield f"P5: {row.name} is {row.action}_{row.status} in a stack that rests"


def _finished(outcome: Outcome, stack: Stack) -> Iterator[str]:
    if stack.status is Status.IN_PROGRESS:
        yield f"P1: the stack stays {stack.action}_{stack.status}"
    for operation in outcome.operations:
        if not operation.status.final:
            yield f"P2: the operation {operation.action} stays {operation.status}"
        if operation.deadline is None:
            yield f"P1: the operation {operation.action} has no deadline"
    for row in outcome.everything:
        if row.status is Status.IN_PROGRESS:
            yield f"P1: {row.name} stays {row.action}_{row.status}"


def _ended(outcome: Outcome) -> list[Operation]:
    """The operations that have taken the stack to an end of its own."""
    return [op for op in outcome.operations if op.status in _ENDED and op.action != Action.SIGNAL]


def _final_events(outcome: Outcome) -> Iterator[str]:
    ended = [
        (op.action, Status.COMPLETE if op.status is OperationStatus.COMPLETE else Status.FAILED)
        for op in _ended(outcome)
    ]
    told = [(event.action, event.status) for event in outcome.told]
    if sorted(ended) != sorted(told):
        yield f"P2: operations ended {ended}, events told {told}"


def _in_time(outcome: Outcome) -> Iterator[str]:
    # an engine that comes back may take a stack with it: the other looks again after a while
    returns = sum(kill.returns for kill in outcome.scenario.kills)
    locked = LOCKED * ("locked" in outcome.scenario.disk.values())  # nothing can be written then
    for operation, event in zip(_ended(outcome), outcome.told, strict=False):
        late = event.time - (operation.deadline or event.time)
        if late > GRACE + LOOK_AGAIN * returns + locked:
            yield f"P1: {operation.action} ended {late:.1f} s after its time limit"


def _rolled_back(outcome: Outcome, stack: Stack) -> Iterator[str]:
    if (stack.action, stack.status) != (Action.ROLLBACK, Status.COMPLETE):
        return
    rows = {row.name: row for row in outcome.rows}
    wanted = (outcome.back_to or {}).get("resources", {})
    if set(rows) != set(wanted):
        yield f"P8: rolled back to {sorted(rows)} instead of {sorted(wanted)}"
    for name in set(rows) & set(wanted):
        for key, value in wanted[name]["properties"].items():
            if (
                name != "nest"
                and not _is_computed(value)
                and rows[name].properties.get(key) != value
            ):
                yield f"P8: {name}.{key} is {rows[name].properties.get(key)}, not {value}"


def _is_computed(value: object) -> bool:
    """Return whether a value of a template has functions in it."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_computed, value)))


def _events_match_rows(outcome: Outcome) -> Iterator[str]:
    for row in outcome.rows:
        told = [e for e in outcome.events if e.resource_id == row.id and e.action != Action.SIGNAL]
        last = (told[-1].action, told[-1].status) if told else None
        replaced = row.replaced_by is not None
        if not replaced and row.action is not Action.INIT and last != (row.action, row.status):
            yield f"P2: {row.name} is {row.action}_{row.status}, its last event says {last}"


def _repaired(outcome: Outcome, row: Resource) -> bool:
    """Return whether the last operation of the stack is an update that converged.

    It compares the objects that exist at its start.
    """
    stack, changes = outcome.stack, [op for op in outcome.operations if op.input_id]
    updated = stack is not None and (stack.action, stack.status) == (Action.UPDATE, Status.COMPLETE)
    made = [e.time for e in outcome.events if e.resource_id == row.id and e.action == "CREATE"]
    return updated and changes[-1].converges and max(made, default=0) < changes[-1].created_at


def _objects(outcome: Outcome) -> Iterator[str]:
    everything = outcome.everything
    known = {row.physical_id for row in everything}
    tokens = {row.token for row in everything}
    for found in outcome.cloud.objects.values():
        images = outcome.images if found.kind == IMAGE else {}
        known_token = found.token in (tokens | images.keys())
        free = found.id in outcome.cloud.by_hand or found.name in outcome.scenario.released
        if found.id not in known and not known_token and not free:
            yield f"P3: nobody knows of {found.id}"
    left = {found.name for found in outcome.cloud.objects.values()}
    for name in sorted(outcome.scenario.released - left):
        yield f"P9: the object of {name}, which was released, is gone"
    for row in everything:
        built = row.status is Status.COMPLETE and row.implementation == "Sim::Thing"
        built = built and row.action not in (Action.INIT, Action.DELETE)
        built = built and not (row.name in outcome.scenario.meddled and not _repaired(outcome, row))
        deleted = row.action is Action.DELETE and row.status is Status.COMPLETE
        if deleted and row.physical_id in outcome.cloud.objects:
            yield f"P3: the object of {row.name} is not deleted"
        if built and row.physical_id not in outcome.cloud.objects:
            yield f"P3: the object of {row.name} is gone"
        if built and row.physical_id in outcome.cloud.objects:
            have = outcome.cloud.objects[row.physical_id].properties
            want = row.properties
            if {k: v for k, v in have.items() if v} != {k: v for k, v in want.items() if v}:
                yield f"P8: {row.name} is {have}, recorded is {want}"


def _ties(outcome: Outcome) -> Iterator[str]:
    """P9: each resource still has its own object, and objects made by hand still exist."""
    cloud, owned = outcome.cloud, set()
    vanished = any(request.cloud.startswith("vanish") for request in outcome.scenario.requests)
    for row in outcome.everything:
        if row.implementation not in TIES or row.physical_id is None:
            continue
        owned.add(row.physical_id)
        complete = row.status is Status.COMPLETE and row.action is not Action.DELETE
        if complete and row.physical_id not in cloud.ties and not vanished:
            yield f"P9: the tie of {row.name} is gone"
        content = row.properties.get("content")
        if complete and content not in (None, cloud.contents.get(row.physical_id)) and not vanished:
            yield f"P8: the tie of {row.name} has another content"
        if complete and row.physical_id in cloud.foreign:
            yield f"P9: {row.name} is complete with a tie that is not its own"
    for name in sorted(cloud.foreign - cloud.ties):
        yield f"P9: the tie {name}, which was made by hand, is gone"
    if outcome.stack is not None and not any(row.asked for row in outcome.everything):
        for name in sorted(cloud.ties - owned - cloud.foreign):
            yield f"P3: nobody knows of the tie {name}"


def _signals(outcome: Outcome) -> Iterator[str]:
    for row in outcome.rows:
        stored = [
            s.details["number"]
            for s in outcome.signals
            if s.resource_id == row.id and "number" in s.details
        ]
        answered = outcome.acknowledged.count(row.id)
        if len(stored) < answered:
            yield f"P6: {answered} signals were answered, {stored} are kept"
        if any(stored.count(number) > outcome.tries.count(number) for number in stored):
            yield f"P6: a signal counts twice: {stored}"


def _hooks(outcome: Outcome) -> Iterator[str]:
    """Check that events report each hook and each release once, and operations restart cleanly."""
    standing: dict[str | None, str] = {}
    for event in outcome.events:
        if event.resource_id is None and event.status is Status.IN_PROGRESS:
            standing.clear()
        elif " paused until Hook " in event.reason:
            if event.resource_id in standing:
                yield f"P6: {event.resource_name} comes to a hook from a hook: {event.reason}"
            standing[event.resource_id] = event.reason.split()[-3]
        elif event.reason.startswith("Hook "):
            hook = event.reason.split()[1]
            if standing.pop(event.resource_id, None) != hook:
                yield f"P6: {event.resource_name} was not at the hook {hook}, which is cleared"
    last = outcome.operations[-1]
    if last.action is Action.ROLLBACK and any(
        " paused until Hook " in event.reason and event.time > last.created_at
        for event in outcome.events
    ):
        yield "P8: a rollback stops at a hook"
    # one request clears the hooks of all rows of a name, and may come just when they are cleared
    left = {clear.received_at for clear in outcome.signals if "unset_hook" in clear.details}
    if len(left) > 2:
        yield f"P6: {len(left)} clears of hooks are left behind"


def _scaled(outcome: Outcome) -> Iterator[str]:
    """Each signal to the policy changes the size by one at most."""
    signals = [op for op in outcome.operations if op.kind is OperationKind.SCALE]
    if any(op.action is Action.RESTORE for op in outcome.operations):
        return  # a group goes back to the size that it had
    named = [row for row in outcome.rows if row.name == "group" and row.replaced_by is None]
    group = next(iter(named), None)
    size = 1
    for signal in signals:
        found = re.match(r"group: from (\d+) to (\d+) members", signal.reason)
        if found is None:
            continue
        before, after = map(int, found.groups())
        if (before, after) != (size, size + 1):
            yield f"P6: a signal changed the size from {before} to {after}, it was {size}"
        size = after
    if group is not None and "names" in group.data and len(group.data["names"]) != size:
        yield f"P6: the group has {len(group.data['names'])} members, signals made it {size}"


def _acted(outcome: Outcome) -> Iterator[str]:
    """Each answered signal, and each alarm, is one operation."""
    called: Counter[str] = Counter()
    for name, changes in _changes_of_alarms(outcome):
        state = "NODATA"
        for before, after, heard in changes:
            if before != state:
                yield f"P6: the alarm was {state}, and went from {before} to {after}"
            state = after
            called[name] += after == "ALARM" and heard
    for name, kind in (("policy", OperationKind.SCALE), ("restarter", OperationKind.RESTART)):
        kept = sum(op.kind is kind for op in outcome.operations)
        least, most = (told[name] + called[name] for told in (outcome.answered_by, outcome.sent_to))
        if not least <= kept <= most:
            yield f"P6: {least} to {most} signals came to the {name}, {kept} are kept"


def _changes_of_alarms(
    outcome: Outcome,
) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
    """For each alarm that there was: whom it signals, and its states before and after a change,
    with whether anybody heard of it.
    """
    told: dict[str, list[tuple[str, str, bool]]] = {}
    for event in outcome.events:
        found = re.match(r"(\w+) -> (\w+): ", event.reason)
        if found is not None and event.resource_name == "alarm" and event.resource_id:
            heard = "name nothing in this stack" not in event.reason
            told.setdefault(event.resource_id, []).append((*found.groups(), heard))
    template = outcome.scenario.requests[0].template or {}
    for changes in told.values():
        [action] = template["resources"]["alarm"]["properties"]["AlarmActions"]
        yield action["get_resource"], changes


def _up_to_date(outcome: Outcome, stack: Stack) -> Iterator[str]:
    """Check that references to values of other objects have today's value."""
    changes = [event for event in outcome.told if event.action not in WALKS]
    if stack.status is not Status.COMPLETE or changes[-1].status is not Status.COMPLETE:
        return  # a walk may follow an update that has reached nothing
    rows = {row.name: row for row in outcome.rows}
    for name, row in rows.items():
        value = outcome.wanted.get(name, {}).get("properties", {}).get("value")
        if not isinstance(value, dict) or name == "nest":
            continue
        source = rows[value["get_attr"][0]]
        found = outcome.cloud.objects.get(source.physical_id or "")
        if found is not None and row.properties["value"] != found.properties["value"]:
            yield f"P5: {name} has an old value of {source.name}: {row.properties['value']}"


def _readings(outcome: Outcome) -> Iterator[str]:
    for before, after in zip(outcome.readings, outcome.readings[1:], strict=False):
        if after < before:
            yield f"P7: a read went back from {before} to {after}"
