"""Operations on stacks: one after another, into one another, against time, nested."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, EngineLife

from stoker.dispatch.in_process import InProcess
from stoker.engine.model.limits import Limits
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.errors import (
    AlreadyExistsError,
    NotFoundError,
    NotSupportedError,
    RequestError,
    ValidationError,
)
from stoker.kernel.values import replace
from stoker.store.schema import tables
from stoker.store.store import SqlStore

GATE = {"type": "Sim::Gate", "properties": {"count": 1}}


def test_create_fails_at_its_timeout() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"gate": GATE, "a": thing()}), timeout_mins=2)
        stack = await lab.stack()
        assert await lab.status() == "CREATE_FAILED"
        assert "timed out" in stack.reason
        events = await lab.events()
        assert events[-1].time - stack.created_at == pytest.approx(120, abs=1)
        assert (await lab.rows())["gate"].reason.endswith("timed out")

    in_lab(story)


def test_an_update_keeps_what_it_does_not_name() -> None:
    async def story(lab: Lab) -> None:
        given = template({"a": thing()})
        await lab.create(given, timeout_mins=7, disable_rollback=False)
        await lab.update(given)
        stack = await lab.stack()
        assert (stack.timeout_mins, stack.disable_rollback) == (7, False)
        await lab.update(given, timeout_mins=8, disable_rollback=True)
        stack = await lab.stack()
        assert (stack.timeout_mins, stack.disable_rollback) == (8, True)

    in_lab(story)


def test_update_supersedes_waiting_create() -> None:
    async def story(lab: Lab) -> None:
        body = StackRequest(name="stack", template=template({"gate": GATE, "a": thing()}))
        await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        await lab.update(template({"a": thing(), "b": thing()}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert sorted(await lab.rows()) == ["a", "b"]

    in_lab(story)


def test_actions_started_by_superseded_operation_continue() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(slow=50)})
        await lab.engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        await lab.pass_time(5)
        begun = list(lab.cloud.objects)
        await lab.update(template({"a": thing(slow=50), "b": thing()}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id in begun

    in_lab(story)


def test_superseded_operation_starts_no_further_action() -> None:
    async def story(lab: Lab) -> None:
        first = template({"a": thing(value="1"), "b": thing(depends_on="a", value="1")})
        await lab.create(first)
        then = {"a": thing(value="2", lag=5), "b": thing(depends_on="a", value="2")}
        await lab.begin_update(template(then))
        await lab.pass_time(2)
        await lab.update(first)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert "update b" not in lab.cloud.journal

    in_lab(story)


def test_actions_in_flight_finish_after_a_failure() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fail="create"), "b": thing(slow=5)}))
        assert await lab.status() == "CREATE_FAILED"
        assert (await lab.rows())["b"].status == "COMPLETE"

    in_lab(story)


def test_a_delete_takes_over_from_a_create() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"gate": GATE, "a": thing(slow=500)})
        address = await lab.engine.operations.create(
            CALLER, StackRequest(name="stack", template=wanted)
        )
        await lab.pass_time(5)
        await lab.delete()
        gone = await lab.engine.views.stack(CALLER, address)
        assert (gone.action, gone.status) == ("DELETE", "COMPLETE")
        assert lab.cloud.objects == {}

    in_lab(story)


def test_accepted_update_is_shown_immediately() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="1")}))
        await lab.begin_update(template({"a": thing(value="2")}))
        seen = await lab.engine.views.stack(CALLER, address)
        assert (seen.action, seen.status) == ("UPDATE", "IN_PROGRESS")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_an_update_without_changes_touches_nothing() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(), "b": thing(uses={"get_resource": "a"})})
        await lab.create(wanted)
        before = await lab.history()
        await lab.update(wanted)
        assert await lab.history() == before
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_unknown_value_is_decided_when_it_arrives() -> None:
    """``b`` takes its value from ``a``, whose replacement does not change that value."""

    async def story(lab: Lab) -> None:
        wanted = {"a": thing(value="v"), "b": thing(value={"get_attr": ["a", "value"]})}
        await lab.create(template(wanted))
        kept = (await lab.rows())["b"].physical_id
        wanted["a"] = thing(value="v", fixed="x")
        await lab.update(template(wanted))
        assert (await lab.rows())["b"].physical_id == kept
        assert "b UPDATE_IN_PROGRESS" not in await lab.history()

    in_lab(story)


def test_signals_open_a_gate_and_show_as_events() -> None:
    async def story(lab: Lab) -> None:
        body = StackRequest(name="stack", template=template({"gate": GATE}))
        address = await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        await lab.engine.signals.signal(CALLER, address, "gate", {"number": 1})
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert "gate SIGNAL_COMPLETE" in await lab.history()

    in_lab(story)


def test_stack_name_is_free_after_delete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        with pytest.raises(AlreadyExistsError):
            await lab.create(template({"a": thing()}))
        await lab.delete()
        await lab.create(template({"a": thing()}))
        assert len(lab.cloud.objects) == 1

    in_lab(story)


def test_another_project_does_not_learn_of_a_stack() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        from_outside = type(CALLER)("other", "someone")
        for name in (address.name, address.id, address.arn):
            with pytest.raises(NotFoundError):
                await lab.engine.operations.find(from_outside, name)
        with pytest.raises(NotFoundError):
            await lab.engine.views.stack(from_outside, address)

    in_lab(story)


def test_actions_that_do_not_exist_are_refused() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        with pytest.raises(NotSupportedError):
            await lab.engine.operations.act(CALLER, address, "cancel_update")

    in_lab(story)


CHILD = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string}
resources:
  inner:
    type: Sim::Thing
    properties: {value: {get_param: value}, fail: %s}
outputs:
  shown: {value: {get_attr: [inner, value]}}
"""


