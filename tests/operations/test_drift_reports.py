"""Drift reports: changed properties, missing objects, and objects that were not compared."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.views import DriftedProperty, DriftView
from stoker.kernel.errors import ActionInProgressError

FILES = {
    "inner.yaml": "heat_template_version: 2018-08-31\n"
    "parameters: {secret: {type: string, hidden: true}}\n"
    "resources: {deep: {type: Sim::Thing, properties: {value: {get_param: secret}}}}\n"
}


async def drift(lab: Lab) -> dict[str, DriftView]:
    address = (await lab.stack()).address
    found = await lab.engine.service.reports.drift.report(CALLER, address)
    return {each.resource.name: each for each in found}


def test_drift_report_shows_differences_and_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        wanted = {name: thing(value="v", fixed="f") for name in ("same", "changed", "gone")}
        text = {"type": "OS::Heat::RandomString"}
        await lab.create(template({**wanted, "text": text}))
        lab.cloud.tamper("changed", value="theirs", fixed="also theirs")
        lab.cloud.vanish("gone")
        rows, journal = await lab.rows(), list(lab.cloud.journal)
        found = await drift(lab)
        assert {name: each.state for name, each in found.items()} == {
            "same": "same",
            "changed": "changed",
            "gone": "gone",
            "text": "internal",
        }
        assert found["changed"].properties == (
            DriftedProperty("value", "v", "theirs", repairable=True),
            DriftedProperty("fixed", "f", "also theirs", repairable=False),
        )
        assert (await lab.rows(), lab.cloud.journal) == (rows, journal)

    in_lab(story)


def test_drift_report_includes_nested_stacks_and_masks_secrets() -> None:
    async def story(lab: Lab) -> None:
        inner = {"type": "inner.yaml", "properties": {"secret": "do not tell"}}
        await lab.create(template({"inner": inner}), files=FILES)
        lab.cloud.tamper("deep", value="open")
        found = await drift(lab)
        assert list(found) == ["deep"]
        [property_] = found["deep"].properties
        assert (property_.applied, property_.live) == ("******", "open")

    in_lab(story)


def test_drift_report_explains_unreadable_objects() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        lab.cloud.down = (0.0, float("inf"))
        found = await drift(lab)
        assert (found["a"].state, found["a"].properties) == ("unknown", ())
        assert "down" in found["a"].reason

    in_lab(story)


def test_drift_report_of_changing_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        await lab.begin_update(template({"a": thing(), "b": thing(slow=50)}))
        with pytest.raises(ActionInProgressError):
            await drift(lab)
        await lab.engine.dispatch.idle()
        report = asyncio.ensure_future(drift(lab))
        await asyncio.sleep(0)
        await lab.begin_update(template({"a": thing(), "c": thing(slow=50)}))
        with pytest.raises(ActionInProgressError):
            await report

    in_lab(story)
