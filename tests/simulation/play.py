"""Plays a scenario: requests at their times, an engine that dies and is started again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.engine.hooks import hook_of
from stoker.engine.records import Action, Operation, OperationStatus, Resource
from stoker.engine.requests import EventQuery, StackRequest
from stoker.kernel.errors import Refused
from stoker.store import rows as stored_rows
from stoker.store import tables
from tests.simulation.properties import Outcome, picture, violations
from tests.simulation.scenario import FILES, Request, Scenario, draw
from tests.simulation.world import CALLER, START, EngineLife, Sabotage, World

QUIET = 4000.0
"""Virtual seconds after which everything must have come to rest."""


@dataclass
class Progress:
    """How far the users are: it outlives the engines."""

    sent: int = 0
    signalled: int = 0
    scaled: int = 0
    """Signals that were sent to the scaling policy; nobody sends one again."""
    adjusted: int = 0
    """Those of them that were answered."""
    acknowledged: list[str] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)
    stack_id: str | None = None
    readings: list[tuple[int, int]] = field(default_factory=list)
    cleared: set[tuple[str, str]] = field(default_factory=set)
    """Clears of hooks that were answered: the row, and where it stood."""


def play(seed: int, sabotage: Sabotage | None = None) -> list[str]:
    """The violations of a seed's scenario, with its kills."""
    scenario = draw(seed)
    outcome = run(seed, scenario, sabotage)
    found = list(violations(outcome))
    lost = [op.action for op in outcome.operations if op.status is OperationStatus.FAILED]
    if scenario.hooks and not scenario.fails and lost:
        found.append(f"P6: {lost} failed, nothing was to: clears of hooks were lost")
    if not scenario.fails and len(scenario.requests) == 1 and sabotage is None:
        calm = run(seed, replace(scenario, kills=()), None)
        if picture(calm) != picture(outcome):
            found.append(f"P5: undisturbed {picture(calm)}, disturbed {picture(outcome)}")
    return found


def run(seed: int, scenario: Scenario, sabotage: Sabotage | None) -> Outcome:
    """Play the scenario to its end."""
    world = World(seed, sabotage)
    progress = Progress()

    async def life(engine: EngineLife) -> Outcome:
        users = [
            asyncio.ensure_future(_requests(world, engine, scenario, progress)),
            asyncio.ensure_future(_signals(world, engine, scenario, progress)),
            asyncio.ensure_future(_scale(world, engine, scenario, progress)),
        ]
        lookers = [asyncio.ensure_future(_read(engine, progress))]
        if scenario.hooks:
            lookers.append(asyncio.ensure_future(_clear_hooks(world, engine, progress)))
        await asyncio.gather(*users)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(engine.dispatch.idle(), QUIET)
        for looker in lookers:
            looker.cancel()
        return await _outcome(world, engine, progress)

    for kill in scenario.kills:
        outcome = world.live(life, kill)
        if outcome is not None:
            return outcome
    outcome = world.live(life)
    assert outcome is not None
    return outcome


async def _until(world: World, moment: float) -> None:
    await asyncio.sleep(max(START + moment - world.time(), 0))


async def _requests(
    world: World, engine: EngineLife, scenario: Scenario, progress: Progress
) -> None:
    """Send what has not been sent; what was being sent when the engine died is sent again."""
    alive = world.generation
    while progress.sent < len(scenario.requests) and world.generation == alive:
        request = scenario.requests[progress.sent]
        await _until(world, request.at)
        with contextlib.suppress(Refused):
            await _send(engine, request, progress)
        if world.generation == alive:
            progress.sent += 1


async def _send(engine: EngineLife, request: Request, progress: Progress) -> None:
    body = StackRequest(
        name="stack",
        template=request.template,
        files=FILES,
        environment=request.environment,
        disable_rollback=not request.rollback,
        timeout_mins=request.timeout_mins,
    )
    if request.action == "create":
        known = await engine.ports.store.find_stack(CALLER.project_id, "stack")
        if known is None:
            await engine.operations.create(CALLER, body)
        known = await engine.ports.store.find_stack(CALLER.project_id, "stack")
        assert known is not None
        progress.stack_id = known.id
        return
    address = await engine.operations.find(CALLER, "stack")
    if request.action == "update":
        await engine.operations.update(CALLER, address, body)
    else:
        await engine.operations.delete(CALLER, address)