def _parent(value: str) -> dict[str, object]:
    nested = {"type": "child.yaml", "properties": {"value": value}}
    outer = thing(value={"get_attr": ["n", "shown"]})
    return template({"n": nested, "outer": outer})


def test_nested_stack_follows_its_parent() -> None:
    async def story(lab: Lab) -> None:
        files = {"child.yaml": CHILD % '""'}
        await lab.create(_parent("one"), files=files)
        assert await lab.status() == "CREATE_COMPLETE"
        assert sorted(o.properties["value"] for o in lab.cloud.objects.values()) == ["one", "one"]
        await lab.update(_parent("two"), files=files)
        assert sorted(o.properties["value"] for o in lab.cloud.objects.values()) == ["two", "two"]
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


CHOOSING = """
heat_template_version: 2018-08-31
parameters: {value: {type: string}}
conditions: {one: {equals: [{get_param: value}, one]}}
resources:
  first: {type: Sim::Thing, condition: one}
  second: {type: Sim::Thing, condition: {not: one}}
outputs:
  shown: {value: {if: [one, {get_resource: first}, {get_resource: second}]}}
"""


def test_attribute_decides_condition_of_nested_stack() -> None:
    def wanted(value: str) -> dict[str, object]:
        decides = thing(value=value)
        nested = {"type": "child.yaml", "properties": {"value": {"get_attr": ["decides", "value"]}}}
        return template({"decides": decides, "n": nested})

    async def chosen(lab: Lab) -> list[str]:
        [child] = await lab.engine.ports.store.children((await lab.stack()).id)
        return [row.name for row in await lab.engine.ports.store.resources(child.id)]

    async def story(lab: Lab) -> None:
        files = {"child.yaml": CHOOSING}
        await lab.create(wanted("one"), files=files)
        assert await chosen(lab) == ["first"]
        await lab.update(wanted("two"), files=files)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await chosen(lab) == ["second"]

    in_lab(story)


def test_nested_failure_is_named_in_parent() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(_parent("one"), files={"child.yaml": CHILD % "create"})
        stack = await lab.stack()
        assert await lab.status() == "CREATE_FAILED"
        assert "resources.n" in stack.reason
        assert "resources.inner" in stack.reason
        assert "quota exceeded" in stack.reason

    in_lab(story)


def test_parent_update_repairs_failed_nested_create() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(_parent("one"), files={"child.yaml": CHILD % "create"})
        await lab.update(_parent("one"), files={"child.yaml": CHILD % '""'})
        assert await lab.status() == "UPDATE_COMPLETE"
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_parent_delete_supersedes_nested_create() -> None:
    async def story(lab: Lab) -> None:
        files = {"child.yaml": CHILD.replace("fail: %s", "slow: 500")}
        body = StackRequest(name="stack", template=_parent("one"), files=files)
        await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_inputs_and_events_of_long_ago_are_dropped() -> None:
    async def story(lab: Lab) -> tuple[int, int]:
        await lab.create(template({"a": thing(value="0")}))
        for number in range(60):
            await lab.update(template({"a": thing(value=str(number))}))
        with lab.world.database.connect() as connection:
            inputs = connection.execute(tables.inputs.select()).all()
            contents = connection.execute(tables.contents.select()).all()
        return len(inputs), len(contents)

    inputs, contents = in_lab(story)
    assert inputs <= 2
    assert contents <= 6


