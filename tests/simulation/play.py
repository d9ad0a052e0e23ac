"""Plays a scenario: users and their requests, an engine that dies and is started again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from stoker.engine.model.records import Action, Resource
from stoker.engine.model.requests import EventQuery, Page
from stoker.kernel.values import replace
from tests.simulation.cloudformation import resources_of
from tests.simulation.crew import Api, Blow, Crew, blows_of
from tests.simulation.expectations import differences
from tests.simulation.outcome import Outcome
from tests.simulation.properties import violations
from tests.simulation.scenario import Kill, Scenario, draw
from tests.simulation.users import CHANGE_SET, Progress, Users, operations_of
from tests.simulation.world import CALLER, EngineLife, Sabotage, World

Branch = Callable[[int, bool], Sequence[Kill]]
NOTIFYING = 400.0  # virtual seconds within which all notifications must have arrived
# Virtual seconds after which all activity must have ended. An operation and its rollback may each
# wait for signals for one hour.
QUIET = 8000.0


def play(seed: int, sabotage: Sabotage | None = None) -> list[str]:
    """The violations of a seed's scenario, with its kills."""
    scenario = draw(seed)
    return _judged(seed, scenario, run(seed, scenario, sabotage), sabotage)


def play_with(
    engines: int, seed: int, sabotage: Sabotage | None = None, without: str | None = None
) -> list[str]:
    """The violations of a seed's scenario where several engines share the work.

    ``without`` is a guard of the :class:`tests.simulation.crew.Crew` that is switched off.
    """
    blows = blows_of(seed)
    scenario = replace(draw(seed), kills=tuple(blow.as_kill for blow in blows))
    outcome = run_with(engines, seed, scenario, blows, sabotage, without)
    return _judged(seed, scenario, outcome, sabotage)


def _judged(
    seed: int, scenario: Scenario, outcome: Outcome, sabotage: Sabotage | None
) -> list[str]:
    found = list(violations(outcome))
    if sabotage is None and not scenario.fails:
        found += differences(run(seed, scenario.calm), outcome)
    return found


def run(
    seed: int,
    scenario: Scenario,
    sabotage: Sabotage | None = None,
    branch: Branch | None = None,
) -> Outcome:
    """Play the scenario to its end.

    ``branch`` decides after every turn of the first engine how this and later ones die, in place of
    the scenario's kills; with None, it lives on. Its argument says whether requests are in flight.
    """
    world, progress = _world(seed, scenario, sabotage), Progress()
    if any(kill.returns for kill in scenario.kills):
        world.second_look = 2.0  # ends in another process are not notified

    async def life(engine: EngineLife) -> Outcome:
        return await _lived(world, engine, scenario, progress)

    kills = list(scenario.kills)

    def dies(turns: int, waits: bool) -> Kill | None:
        kills[:] = branch(turns, waits) if branch else ()
        return kills[0] if kills else None

    outcome = world.live(life, *kills[:1]) if branch is None else world.live(life, dies=dies)
    for kill in (*kills[1:], None):
        if outcome is None:
            outcome = world.live(life, kill)
    assert outcome is not None
    return outcome


def run_with(
    engines: int,
    seed: int,
    scenario: Scenario,
    blows: Sequence[Blow],
    sabotage: Sabotage | None = None,
    without: str | None = None,
) -> Outcome:
    """Play the scenario to its end, with several engines that die and freeze."""
    world = _world(seed, scenario, sabotage)

    async def life() -> Outcome:
        crew = Crew(world, blows, without, engines)
        world.attend(crew.api)
        return await _lived(world, crew.api, scenario, Progress())

    return world.live_together(life)


def _world(seed: int, scenario: Scenario, sabotage: Sabotage | None) -> World:
    world = World(seed, sabotage, notifies=scenario.notified)
    world.watched_until = scenario.watched_until
    world.cloud.trouble = scenario.trouble
    world.disk.faults, world.disk.read_faults = scenario.disk, scenario.read_faults
    world.lacks = scenario.lacks
    return world


