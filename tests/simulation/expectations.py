"""The expected outcome of a scenario, judged by the scenario, by pictures, and by the cloud.

Nothing here asks the engine for its intent: a rollback is compared with the state before, an end
with the end that the scenario must lead to, times with those of a run without deaths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stoker.engine.model.records import Action, Event, OperationStatus, Status
from tests.simulation.album import Picture
from tests.simulation.outcome import Outcome
from tests.simulation.scenario import Scenario
from tests.simulation.wire import REQUEST_TIMEOUT

WALKS = ("SUSPEND", "RESUME", "CHECK", "SNAPSHOT")  # actions that keep the desired state of a stack


def expectations(outcome: Outcome) -> Iterator[str]:
    """Everything that has not come as it must."""
    yield from (f"P1: nobody drives the {operation}" for operation in outcome.asleep)
    yield from _ends(outcome)
    yield from _signals_applied(outcome)
    yield from _scaled(outcome)
    yield from _restarted(outcome)
    yield from _alarms(outcome)
    yield from _applied(outcome)
    yield from _emptied(outcome)
    yield from _went_back(outcome)
    yield from _contents(outcome)
    yield from _exported(outcome)
    yield from _executed(outcome)
    if outcome.scenario.exact:
        yield from _created_in_order(outcome)
        yield from _deleted_in_order(outcome)


def _ends(outcome: Outcome) -> Iterator[str]:
    scenario = outcome.scenario
    ends = tuple(f"{event.action}_{event.status}" for event in outcome.told)
    reasons = [e.reason for e in outcome.told if e.status is Status.FAILED]
    if scenario.ends is not None:
        if ends != scenario.ends:
            yield f"P5: it ended in {ends}, not in {scenario.ends}: {reasons}"
    elif not scenario.fails:
        for operation in outcome.operations:
            if operation.status is OperationStatus.FAILED:
                yield f"P5: {operation.action} failed, nothing was to: {operation.reason}"


def _contents(outcome: Outcome) -> Iterator[str]:
    """Check that the contents of objects are there, or there again."""
    objects = {found.name: found.content for found in outcome.cloud.objects.values()}
    for name, content in outcome.scenario.contents.items():
        if objects.get(name) != content:
            yield f"P8: in {name} is {objects.get(name)!r}, not {content!r}"


def _exported(outcome: Outcome) -> Iterator[str]:
    """Check that the last successful request decides the exports, with today's values."""
    if not any(request.exports for request in outcome.scenario.requests):
        return
    values = {row.name: row.properties.get("value") for row in outcome.rows}
    good = outcome.scenario.good_request
    wanted = {name: values.get(resource) for name, resource in good.exports.items()}
    if outcome.exports != wanted:
        yield f"P3: exported is {outcome.exports}, not {wanted}"


def _executed(outcome: Outcome) -> Iterator[str]:
    """A change set that was executed is carried out by one operation, and not again."""
    asked = [each for each in outcome.scenario.requests if each.action == "execute"]
    if asked and None in outcome.executed:
        yield "P6: the change set was not carried out"
    updates = [op for op in outcome.operations if op.action is Action.UPDATE]
    if asked and len(updates) != len(asked):
        yield f"P3: {len(updates)} updates carry out {len(asked)} change sets"


def _signals_applied(outcome: Outcome) -> Iterator[str]:
    for row in outcome.rows:
        if row.implementation != "Sim::Gate" or row.action is Action.DELETE:
            continue
        known = [
            s.details["number"]
            for s in outcome.signals
            if s.resource_id == row.id and "number" in s.details
        ]
        answered, wanted = outcome.acknowledged.count(row.id), row.properties["count"]
        if answered >= wanted and row.status is not Status.COMPLETE and not outcome.scenario.fails:
            yield f"P6: {answered} signals were answered, {row.name} has not heard {wanted}"
        if row.attributes.get("signals", 0) > len(known):
            yield f"P6: {row.name} has counted {row.attributes['signals']} of {len(known)} signals"


