"""The rules of ``stoker.engine.planning.ordering``, seen in the order of events."""

from __future__ import annotations

from tests.engine_world import Lab, in_lab, template, thing

from stoker.engine.model.requests import EventQuery


def _before(history: list[str], first: str, then: str) -> bool:
    return history.index(first) < history.index(then)


def test_needs_first_by_reference() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"b": thing(uses={"get_resource": "a"}), "a": thing(slow=3)}))
        assert _before(await lab.history(), "a CREATE_COMPLETE", "b CREATE_IN_PROGRESS")

    in_lab(story)


def test_needs_first_by_depends_on() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"b": thing(depends_on="a"), "a": thing(slow=3)}))
        assert _before(await lab.history(), "a CREATE_COMPLETE", "b CREATE_IN_PROGRESS")

    in_lab(story)


def test_independent_resources_are_made_side_by_side() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(slow=5), "b": thing(slow=5)}))
        history = await lab.history()
        assert _before(history, "a CREATE_IN_PROGRESS", "b CREATE_COMPLETE")
        assert _before(history, "b CREATE_IN_PROGRESS", "a CREATE_COMPLETE")

    in_lab(story)


def test_dependents_first_on_delete() -> None:
    async def story(lab: Lab) -> list[str]:
        address = await lab.create(template({"a": thing(), "b": thing(uses={"get_resource": "a"})}))
        await lab.delete()
        events = await lab.engine.ports.store.events([address.id], EventQuery())
        return [f"{e.resource_name} {e.action}_{e.status}" for e in events if e.resource_id]

    history = in_lab(story)
    assert _before(history, "b DELETE_COMPLETE", "a DELETE_IN_PROGRESS")


def test_remove_last() -> None:
    """Nothing goes before all that is wanted is there."""

    async def story(lab: Lab) -> None:
        await lab.create(template({"old": thing(), "kept": thing(value="a")}))
        await lab.update(template({"kept": thing(value="b", slow=9), "new": thing(slow=9)}))
        history = await lab.history()
        assert _before(history, "new CREATE_COMPLETE", "old DELETE_IN_PROGRESS")
        assert _before(history, "kept UPDATE_COMPLETE", "old DELETE_IN_PROGRESS")

    in_lab(story)


def test_create_before_delete_on_replacement() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fixed="x")}))
        first = (await lab.rows())["a"].physical_id
        await lab.update(template({"a": thing(fixed="y", slow=4)}))
        history = await lab.history()
        assert history[-3:] == ["a CREATE_COMPLETE", "a DELETE_IN_PROGRESS", "a DELETE_COMPLETE"]
        assert first not in lab.cloud.objects

    in_lab(story)


def test_kept_resource_releases_replaced_object_before_its_delete() -> None:
    async def story(lab: Lab) -> None:
        user = thing(uses={"get_resource": "a"})
        await lab.create(template({"a": thing(fixed="x"), "user": user}))
        await lab.update(template({"a": thing(fixed="y"), "user": user}))
        history = await lab.history()
        assert _before(history, "user UPDATE_COMPLETE", "a DELETE_IN_PROGRESS")
        rows = await lab.rows()
        assert rows["user"].properties["uses"] == rows["a"].physical_id
        assert not lab.cloud.violations

    in_lab(story)


def test_a_failure_leaves_what_would_have_been_removed() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": thing()}))
        await lab.update(template({"new": thing(fail="create")}))
        assert await lab.status() == "UPDATE_FAILED"
        assert (await lab.rows())["old"].physical_id in lab.cloud.objects

    in_lab(story)


def test_failed_delete_does_not_block_other_deletes() -> None:
    async def story(lab: Lab) -> list[str]:
        await lab.create(template({"a": thing(), "b": thing()}))
        stuck = (await lab.rows())["a"].physical_id
        lab.cloud.undeletable.add(stuck)
        await lab.delete()
        assert await lab.status() == "DELETE_FAILED"
        left = await lab.rows()
        lab.cloud.undeletable.clear()
        await lab.delete()
        return sorted(left)

    assert in_lab(story) == ["a"]


def test_a_dependency_that_is_turned_round_is_followed() -> None:
    async def story(lab: Lab) -> None:
        a, b = thing(value="1"), thing(value="1", uses={"get_resource": "a"})
        await lab.create(template({"a": a, "b": b}))
        a, b = thing(value="2", uses={"get_resource": "b"}), thing(value="2")
        await lab.update(template({"a": a, "b": b}))
        assert await lab.status() == "UPDATE_COMPLETE"
        rows = await lab.rows()
        assert rows["a"].requires == (rows["b"].id,)

    in_lab(story)