async def _signals(
    world: World, engine: EngineLife, scenario: Scenario, progress: Progress
) -> None:
    alive = world.generation
    while progress.signalled < len(scenario.signals) and world.generation == alive:
        number = progress.signalled
        await _until(world, scenario.signals[number])
        for _ in range(40):
            try:
                address = await engine.operations.find(CALLER, "stack")
                stored = await engine.ports.store.signals(address.id)
                if any(signal.details.get("number") == number for signal in stored):
                    break
                progress.tries.append(number)
                gate = await engine.views.resource(CALLER, address, "gate")
                await engine.signals.signal(CALLER, address, "gate", {"number": number})
                progress.acknowledged.append(gate.id)
                break
            except Refused:
                await asyncio.sleep(1)
        if world.generation == alive:
            progress.signalled += 1


async def _scale(world: World, engine: EngineLife, scenario: Scenario, progress: Progress) -> None:
    alive = world.generation
    while progress.scaled < len(scenario.scales) and world.generation == alive:
        await _until(world, scenario.scales[progress.scaled])
        progress.scaled += 1
        with contextlib.suppress(Refused):
            address = await engine.operations.find(CALLER, "stack")
            await engine.signals.signal(CALLER, address, "policy", {})
            progress.adjusted += 1


async def _read(engine: EngineLife, progress: Progress) -> None:
    """A user who looks again and again."""
    pause = 0.3
    while True:
        await asyncio.sleep(pause)
        pause = min(pause * 1.2, 60)
        if progress.stack_id is None:
            continue
        events = await engine.ports.store.events([progress.stack_id], EventQuery())
        open_ = await engine.ports.store.operations(progress.stack_id)
        ended = len([e for e in events if e.resource_id is None])
        progress.readings.append((len(events), ended))
        assert len({op.id for op in open_}) == len(open_)


async def _clear_hooks(world: World, engine: EngineLife, progress: Progress) -> None:
    """A user who clears hooks, each until he is answered and never again."""
    alive, store = world.generation, engine.ports.store
    # drawn apart, so that the rest of a scenario does not change with the hooks
    source, pause = random.Random(world.generation), 0.1
    while world.generation == alive:
        await asyncio.sleep(pause)
        pause = min(pause * 1.3, 30)
        if progress.stack_id is None:
            continue
        stack = await store.stack(progress.stack_id)
        for each in (stack, *await store.children(progress.stack_id)):
            for row in await store.resources(each.id) if each is not None else ():
                place = (row.id, json.dumps(row.hook, sort_keys=True))
                if hook_of(row) is None or place in progress.cleared or source.random() < 0.3:
                    continue
                details = {"unset_hook": source.choice((hook_of(row), "pre-create"))}
                with contextlib.suppress(Refused):
                    assert each is not None
                    await engine.signals.signal(CALLER, each.address, row.name, details)
                    if details["unset_hook"] == hook_of(row) and world.generation == alive:
                        progress.cleared.add(place)
                        pause = 0.1


async def _outcome(world: World, engine: EngineLife, progress: Progress) -> Outcome:
    store = engine.ports.store
    if progress.stack_id is None:
        return Outcome(None, [], [], [], world.cloud)
    stack_id = progress.stack_id
    return Outcome(
        stack=await store.stack(stack_id),
        rows=list(await store.resources(stack_id)),
        inner=[row for child in await _below(engine, stack_id) for row in child],
        events=list(await store.events([stack_id], EventQuery())),
        operations=_operations(world, stack_id),
        cloud=world.cloud,
        acknowledged=progress.acknowledged,
        tries=progress.tries,
        adjusted=progress.adjusted,
        wanted=await _wanted(engine, stack_id),
        signals=list(await store.signals(stack_id)),
        readings=progress.readings,
        previous=await _previous(world, engine, progress),
    )


async def _wanted(engine: EngineLife, stack_id: str) -> dict[str, Any]:
    """The resources of the template that the stack is to have."""
    stack = await engine.ports.store.stack(stack_id)
    assert stack is not None
    given = await engine.ports.store.input(stack.input_id)
    return dict(given.template["resources"])


async def _below(engine: EngineLife, stack_id: str) -> list[list[Resource]]:
    """The rows of all nested stacks that are not deleted."""
    store = engine.ports.store
    return [list(await store.resources(child.id)) for child in await store.children(stack_id)]


async def _previous(world: World, engine: EngineLife, progress: Progress) -> dict[str, Any] | None:
    """The template that the last rollback went back to."""
    for operation in reversed(_operations(world, progress.stack_id or "")):
        if operation.action is Action.ROLLBACK and operation.input_id is not None:
            return dict((await engine.ports.store.input(operation.input_id)).template)
    return None


def _operations(world: World, stack_id: str) -> list[Operation]:
    columns = tables.operations.c
    select = tables.operations.select().where(columns.stack_id == stack_id)
    with world.database.connect() as connection:
        found = connection.execute(select.order_by(columns.number))
        return [stored_rows.to_operation(row, world.seal) for row in found.mappings()]
