"""Every hook stops its action, at the right moment, until it is cleared."""

from __future__ import annotations

from stoker.engine.model.requests import ResourceQuery
from tests.engine_world import Lab, in_lab, template, thing
from tests.hooks.breakpoints import (
    begin_create,
    begin_delete,
    clear,
    events,
    finish,
    hooks,
    standing,
    told,
)
from tests.simulation.world import CALLER

CHAIN = template(
    {"a": thing(value="one"), "b": thing(value="one", depends_on="a"), "c": thing(value="one")}
)
CHANGED = template(
    {"a": thing(value="two"), "b": thing(value="two", depends_on="a"), "c": thing(value="one")}
)
REPLACED = template(
    {
        "a": thing(value="one", fixed="new"),
        "b": thing(value="one", depends_on="a"),
        "c": thing(value="one"),
    }
)
CHANGED_AND_REPLACED = template({**REPLACED["resources"], "b": thing(value="two", depends_on="a")})
WITHOUT_B = template({"a": thing(value="one"), "c": thing(value="one")})


def test_pre_create_stops_before_anything_is_made() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, CHAIN, environment=hooks(a="pre-create"))
        assert await standing(lab) == {"a": "pre-create"}
        rows = await lab.rows()
        assert set(rows) == {"a", "c"}
        assert (rows["a"].action, rows["a"].status) == ("INIT", "COMPLETE")
        assert rows["a"].type_name == "Sim::Thing"
        assert len(lab.cloud.objects) == 1
        await clear(lab, "a", "pre-create")
        assert await finish(lab) == "CREATE_COMPLETE"
        assert await told(lab) == [
            "a INIT_COMPLETE CREATE paused until Hook pre-create is cleared",
            "a INIT_COMPLETE Hook pre-create is cleared",
        ]

    in_lab(story)


def test_post_create_stops_those_who_need_the_resource() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, CHAIN, environment=hooks(a=["post-create"]))
        assert await standing(lab) == {"a": "post-create"}
        assert set(await lab.rows()) == {"a", "c"}
        assert len(lab.cloud.objects) == 2
        assert (await lab.stack()).status == "IN_PROGRESS"
        await clear(lab, "a", "post-create")
        assert await finish(lab) == "CREATE_COMPLETE"
        assert await told(lab) == [
            "a CREATE_COMPLETE CREATE paused until Hook post-create is cleared",
            "a CREATE_COMPLETE Hook post-create is cleared",
        ]

    in_lab(story)


def test_one_action_stops_before_and_after() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, CHAIN, environment=hooks(a=["pre-create", "post-create"]))
        assert await standing(lab) == {"a": "pre-create"}
        await clear(lab, "a", "pre-create")
        assert await standing(lab) == {"a": "post-create"}
        await clear(lab, "a", "post-create")
        assert await finish(lab) == "CREATE_COMPLETE"

    in_lab(story)


def test_updates_stop_before_and_after_what_changes() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        await lab.begin_update(
            CHANGED, environment=hooks(a=["pre-update", "post-update"], c="post-update")
        )
        assert await standing(lab) == {"a": "pre-update"}
        [made] = [
            o for o in lab.cloud.objects.values() if o.id == (await lab.rows())["a"].physical_id
        ]
        assert made.properties["value"] == "one"
        await clear(lab, "a", "pre-update")
        assert await standing(lab) == {"a": "post-update"}
        assert made.properties["value"] == "two"
        assert (await lab.rows())["b"].properties["value"] == "one"
        await clear(lab, "a", "post-update")
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert (await lab.rows())["b"].properties["value"] == "two"
        assert await told(lab) == [
            "a CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared",
            "a CREATE_COMPLETE Hook pre-update is cleared",
            "a UPDATE_COMPLETE UPDATE paused until Hook post-update is cleared",
            "a UPDATE_COMPLETE Hook post-update is cleared",
        ]

    in_lab(story)


def test_update_pauses_before_unchanged_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        both = ["pre-update", "post-update"]
        await lab.begin_update(CHAIN, environment=hooks(a=both, b=both))
        assert await standing(lab) == {"a": "pre-update"}
        await clear(lab, "a", "pre-update")
        assert await standing(lab) == {"b": "pre-update"}
        await clear(lab, "b", "pre-update")
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert {row.action for row in (await lab.rows()).values()} == {"CREATE"}

    in_lab(story)