def test_internal_error_fails_operation_after_retries() -> None:
    async def story(lab: Lab) -> None:
        faulty = {"type": "Sim::Faulty", "properties": {"value": "1"}}
        await lab.create(template({"a": faulty}))
        begun = lab.world.time()
        changed = {**faulty, "properties": {"value": "2"}}
        await lab.update(template({"a": changed}))
        assert await lab.status() == "UPDATE_FAILED"
        assert "fault in the service" in (await lab.stack()).reason
        # attempts are 1, 10 and 60 s apart
        assert (await lab.events())[-1].time - begun < 90
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_unfit_signal_is_recorded_or_refused() -> None:
    async def story(lab: Lab) -> None:
        body = StackRequest(name="stack", template=template({"gate": GATE}))
        address = await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        await lab.engine.signals.signal(CALLER, address, "gate", {})
        with pytest.raises(ValidationError, match="a signal has a number"):
            await lab.engine.signals.signal(CALLER, address, "gate", {}, must_fit=True)
        told = [event.reason for event in await lab.events()]
        assert told.count("Signal refused: a signal has a number") == 2
        assert (await lab.rows())["gate"].status == "IN_PROGRESS"
        await lab.delete()

    in_lab(story)


def test_signals_of_one_resource_are_bounded() -> None:
    async def story(lab: Lab) -> None:
        gate = {"type": "Sim::Gate", "properties": {"count": 50}}
        body = StackRequest(name="stack", template=template({"gate": gate}))
        address = await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        signals = EngineLife(lab.apart(limits=Limits(signals_per_resource=20))).signals
        for number in range(20):
            await signals.signal(CALLER, address, "gate", {"number": number})
        with pytest.raises(RequestError):
            await signals.signal(CALLER, address, "gate", {"number": 20})
        assert lab.engine.ports.limits.signals_per_resource >= 1000
        await lab.delete()

    in_lab(story)


@pytest.mark.parametrize(
    ("limits", "accepted", "option"),
    [
        (Limits(signal_bytes=900), 0, "max_signal_size"),
        (Limits(signals_bytes_per_resource=2500), 2, "max_signals_size_per_resource"),
        (Limits(values_bytes_per_stack=2500), 2, "max_values_size_per_stack"),
    ],
)
def test_signals_are_bounded_in_bytes(limits: Limits, accepted: int, option: str) -> None:
    async def story(lab: Lab) -> None:
        gate = {"type": "Sim::Gate", "properties": {"count": 50}}
        body = StackRequest(name="stack", template=template({"gate": gate}))
        address = await lab.engine.operations.create(CALLER, body)
        await lab.pass_time(5)
        signals = EngineLife(lab.apart(limits=limits)).signals
        for number in range(accepted):
            details = {"number": number, "data": "x" * 1000}
            await signals.signal(CALLER, address, "gate", details)
        with pytest.raises(RequestError, match=option):
            await signals.signal(CALLER, address, "gate", {"number": 9, "data": "x" * 1000})
        await signals.signal(CALLER, address, "gate", {"number": 10})
        await lab.delete()

    in_lab(story)


def test_changed_attribute_reaches_dependents() -> None:
    async def story(lab: Lab) -> None:
        ref = {"get_attr": ["a", "value"]}
        outputs = {"o": {"value": ref}}
        await lab.create(template({"a": thing(value="1"), "b": thing(value=ref)}, outputs=outputs))
        await lab.update(template({"a": thing(value="2"), "b": thing(value=ref)}, outputs=outputs))
        assert {found.properties["value"] for found in lab.cloud.objects.values()} == {"2"}
        address = await lab.engine.operations.find(CALLER, "stack")
        assert (await lab.engine.views.output(CALLER, address, "o")).value == "2"

    in_lab(story)


def test_operations_of_long_ago_are_dropped() -> None:
    async def story(lab: Lab) -> int:
        await lab.create(template({"a": thing(value="0")}))
        for number in range(40):
            await lab.update(template({"a": thing(value=str(number))}))
        with lab.world.database.connect() as connection:
            return len(connection.execute(tables.operations.select()).all())

    assert in_lab(story) <= 21


def test_update_accepted_after_last_read_is_driven() -> None:
    async def story(lab: Lab) -> None:
        world, wanted = lab.world, template({"a": thing()})

        class AcceptsLate(SqlStore):
            """A store that accepts an update when it has just said that nothing is left to do."""

            accepted = False

            async def agenda(self, *asked: Any) -> Any:
                signals, left = await super().agenda(*asked)
                if not left and not self.accepted:
                    self.accepted = True
                    found = await operations.find(CALLER, "stack")
                    await operations.update(CALLER, found, StackRequest(template=wanted))
                return signals, left

        store = AcceptsLate(world.database, world.cipher, world.disk)
        ports = replace(lab.engine.ports, store=store)
        dispatch = InProcess(ports)
        operations = Operations(ports, Finder(ports), dispatch)
        first = StackRequest(name="stack", template=template({"gate": GATE}), timeout_mins=2)
        await operations.create(CALLER, first)
        await dispatch.idle()
        assert store.accepted
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)
