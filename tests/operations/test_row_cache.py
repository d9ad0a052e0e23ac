"""Rows stay in memory between two operations, as long as no other engine changes them."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.row_cache import RowCache
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.kernel.values import replace


def wanted(value: str = "v") -> dict[str, Any]:
    return template({"a": thing(value=value), "b": {**thing(), "depends_on": "a"}, "c": thing()})


def test_update_starts_with_rows_of_last_driver() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted())
        stack, rows = await lab.stack(), lab.engine.ports.rows
        left = rows.at(stack.id, stack.fencing_token)
        assert left is not None
        await lab.update(wanted("w"))
        after = await lab.stack()
        now = rows.at(stack.id, after.fencing_token)
        assert now is not None
        assert rows.at(stack.id, stack.fencing_token) is None
        before = {row.name: row for row in left.rows}
        assert {row.name for row in now.rows if row is not before[row.name]} == {"a"}
        assert [row.properties["value"] for row in now.rows if row.name == "a"] == ["w"]

    in_lab(story)


def test_rows_of_another_owner_are_read() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted())
        stack, row = await lab.stack(), (await lab.rows())["c"]
        marked = replace(row, unhealthy=True)
        change = PublicChange(stack.id, puts=(StackRevision(stack), marked))
        await lab.engine.ports.store.commit(change)
        await lab.update(wanted())
        assert (await lab.rows())["c"].physical_id != row.physical_id

    in_lab(story)


NESTED = """
heat_template_version: 2018-08-31
resources: {in: {type: Sim::Thing, properties: {value: x}}}
outputs: {out: {value: {get_resource: in}}}
"""


def test_parent_uses_rows_of_nested_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(lab: Lab) -> None:
        rows, found = lab.engine.ports.rows, set()
        at = rows.at

        def recorded(stack_id: str, token: int) -> Any:
            settled = at(stack_id, token)
            if settled is not None:
                found.add(stack_id)
            return settled

        monkeypatch.setattr(rows, "at", recorded)
        resources = {"a": {"type": "n.yaml"}, "b": thing(uses={"get_attr": ["a", "out"]})}
        await lab.create(template(resources), files={"n.yaml": NESTED})
        now = await lab.rows()
        assert now["b"].properties["uses"]
        assert found == {now["a"].nested_id}

    in_lab(story)


def test_dependant_of_replaced_resource_is_decided_again() -> None:
    async def story(lab: Lab) -> None:
        chain = {"a": thing(), "b": thing(uses={"get_resource": "a"}), "c": thing()}
        await lab.create(template(chain))
        await lab.update(template(chain))
        first = await lab.rows()
        replaced = {**chain, "a": thing(fixed="x")}
        await lab.update(template(replaced))
        now = await lab.rows()
        assert now["a"].physical_id != first["a"].physical_id
        assert now["b"].properties["uses"] == now["a"].physical_id
        assert now["c"] == first["c"]

    in_lab(story)


def test_failed_update_leaves_no_rows() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted())
        await lab.update(template({"a": thing(value="w", fail="update")}), disable_rollback=True)
        stack = await lab.stack()
        assert f"{stack.action}_{stack.status}" == "UPDATE_FAILED"
        assert lab.engine.ports.rows.at(stack.id, stack.fencing_token) is None

    in_lab(story)


def row(name: str, octets: int = 0, unreadable: tuple[str, ...] = ()) -> Resource:
    return Resource(
        name, "s", name, "T", "t", 0.0, 0.0, properties={"p": "x" * octets}, unreadable=unreadable
    )


def stack_of(id_: str, token: int = 1) -> Stack:
    async def story(lab: Lab) -> Stack:
        await lab.create(template({}))
        return replace(await lab.stack(), id=id_, fencing_token=token)

    found: Stack = in_lab(story)
    return found


def test_cache_is_bounded_in_bytes() -> None:
    cache, stack = RowCache(100_000), stack_of("a")
    cache.keep(stack, [row("1", 60_000)], None, None)
    assert cache.at("a", 1) is not None
    cache.keep(replace(stack, id="b"), [row("1", 60_000)], None, None)
    assert cache.at("a", 1) is None
    assert cache.at("b", 1) is not None
    cache.keep(replace(stack, id="c"), [row("1", 200_000)], None, None)
    assert cache.at("c", 1) is None


def test_unreadable_rows_are_not_cached() -> None:
    cache = RowCache()
    cache.keep(stack_of("a"), [row("1"), row("2", unreadable=("data",))], None, None)
    assert cache.at("a", 1) is None


def test_unused_rows_are_forgotten() -> None:
    cache, stack = RowCache(), stack_of("a")
    cache.keep(stack, [row("1")], None, None)
    cache.forget_unused()
    assert cache.at("a", 1) is not None
    cache.forget_unused()
    cache.forget_unused()
    assert cache.at("a", 1) is None


def test_rows_do_not_hold_evaluations_in_memory() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted())
        stack, ports = await lab.stack(), lab.engine.ports
        left = ports.rows.at(stack.id, stack.fencing_token)
        assert left is not None
        assert left.unchanged is not None
        assert left.unchanged.evaluation() is ports.evaluations.get(stack.input_id)
        ports.evaluations.forget_older(stack.id, None)
        gc.collect()
        assert left.unchanged.evaluation() is None
        await lab.update(wanted())
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)