async def _lived(
    world: World, engine: EngineLife | Api, scenario: Scenario, progress: Progress
) -> Outcome:
    users = Users(world, engine, scenario, progress)
    lookers = [asyncio.ensure_future(each) for each in users.lookers()]
    await asyncio.gather(*users.all())
    await engine.missed.wait()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(engine.dispatch.idle(), QUIET)
    await asyncio.sleep(world.wire.rest)
    if scenario.notified:
        await asyncio.sleep(NOTIFYING)
    for looker in lookers:
        looker.cancel()
    return await _outcome(world, engine, scenario, progress)


async def _outcome(
    world: World, engine: EngineLife | Api, scenario: Scenario, progress: Progress
) -> Outcome:
    store, loop, disk = engine.ports.store, world.loop, world.disk
    outcome = Outcome(
        scenario,
        None,
        [],
        [],
        [],
        world.cloud,
        turns=loop.turns,
        writes=disk.writes,
        reads=disk.reads,
        calls=world.calls,
    )
    disk.read_faults = ()
    if progress.stack_id is None:
        return outcome
    stack_id = outcome.stack_id = progress.stack_id
    outcome.stack = await store.stack(stack_id)
    outcome.rows = list(await store.resources(stack_id))
    outcome.inner = await _below(engine, stack_id)
    outcome.events = list(await store.events([stack_id], EventQuery()))
    outcome.operations = operations_of(world, stack_id)
    outcome.pictures, outcome.torn = world.album.pictures, world.album.torn
    outcome.acknowledged, outcome.tries = progress.acknowledged, progress.tries
    outcome.sent_to, outcome.answered_by = progress.sent_to, progress.answered_by
    outcome.asleep = progress.asleep
    outcome.watches = list(await store.watches(CALLER.project_id))
    outcome.accepted, outcome.readings = progress.accepted, progress.readings
    outcome.wanted = await _wanted(engine, stack_id)
    outcome.applied = list(progress.applied.runs.values())
    outcome.deployed = len(await store.list_deployments(None, None, Page()))
    outcome.signals = list(await store.signals(stack_id))
    exports = await store.exports(CALLER.project_id)
    outcome.exports = {each.name: each.value for each in exports}
    sets = [await store.change_set(stack_id, CHANGE_SET)]
    outcome.executed = [each.operation_id for each in sets if each is not None]
    if scenario.notified:
        outcome.unheard = list(world.mailbox.violations(world.database, world.cipher))
    for snapshot in await store.snapshots(stack_id):
        parts = await store.snapshot_parts(snapshot.id)
        outcome.images |= {part.object_name: ".".join(part.path) for part in parts}
    if outcome.stack is not None and outcome.stack.action is Action.ROLLBACK:
        outcome.back_to = await _previous(world, engine, stack_id)
    outcome.cuts, outcome.failed_writes = world.wire.cuts, world.disk.failed
    return outcome


async def _wanted(engine: EngineLife | Api, stack_id: str) -> dict[str, Any]:
    """The resources of the template that the stack is to have."""
    stack = await engine.ports.store.stack(stack_id)
    assert stack is not None
    given = await engine.ports.store.input(stack.input_id)
    return resources_of(given.template)


async def _below(engine: EngineLife | Api, stack_id: str) -> dict[str, tuple[str, list[Resource]]]:
    """Status and rows of all nested stacks that are not deleted, by the name of the resource."""
    store = engine.ports.store
    return {
        str(child.parent_resource): (
            f"{child.action}_{child.status}",
            list(await store.resources(child.id)),
        )
        for child in await store.children(stack_id)
    }


async def _previous(world: World, engine: EngineLife | Api, stack_id: str) -> dict[str, Any] | None:
    """The template that the last rollback went back to, as the engine has recorded it."""
    for operation in reversed(operations_of(world, stack_id)):
        if operation.action is Action.ROLLBACK and operation.input_id is not None:
            given = await engine.ports.store.input(operation.input_id)
            return {"resources": resources_of(given.template)}
    return None
