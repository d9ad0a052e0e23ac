"""The users of the simulation: they outlive engines, and continue where they were."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa

from stoker.engine.execution.calls.hooks import hook_of
from stoker.engine.model.interfaces import StoreError
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import Action, Operation, Resource
from stoker.engine.model.refactors import RefactorRequest
from stoker.engine.model.requests import Caller, EventQuery, StackRequest
from stoker.engine.model.stack_records.client_tokens import ClientToken
from stoker.engine.model.stack_records.watches import Datum
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import MachineError, RequestError
from stoker.kernel.values import replace
from stoker.store.schema import tables
from stoker.store.sql import rows as stored_rows
from tests.simulation.agents import Agent, Applied
from tests.simulation.scenario import FILES, METRIC, NAMESPACE, Request, Scenario
from tests.simulation.world import CALLER, START, EngineLife, World

MOST_TRIES = 400
_RECORDED_AS = {"abandon": "DELETE", "refactor": "UPDATE"}  # actions of operations
CHANGE_SET = "changes"


@dataclass
class Progress:
    """The progress of the users."""

    sent: int = 0
    asked: int = 0  # operations that users had requested when the present request was first sent
    # When each request was answered, or found to be recorded.
    accepted: list[float] = field(default_factory=list)
    signalled: int = 0
    # Signals to the scaling policy and the restarter, by name; none is repeated.
    sent_to: Counter[str] = field(default_factory=Counter)
    # Those of them that were acknowledged.
    answered_by: Counter[str] = field(default_factory=Counter)
    measured: int = 0
    acknowledged: list[str] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)
    stack_id: str | None = None
    document: str = ""  # document of the abandoned stack
    readings: list[tuple[int, int]] = field(default_factory=list)
    # Acknowledged clears of hooks: row and hook.
    cleared: set[tuple[str, str]] = field(default_factory=set)
    applied: Applied = field(default_factory=Applied)  # state of the agent on the server
    # Times without activity although an operation was open.
    asleep: list[str] = field(default_factory=list)


def operations_of(world: World, stack_id: str) -> list[Operation]:
    """All operations of a stack, the oldest first."""
    columns = tables.operations.c
    select = tables.operations.select().where(columns.stack_id == stack_id)
    with world.database.connect() as connection:
        found = connection.execute(select.order_by(columns.number))
        return [stored_rows.to_operation(row, world.cipher) for row in found.mappings()]


def _body(request: Request) -> StackRequest:
    return StackRequest(
        name="stack",
        template=request.document,
        files=FILES,
        environment=request.environment,
        disable_rollback=not request.rollback,
        timeout_mins=request.timeout_mins,
        converge=request.converge,
        deletes_on_failure=request.deletes,
        keep_objects=request.releases,
        express=request.express,
    )


class Users:
    """Users who send the requests of a scenario, to the engine that lives at the time."""

    def __init__(
        self, world: World, engine: EngineLife, scenario: Scenario, progress: Progress
    ) -> None:
        self._world = world
        self._engine = engine
        self._scenario = scenario
        self._progress = progress
        self._generation = engine.generation

    @property
    def _alive(self) -> bool:
        """Return whether the engine is believed alive; a dead one gets no new requests."""
        return self._world.generation == self._generation

    def all(self) -> list[Awaitable[None]]:
        """Return the users whose work is finite."""
        scenario = self._scenario
        users: list[Awaitable[None]] = [self._requests()]
        if scenario.signals:
            users.append(self._signals())
        for name, times in (("policy", scenario.scales), ("restarter", scenario.restarts)):
            if times:
                users.append(self._nudge(name, times))
        if scenario.measures:
            users.append(self._measure())
        return users

    def lookers(self) -> list[Awaitable[None]]:
        """Return the users who continue for ever."""
        scenario = self._scenario
        lookers: list[Awaitable[None]] = [self._read()] if scenario.reads else []
        if scenario.deploys:
            lookers.append(Agent(self._world, self._engine, self._progress.applied).work())
        return [*lookers, self._clear_hooks()] if scenario.hooks else lookers

    async def _until(self, moment: float) -> None:
        await asyncio.sleep(max(START + moment - self._world.time(), 0))

    async def _persist(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Ask again as long as the answer is that the database is out of order."""
        for _ in range(MOST_TRIES):
            failed = self._world.disk.failed
            try:
                await ask()
                return
            except RequestError:
                raise
            except MachineError:
                await asyncio.sleep(1)
            except Exception:
                if self._world.disk.failed == failed:
                    raise
                await asyncio.sleep(1)

    async def _requests(self) -> None:
        """Send the remaining requests; the one in flight when the engine died is sent again."""
        progress, scenario = self._progress, self._scenario
        while progress.sent < len(scenario.requests) and self._alive:
            number = progress.sent
            request = scenario.requests[number]
            if request.rests:
                await self._rest()
                if not self._is_recorded(request):
                    await asyncio.sleep(request.at)
            else:
                await self._until(request.at)
            if not self._alive:
                return
            self._change_cloud(request.cloud)
            with contextlib.suppress(RequestError):
                await self._persist(functools.partial(self._send, request))
            if self._alive:
                progress.accepted.append(self._world.time())
                # a frozen engine may have sent the same
                progress.sent = max(progress.sent, number + 1)
                progress.asked = len(self._asked())

    async def _rest(self) -> None:
        """Return when all activity has ended."""
        await self._engine.dispatch.idle()
        if self._open():
            # an engine that came back has taken it, and will soon be missed
            await self._engine.missed.wait()
            await self._engine.dispatch.idle()
        if self._alive:
            self._progress.asleep += [f"{op.action} {op.status}" for op in self._open()]

    def _open(self) -> list[Operation]:
        """Return the requests that have not ended."""
        stack_id = self._progress.stack_id
        known = [] if stack_id is None else operations_of(self._world, stack_id)
        return [op for op in known if not op.status.final]

    def _change_cloud(self, what: str) -> None:
        cloud = self._world.cloud
        match what.split():
            case ["full"]:
                cloud.quota = len(cloud.objects)
            case ["locked", name]:
                cloud.undeletable = {o.id for o in cloud.objects.values() if o.name == name}
            case ["free"]:
                cloud.quota, cloud.undeletable = None, set()
            case ["down"]:
                cloud.down = (self._world.time(), self._world.time() + 60)
            case ["by-hand", name]:
                cloud.tie_by_hand(name)
            case ["place", name]:
                cloud.place(name, "Sim::Thing", value="x")
            case ["vanish", name]:
                cloud.vanish(name)
            case ["tamper", name]:
                cloud.tamper(name, value="as others like it")
            case ["fill", content]:
                cloud.fill(content)

    def _asked(self) -> list[Operation]:
        """The operations that users have asked for."""
        if self._progress.stack_id is None:
            return []
        known = operations_of(self._world, self._progress.stack_id)
        by_users: dict[str, Operation] = {}
        for op in known:
            # a restart asks for an update to what the stack is already
            again = op.action is Action.UPDATE and op.input_id in (
                earlier.input_id for earlier in by_users.values()
            )
            by_itself = op.action in (Action.ROLLBACK, Action.SIGNAL) or again
            if not by_itself and op.kind is not OperationKind.CANCEL:
                by_users[op.id] = op
        return list(by_users.values())

    def _is_recorded(self, request: Request) -> bool:
        """Return whether the request was accepted, although its answer was lost.

        A new operation may also be that of the request before, from an engine that returned: twice
        accepted.
        """
        action = _RECORDED_AS.get(request.action, request.action.upper())
        return any(
            op.action == action
            and (request.template is None or self._template_of(op) in (request.document, None))
            for op in self._asked()[self._progress.asked :]
        )

    def _template_of(self, operation: Operation) -> object:
        """Return the requested operation; None once it has been tidied away, long after its end."""
        inputs, contents = tables.inputs.columns, tables.contents.columns
        select = sa.select(contents.body).join(tables.inputs, inputs.template == contents.hash)
        with self._world.database.connect() as connection:
            body = connection.execute(select.where(inputs.id == operation.input_id)).scalar()
        return None if body is None else self._world.cipher.decrypt(body)

    async def _send(self, request: Request) -> None:
        caller = CALLER
        if request.token:
            caller = replace(CALLER, client=ClientToken(request.token, request.action))
            tokens = self._engine.service.cloudformation.client_tokens
            answered = await tokens.answered(caller)
            if answered is not None:
                self._progress.stack_id = answered.id
                return
        if request.action in ("create", "adopt"):
            await self._send_new(caller, request)
        elif request.token or not self._is_recorded(request):
            await self._send_about(caller, request)

    async def _send_new(self, caller: Caller, request: Request) -> None:
        operations, progress = self._engine.operations, self._progress
        find = functools.partial(self._engine.ports.store.find_stack, CALLER.project_id, "stack")
        known = await find()
        if known is None and request.action == "adopt":
            await operations.adopt(CALLER, _body(request), progress.document)
        elif known is None:
            await operations.create(caller, _body(request))
        known = await find()
        assert known is not None
        if progress.stack_id != known.id:
            progress.readings.clear()  # they were of another stack
        progress.stack_id = known.id

    async def _send_about(self, caller: Caller, request: Request) -> None:
        engine, progress = self._engine, self._progress
        sets = engine.service.cloudformation.change_sets
        address = await engine.operations.find(CALLER, "stack")
        match request.action:
            case "update":
                await engine.operations.update(caller, address, _body(request))
            case "refactor":
                body = replace(_body(request), disable_rollback=None, timeout_mins=None)
                refactor = RefactorRequest((body,), request.moves)
                await engine.service.cloudformation.refactors.execute(caller, refactor)
            case "delete":
                await engine.operations.delete(caller, address, express=request.express)
            case "show":
                await sets.of_update(caller, address, CHANGE_SET, _body(request), "")
            case "execute":  # a client that does not know the result repeats the request
                await sets.execute(caller, address, CHANGE_SET, disable_rollback=None)
            case "abandon":
                # the answer may be lost: a careful client checks first
                progress.document = json.dumps(await engine.exports.export(CALLER, address))
                await engine.exports.abandon(CALLER, address)
            case "snapshot":
                await engine.service.snapshots.create(CALLER, address, "snapshot")
            case "restore" | "drop":
                await self._send_about_snapshot(request.action, address)
            case action:  # a second cancel is refused
                await engine.operations.act(CALLER, address, action)

    async def _send_about_snapshot(self, action: str, address: StackAddress) -> None:
        service = self._engine.service.snapshots
        known = await service.list(CALLER, address)
        if known and action == "restore":
            await service.restore(CALLER, address, known[0].id)
        elif known:
            await service.delete(CALLER, address, known[0].id)

    async def _signals(self) -> None:
        progress, scenario = self._progress, self._scenario
        while progress.signalled < len(scenario.signals) and self._alive:
            number = progress.signalled
            await self._until(scenario.signals[number])
            if not self._alive:
                return
            for _ in range(MOST_TRIES):
                try:
                    if await self._signal(number):
                        break
                except Exception:
                    if not self._world.disk.failed:
                        raise
                await asyncio.sleep(1)
                if not self._alive or self._is_over():
                    break
            if self._alive:
                progress.signalled += 1

    def _is_over(self) -> bool:
        """Return whether no operation is active that could still create the signalled resource."""
        if self._progress.stack_id is None:
            return False
        return self._progress.sent == len(self._scenario.requests) and not self._open()

    async def _signal(self, number: int) -> bool:
        """Send a signal; whether it is stored."""
        engine, progress = self._engine, self._progress
        try:
            address = await engine.operations.find(CALLER, "stack")
            stored = await engine.ports.store.signals(address.id)
            if any(signal.details.get("number") == number for signal in stored):
                return True
            progress.tries.append(number)
            gate = await engine.views.resource(CALLER, address, "gate")
            await engine.signals.signal(CALLER, address, "gate", {"number": number})
        except RequestError:
            return False
        progress.acknowledged.append(gate.id)
        return True

    async def _measure(self) -> None:
        """Send the measurements, again after a lost answer, and wait for their effect."""
        progress, measures = self._progress, self._scenario.measures
        while progress.measured < len(measures) and self._alive:
            number = progress.measured
            at, value = measures[number]
            await self._until(at)
            if self._alive:
                put = self._engine.service.monitoring.metrics.put
                await self._persist(
                    functools.partial(put, CALLER, NAMESPACE, [Datum(METRIC, {}, value)])
                )
                progress.measured = max(progress.measured, number + 1)
        await self._until(self._scenario.watched_until + 1)

    async def _nudge(self, name: str, times: Sequence[float]) -> None:
        """Signal a resource that acts on it."""
        progress, engine = self._progress, self._engine
        while progress.sent_to[name] < len(times) and self._alive:
            await self._until(times[progress.sent_to[name]])
            if not self._alive:
                return
            progress.sent_to[name] += 1
            try:
                address = await engine.operations.find(CALLER, "stack")
                await engine.signals.signal(CALLER, address, name, {})
                progress.answered_by[name] += 1
            except RequestError:
                continue
            except Exception:
                if not self._world.disk.failed:
                    raise

    async def _read(self) -> None:
        """A user who looks again and again."""
        progress, store, pause = self._progress, self._engine.ports.store, 0.3
        while True:
            await asyncio.sleep(pause)
            pause = min(pause * 1.2, 60)
            if progress.stack_id is None:
                continue
            events = await store.events([progress.stack_id], EventQuery())
            open_ = await store.operations(progress.stack_id)
            ended = len([e for e in events if e.resource_id is None])
            progress.readings.append((len(events), ended))
            assert len({op.id for op in open_}) == len(open_)

    async def _clear_hooks(self) -> None:
        """A user who clears hooks, each until the clear is acknowledged, and never again."""
        # drawn apart, so that the rest of a scenario does not change with the hooks
        source, pause = random.Random(self._generation), 0.1
        while self._alive:
            await asyncio.sleep(pause)
            pause = min(pause * 1.3, 30)
            try:
                rows = await self._standing()
            except StoreError:  # a read that the scenario fails: the user looks again
                continue
            for row, address in rows:
                place = (row.id, json.dumps(row.hook, sort_keys=True))
                if place in self._progress.cleared or source.random() < 0.3:
                    continue
                details = {"unset_hook": source.choice((hook_of(row), "pre-create"))}
                with contextlib.suppress(RequestError):
                    signal = self._engine.signals.signal
                    await self._persist(
                        functools.partial(signal, CALLER, address, row.name, details)
                    )
                    if details["unset_hook"] == hook_of(row) and self._alive:
                        self._progress.cleared.add(place)
                        pause = 0.1

    async def _standing(self) -> list[tuple[Resource, StackAddress]]:
        """Return the rows that wait at hooks, and the hook of each."""
        store, stack_id = self._engine.ports.store, self._progress.stack_id
        stack = await store.stack(stack_id) if stack_id is not None else None
        if stack is None:
            return []
        return [
            (row, each.address)
            for each in (stack, *await store.children(stack.id))
            for row in await store.resources(each.id)
            if hook_of(row) is not None
        ]
