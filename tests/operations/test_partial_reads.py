"""Answers about a stack read only the rows and values that they show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import ResourceQuery, StackRequest
from stoker.engine.model.views import ResourceView
from stoker.kernel.values import replace
from stoker.store.sql.encryption import ColumnCipher

OUTPUTS = {
    "constant": {"value": 1},
    "id": {"value": {"get_resource": "b"}},
    "value": {"value": {"get_attr": ["a", "value"]}},
}
WANTED = template(
    {"a": thing(value="b"), "b": {**thing(value="two"), "depends_on": "a"}, "c": thing()},
    outputs=OUTPUTS,
)
Ask = Callable[[Lab], Awaitable[Any]]


async def listed(lab: Lab, **query: Any) -> list[ResourceView]:
    """Return the resources without values that no list shows."""
    address = (await lab.stack()).address
    found = await lab.engine.views.resources(CALLER, address, ResourceQuery(**query))
    return [replace(each, properties={}, metadata={}) for each in found]


async def outputs(lab: Lab) -> Mapping[str, Any]:
    view = await lab.engine.views.stack(CALLER, (await lab.stack()).address)
    return {each.name: each.value for each in view.outputs or ()}


async def resource(lab: Lab) -> ResourceView:
    return await lab.engine.views.resource(CALLER, (await lab.stack()).address, "a")


async def metadata(lab: Lab) -> Mapping[str, Any]:
    return await lab.engine.views.metadata(CALLER, (await lab.stack()).address, "b")


async def forgotten(lab: Lab) -> None:
    """Forget the rows of the stack, as a process does that has not driven it."""
    lab.engine.ports.rows.drop((await lab.stack()).id)


@pytest.mark.parametrize("ask", [listed, outputs, resource, metadata])
def test_cached_and_stored_rows_give_same_answers(ask: Ask) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        stack = await lab.stack()
        assert lab.engine.ports.rows.at(stack.id, stack.fencing_token) is not None
        of_memory = await ask(lab)
        await forgotten(lab)
        of_store = await ask(lab)
        assert of_store == of_memory

    in_lab(story)


@pytest.mark.parametrize(("ask", "most"), [(listed, 0), (outputs, 2), (resource, 1), (metadata, 2)])
def test_only_values_that_are_shown_are_decrypted(
    ask: Ask, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        stack = await lab.stack()
        secrets = {str(row.properties["value"]): name for name, row in (await lab.rows()).items()}
        await ask(lab)  # which evaluates the template
        await forgotten(lab)
        found = set()
        decrypt = ColumnCipher.decrypt

        def noted(self: ColumnCipher, text: str) -> Any:
            value = decrypt(self, text)
            if isinstance(value, dict) and value.get("value") in secrets:
                found.add(secrets[value["value"]])
            return value

        monkeypatch.setattr(ColumnCipher, "decrypt", noted)
        await ask(lab)
        monkeypatch.undo()
        assert len(found) <= most
        assert lab.engine.ports.rows.at(stack.id, stack.fencing_token) is None

    in_lab(story)


def test_list_has_everything_but_values() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        rows = await lab.rows()
        await forgotten(lab)
        found = {each.name: each for each in await listed(lab)}
        for name, row in rows.items():
            shown = found[name]
            assert (shown.id, shown.physical_id) == (row.id, row.physical_id)
            assert (shown.action, shown.status) == (row.action, row.status)
            assert (shown.created_at, shown.updated_at) == (row.created_at, row.updated_at)
        assert found["a"].required_by == ("b",)
        [detailed] = await listed(lab, with_attributes=True, filters={"name": ("a",)})
        assert detailed.attributes is not None
        assert detailed.attributes["value"] == "b"

    in_lab(story)


def test_output_may_refer_to_resource_by_value() -> None:
    async def story(lab: Lab) -> None:
        found = {"found": {"value": {"get_resource": {"get_attr": ["a", "value"]}}}}
        await lab.create({**WANTED, "outputs": found})
        await forgotten(lab)
        assert await outputs(lab) == {"found": (await lab.rows())["b"].physical_id}

    in_lab(story)


TEXT = """\
heat_template_version: 2018-08-31
resources:
  a:
    type: Sim::Thing
    properties: {value: one}
  b:
    type: Sim::Thing
    properties: {value: two}
"""


def test_update_repeats_the_evaluation_of_its_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise AssertionError("the template is parsed again")

    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        address = (await lab.stack()).address
        await lab.engine.service.previews.update(CALLER, address, StackRequest(template=TEXT))
        monkeypatch.setattr("stoker.engine.service.requests.inputs.parse", refused)
        monkeypatch.setattr("stoker.template.revision.parse", refused)
        await lab.engine.service.operations.update(CALLER, address, StackRequest(template=TEXT))
        await lab.engine.dispatch.idle()
        values = {name: row.properties["value"] for name, row in (await lab.rows()).items()}
        assert values == {"a": "one", "b": "two"}

    in_lab(story)


def test_changed_text_shares_its_unchanged_resources(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> Any:
        raise AssertionError("the whole text is read")

    async def story(lab: Lab) -> None:
        text = TEXT + "".join(f"  c{n}:\n    type: Sim::Thing\n" for n in range(100))
        address = await lab.engine.service.operations.create(
            CALLER, StackRequest(name="shop", template=text)
        )
        await lab.engine.dispatch.idle()
        changed = StackRequest(template=text.replace("two", "three"))
        monkeypatch.setattr("stoker.engine.service.requests.inputs.parse", refused)
        plan = await lab.engine.service.previews.update(CALLER, address, changed)
        changes = {each.path: each.change for each in plan.changes if each.change != "unchanged"}
        assert changes == {("b",): "updated"}

    in_lab(story)