def _scaled(outcome: Outcome) -> Iterator[str]:
    """A group has as many objects as the signals that were applied say."""
    named = [row for row in outcome.rows if row.name == "group" and row.replaced_by is None]
    group = next(iter(named), None)
    if group is None or group.status is not Status.COMPLETE or not outcome.scenario.scales:
        return
    if group.action is Action.INIT:
        return  # it was not started
    applied = [
        op.reason
        for op in outcome.operations
        if op.action is Action.SIGNAL and op.reason.startswith("group: from ")
    ]
    answered = outcome.answered_by["policy"]
    if answered and not applied and not outcome.scenario.fails:
        yield f"P6: {answered} signals to a policy were answered, none was applied"
    _, rows = outcome.inner["group"]
    living = [row for row in rows if row.physical_id in outcome.cloud.objects]
    if len(living) != 1 + len(applied) and not outcome.scenario.fails:
        yield f"P6: {len(applied)} signals were applied, there are {len(living)} members"


def _restarted(outcome: Outcome) -> Iterator[str]:
    """Check that each restart replaced its object once, and that no replacement is left to do."""
    if not outcome.scenario.restarts and not outcome.scenario.measures:
        return
    changes = [event for event in outcome.told if event.action not in WALKS]
    if changes and changes[-1].status is Status.COMPLETE:
        for row in outcome.rows:
            if row.unhealthy:
                yield f"P6: {row.name} is to be replaced, and nobody has done it"
    if outcome.scenario.fails or "server" not in outcome.wanted:
        return
    restarts = sum(op.reason.startswith("restart of ") for op in outcome.operations)
    made = outcome.cloud.journal.count("create server")
    complete = outcome.stack is not None and outcome.stack.action is not Action.DELETE
    if made > 1 + restarts or (made < 1 + restarts and complete):
        yield f"P6: {restarts} restarts were applied, the server was made {made} times"


def _alarms(outcome: Outcome) -> Iterator[str]:
    """An alarm has the state that the last measurements say."""
    for watch in outcome.watches if outcome.scenario.alarm else ():
        if watch.state != outcome.scenario.alarm:
            yield f"P6: the alarm is {watch.state}, not {outcome.scenario.alarm}: {watch.reason}"


def _applied(outcome: Outcome) -> Iterator[str]:
    """Check that a server gets each deployment once, and that records end with their resource."""
    rows = [row for row in outcome.everything if row.implementation == "Sim::Deployment"]
    if outcome.deployed > len(rows):
        yield f"P3: {outcome.deployed} deployments are left of {len(rows)} resources"
    if outcome.scenario.deploys and outcome.scenario.exact:
        if len(outcome.applied) < len(outcome.scenario.requests):
            yield f"P6: the server was given {outcome.applied} only"
        for (name, action, value), times in Counter(outcome.applied).items():
            if times > 1:
                yield f"P3: the server was given {name} with {value} {times} times in {action}"


def _emptied(outcome: Outcome) -> Iterator[str]:
    """A stack that is called deleted has left nothing behind, unless it was abandoned.

    Released objects stay as well.
    """
    released = len(outcome.scenario.released)
    given_away = any(request.action == "abandon" for request in outcome.scenario.requests)
    for picture in outcome.pictures if not given_away else ():
        if (picture.action, picture.status) == (
            "DELETE",
            "COMPLETE",
        ) and picture.objects > released:
            yield f"P3: {picture.objects} objects were left when the stack was called deleted"


def _went_back(outcome: Outcome) -> Iterator[str]:
    """Check that a rollback restores the state that was in force before:

    all of it, if it had been reached.
    """
    good: Picture | None = None
    in_force: Picture | None = None
    before: Picture | None = None
    for picture in outcome.pictures:
        if picture.action == "ROLLBACK":
            if picture.status == "COMPLETE":
                yield from _as_before(outcome.scenario, good, before, picture)
                in_force = before
            in_force = before or in_force
        elif in_force is None or picture.input_id != in_force.input_id:
            before, in_force = in_force, picture
        if picture.status == "COMPLETE" and picture.action not in WALKS:
            good = picture