def test_stack_delete_pauses_before_and_after_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN, environment=hooks(b=["pre-delete", "post-delete"]))
        stack_id = (await lab.stack()).id
        await begin_delete(lab)
        assert await standing(lab) == {"b": "pre-delete"}
        assert len(lab.cloud.objects) == 2
        await clear(lab, "b", "pre-delete")
        assert await standing(lab) == {"b": "post-delete"}
        assert set(await lab.rows()) == {"a", "b"}
        assert len(lab.cloud.objects) == 1
        await clear(lab, "b", "post-delete")
        await lab.engine.dispatch.idle()
        assert lab.cloud.objects == {}
        assert await told(lab, stack_id) == [
            "b CREATE_COMPLETE DELETE paused until Hook pre-delete is cleared",
            "b CREATE_COMPLETE Hook pre-delete is cleared",
            "b DELETE_COMPLETE DELETE paused until Hook post-delete is cleared",
            "b DELETE_COMPLETE Hook post-delete is cleared",
        ]
        history = [e for e in await events(lab, stack_id) if e.resource_name == "b"]
        assert sum(f"{e.action}_{e.status}" == "DELETE_COMPLETE" for e in history) == 3
        assert await lab.engine.ports.store.signals(stack_id) == []

    in_lab(story)


def test_an_update_stops_before_it_removes_a_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        await lab.begin_update(WITHOUT_B, environment=hooks(b="pre-delete"))
        assert await standing(lab) == {"b": "pre-delete"}
        assert len(lab.cloud.objects) == 3
        await clear(lab, "b", "pre-delete")
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_replacement_pauses_at_each_of_its_hooks() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(CHAIN)
        passed = ["pre-update", "pre-create", "post-create", "pre-delete", "post-delete"]
        every = [*passed, "post-update"]
        objects = [3, 3, 4, 4, 3]
        await lab.begin_update(REPLACED, environment=hooks(a=every))
        for hook, count in zip(passed, objects, strict=True):
            assert await standing(lab) == {"a": hook}
            assert len(lab.cloud.objects) == count
            views = await lab.engine.views.resources(CALLER, address, ResourceQuery())
            assert [v.name for v in views if f"Hook {hook}" in (v.waiting_for or "")] == ["a"]
            await clear(lab, "a", hook)
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].properties["fixed"] == "new"
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_replaced_object_pauses_and_is_listed_until_deleted() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(CHAIN)
        first = (await lab.rows())["a"].physical_id
        environment = hooks(a="post-delete", b=["pre-update", "pre-delete"])
        await lab.begin_update(CHANGED_AND_REPLACED, environment=environment)
        assert await standing(lab) == {"b": "pre-update"}
        # b still needs the first object of a
        await begin_delete(lab)
        assert await standing(lab) == {"a": "post-delete", "b": "pre-delete"}
        await clear(lab, "a", "post-delete")
        await clear(lab, "b", "pre-delete")
        assert await standing(lab) == {"a": "post-delete"}
        views = await lab.engine.views.resources(CALLER, address, ResourceQuery())
        assert [(v.name, v.physical_id) for v in views] == [("a", first)]
        await clear(lab, "a", "post-delete")
        await lab.engine.dispatch.idle()
        assert lab.cloud.objects == {}
        assert await lab.engine.ports.store.resources(address.id) == []

    in_lab(story)


def test_resources_matching_glob_pause_independently() -> None:
    async def story(lab: Lab) -> None:
        resources = {name: thing() for name in ("db_1", "db_2", "web")}
        environment = hooks(**{"db_*": "pre-create"})
        await begin_create(lab, template(resources), environment=environment)
        assert await standing(lab) == {"db_1": "pre-create", "db_2": "pre-create"}
        await clear(lab, "db_2", "pre-create")
        assert await standing(lab) == {"db_1": "pre-create"}
        assert set(lab.cloud.objects) == {
            row.physical_id for row in (await lab.rows()).values() if row.physical_id
        }
        await clear(lab, "db_1", "pre-create")
        assert await finish(lab) == "CREATE_COMPLETE"

    in_lab(story)


def test_external_object_has_no_hooks() -> None:
    async def story(lab: Lab) -> None:
        every = ["pre-create", "post-create", "pre-delete", "post-delete"]
        theirs = lab.cloud.create("Sim::Thing", "somebody's", {})
        wanted = template({"a": {"type": "Sim::Thing", "external_id": theirs}})
        await lab.create(wanted, environment=hooks(a=every))
        assert await lab.status() == "CREATE_COMPLETE"
        stack_id = (await lab.stack()).id
        await lab.delete()
        assert await told(lab, stack_id) == []

    in_lab(story)


def test_paused_resource_shows_its_hook() -> None:
    async def story(lab: Lab) -> None:
        address = await begin_create(lab, CHAIN, environment=hooks(a="pre-create"))
        await standing(lab)
        views = await lab.engine.views.resources(CALLER, address, ResourceQuery())
        assert {view.name: view.waiting_for for view in views} == {
            "a": "CREATE paused until Hook pre-create is cleared",
            "c": None,
        }
        await clear(lab, "a", "pre-create")
        await finish(lab)
        views = await lab.engine.views.resources(CALLER, address, ResourceQuery())
        assert {view.waiting_for for view in views} == {None}

    in_lab(story)
