"""Drift detections run in the background, are stored, and fail when their process ends."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.change_sets import Detection
from stoker.engine.service.views.drift_reports import LONGEST
from stoker.kernel.errors import ActionInProgressError, NotFoundError
from stoker.store.schema.tables import DETECTIONS_KEPT

ONE = template({"a": thing(value="one"), "b": thing(value="one")})


def detections(lab: Lab) -> Any:
    return lab.engine.service.cloudformation.detections


async def ended(lab: Lab, detection_id: str) -> Detection:
    while True:
        found: Detection = (await detections(lab).show(CALLER, detection_id))[0]
        if found.ended_at is not None:
            return found
        await lab.pass_time(1)


def test_detection_finds_and_keeps_drift() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE)
        assert await detections(lab).latest(CALLER, address) is None
        changed = (await lab.rows())["a"].physical_id
        lab.cloud.objects[str(changed)].properties["value"] = "two"
        begun = await detections(lab).begin(CALLER, address)
        found = (await ended(lab, begun)).found
        assert {name: each["state"] for name, each in found.items()} == {
            "a": "changed",
            "b": "same",
        }
        assert found["a"]["properties"] == [["value", "one", "two"]]
        assert await detections(lab).latest(CALLER, address) == await ended(lab, begun)
        only = await ended(lab, await detections(lab).begin(CALLER, address, ["b"]))
        assert set(only.found) == {"b"}

    in_lab(story)


def test_detection_needs_idle_stack_and_known_resource() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE)
        with pytest.raises(NotFoundError):
            await detections(lab).begin(CALLER, address, ["c"])
        await lab.begin_update(template({"a": thing(value="two", slow=50)}))
        with pytest.raises(ActionInProgressError):
            await detections(lab).begin(CALLER, address)

    in_lab(story)


def test_detection_overtaken_by_change_reports_it() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE)
        begun = await detections(lab).begin(CALLER, address)
        await lab.begin_update(template({"a": thing(value="two")}))
        assert "has an operation in progress" in (await ended(lab, begun)).fault
        assert await detections(lab).latest(CALLER, address) is None

    in_lab(story)


def test_detection_of_dead_process_has_failed() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE)
        store, now = lab.engine.ports.store, lab.engine.ports.clock.now()
        lost = Detection("lost", address.id, now)
        await store.commit(PublicChange(address.id, puts=(lost,)))
        assert (await detections(lab).show(CALLER, "lost"))[0].ended_at is None
        await lab.pass_time(LONGEST + 61)
        assert "the service has ended" in (await ended(lab, "lost")).fault

    in_lab(story)


def test_detections_are_bounded_and_private_to_project() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE)
        store = lab.engine.ports.store
        for number in range(DETECTIONS_KEPT + 1):
            one = Detection(f"d{number}", address.id, 0.0, 1.0)
            await store.commit(PublicChange(address.id, puts=(one,)))
        with pytest.raises(NotFoundError):
            await detections(lab).show(CALLER, "d0")
        assert (await detections(lab).show(CALLER, "d1"))[0].id == "d1"
        with pytest.raises(NotFoundError):
            await detections(lab).show(Caller("other", "u"), "d1")

    in_lab(story)