def _as_before(
    scenario: Scenario, good: Picture | None, before: Picture | None, now: Picture
) -> Iterator[str]:
    names = frozenset() if before is None else before.wanted
    if now.members.keys() != names:
        yield f"P8: rolled back to {sorted(now.members)}, not to {sorted(names)}"
    if before is None or good is None or good.input_id != before.input_id:
        return  # no run shows the outcome of that
    if now.with_names() != good.with_names():
        yield f"P8: rolled back to {now.with_names()}, it was {good.with_names()}"
    for name in _untouched(scenario, good.members):
        before, after = good.members[name], now.members.get(name)
        if after is not None and before.physical_id != after.physical_id:
            yield f"P8: {name} was {before.physical_id}, which nobody has asked to replace"


def _untouched(scenario: Scenario, names: Iterable[str]) -> Iterator[str]:
    """Resources that no request changes, though one may leave them out."""
    templates = [request.template["resources"] for request in scenario.requests if request.template]
    disturbed = any(request.cloud for request in scenario.requests)
    disturbed |= bool(scenario.restarts or scenario.measures)
    for name in names if not disturbed else ():
        bodies = [template[name] for template in templates if name in template]
        if all(body == bodies[0] for body in bodies):
            yield name


def dependencies_of(resources: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the references of each resource of a template."""

    def within(value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if key == "get_resource":
                    yield inner
                elif key == "get_attr":
                    yield inner[0]
                else:
                    yield from within(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from within(inner)

    return {
        name: {*within(body.get("properties", {})), *filter(None, [body.get("depends_on")])}
        for name, body in resources.items()
    }


def _first(events: list[Event], name: str, action: str, status: Status) -> int | None:
    for number, event in enumerate(events):
        if event.resource_id and (event.resource_name, event.action, event.status) == (
            name,
            action,
            status,
        ):
            return number
    return None


def _least(outcome: Outcome, resources: dict[str, Any], *names: str) -> Status:
    """Return the least state of one of two resources in which the other one may be started.

    Under express, machines start one after another, without waiting for an end.
    """
    is_express = any(request.express for request in outcome.scenario.requests)
    is_early = is_express and all(resources[name]["type"] == "Sim::Machine" for name in names)
    return Status.IN_PROGRESS if is_early else Status.COMPLETE


def _created_in_order(outcome: Outcome) -> Iterator[str]:
    """Check that a resource starts after all its dependencies are complete."""
    template = outcome.scenario.requests[0].template or {}
    for name, dependencies in dependencies_of(template["resources"]).items():
        begun = _first(outcome.events, name, "CREATE", Status.IN_PROGRESS)
        for need in dependencies if begun is not None else ():
            least = _least(outcome, template["resources"], name, need)
            done = _first(outcome.events, need, "CREATE", least)
            if done is None:
                done = _first(outcome.events, need, "ADOPT", Status.COMPLETE)  # imported
            if done is None or begun is None or begun < done:
                yield f"P4: {name} was begun before {need}, which it needs, was complete"


def _deleted_in_order(outcome: Outcome) -> Iterator[str]:
    """A resource is deleted when all that need it are gone."""
    if outcome.scenario.requests[-1].action != "delete":
        return
    begins = [
        number
        for number, event in enumerate(outcome.events)
        if event.resource_id is None
        and (event.action, event.status) == ("DELETE", Status.IN_PROGRESS)
    ]
    events = outcome.events[begins[0] :] if begins else []
    template = next(r.template for r in reversed(outcome.scenario.requests) if r.template)
    for name, dependencies in dependencies_of(template["resources"]).items():
        for need in dependencies:
            least = _least(outcome, template["resources"], name, need)
            gone = _first(events, name, "DELETE", least)
            begun = _first(events, need, "DELETE", Status.IN_PROGRESS)
            if begun is not None and (gone is None or begun < gone):
                yield f"P4: {need} was begun to be deleted before {name}, which needs it, was gone"


def differences(calm: Outcome, outcome: Outcome) -> list[str]:
    """Yield the differences between a run with deaths and one without."""
    found = []
    if picture(calm) != picture(outcome):
        found.append(f"P5: undisturbed {picture(calm)}, disturbed {picture(outcome)}")
    if outcome.scenario.exact:
        for what, before, now in (
            ("nested stacks", _nested(calm), _nested(outcome)),
            ("events", _finals(calm), _finals(outcome)),
            ("what was done in the cloud", _done(calm), _done(outcome)),
        ):
            if before != now:
                found.append(f"P5: {what}: {_unlike(before, now)}")
    late = _took(outcome) - _took(calm) - _allowance(calm, outcome)
    if late > 0:
        found.append(
            f"P1: it took {_took(outcome):.0f} s, {_took(calm):.0f} s undisturbed:"
            f" {late:.0f} s more than deaths and faults explain"
        )
    return found


def _unlike(before: Any, now: Any) -> str:
    if isinstance(before, Counter):
        return f"missing {dict(before - now)}, too many {dict(now - before)}"
    return f"undisturbed {before}, disturbed {now}"


def _done(outcome: Outcome) -> Counter[str]:
    return _times(outcome, outcome.cloud.journal)


def _times(outcome: Outcome, what: Iterable[str]) -> Counter[str]:
    """Return how often each action was done; a failed one may be repeated by a restarted engine."""
    return Counter(set(what)) if outcome.scenario.fails else Counter(what)


def _nested(outcome: Outcome) -> dict[str, Any]:
    return {
        name: (status, sorted((row.name, str(row.status)) for row in rows))
        for name, (status, rows) in outcome.inner.items()
    }


def _finals(outcome: Outcome) -> Counter[str]:
    return _times(
        outcome,
        (
            f"{event.resource_name} {event.action}_{event.status}"
            for event in outcome.events
            if event.status is not Status.IN_PROGRESS
            and event.action is not Action.SIGNAL
            and "Hook" not in event.reason
        ),
    )


def _took(outcome: Outcome) -> float:
    return outcome.told[-1].time - outcome.events[0].time if outcome.told else 0.0


def _allowance(calm: Outcome, outcome: Outcome) -> float:
    """Seconds that deaths, faults, and users who look from time to time may cost."""
    scenario = outcome.scenario
    seconds = 10.0 + 120.0 * bool(outcome.failed_writes or scenario.lacks)
    seconds += sum(REQUEST_TIMEOUT + 15 + 35 * kill.returns for kill in scenario.kills)
    if scenario.trouble:
        seconds += 60 + _took(calm)
    if scenario.hooks:
        seconds += 600
    return seconds


def picture(outcome: Outcome) -> Any:
    """Return the final view of a user, with names in place of ids: equal for equal histories."""
    if outcome.stack is None:
        return None
    names = {row.physical_id: row.name for row in outcome.rows}

    def told(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(told, value))
        # the address of a nested stack ends with its id
        return names.get(str(value).rpartition("/")[2], str(value))

    scenario, action = outcome.scenario, outcome.stack.action
    if (scenario.restarts or scenario.measures) and not scenario.exact and action is Action.UPDATE:
        # a restart updates the stack; whether one is due depends on when the create has ended
        action = Action.CREATE
    return (
        action,
        outcome.stack.status,
        sorted(
            (
                row.name,
                row.type_name,
                row.status,
                sorted((k, told(v)) for k, v in row.properties.items() if v is not None),
            )
            for row in outcome.rows
        ),
    )
