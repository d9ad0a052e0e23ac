"""Objects that exist already, which a template names by their ids."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing

from stoker.kernel.diagnostics import Severity
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

VALUE = {"get_attr": ["a", "value"]}


def referring(value: str, external_id: Any) -> dict[str, Any]:
    return template(
        {"a": thing(value=value), "b": {"type": "Sim::Thing", "external_id": external_id}}
    )


THEIRS = "object-1"  # first object of the cloud, not made by the stack


def make_theirs(lab: Lab) -> None:
    assert lab.cloud.create("Sim::Thing", "somebody's", {"value": "v"}) == THEIRS


def test_an_id_may_come_from_another_resource() -> None:
    async def story(lab: Lab) -> None:
        make_theirs(lab)
        await lab.create(referring(THEIRS, VALUE))
        assert (await lab.rows())["b"].physical_id == THEIRS
        assert (await lab.rows())["b"].status == "COMPLETE"

    in_lab(story)


@pytest.mark.parametrize(
    ("value", "external_id"), [("a,b", {"str_split": [",", VALUE]}), ("", VALUE)]
)
def test_invalid_external_id_fails_its_resource(value: str, external_id: Any) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(referring(value, external_id))
        assert await lab.status() == "CREATE_FAILED"
        assert "the external id of b" in (await lab.stack()).reason

    in_lab(story)


def test_missing_external_object_fails_until_it_exists() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(external(THEIRS))
        assert await lab.status() == "CREATE_FAILED"
        row = (await lab.rows())["a"]
        assert (row.action, row.status, row.physical_id) == ("CHECK", "FAILED", THEIRS)
        assert row.reason in (await lab.stack()).reason
        make_theirs(lab)
        await lab.update(external(THEIRS))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].status == "COMPLETE"
        await lab.delete()
        assert list(lab.cloud.objects) == [THEIRS]

    in_lab(story)


def test_external_id_of_uncheckable_type_is_accepted() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": "Sim::Handle", "external_id": "theirs"}}))
        row = (await lab.rows())["a"]
        assert (row.action, row.status) == ("CHECK", "COMPLETE")
        assert row.reason == "CHECK not supported for Sim::Handle"

    in_lab(story)


def test_attributes_of_an_object_that_exists_are_known() -> None:
    async def story(lab: Lab) -> None:
        make_theirs(lab)
        a = {"type": "Sim::Thing", "external_id": THEIRS}
        await lab.create(template({"a": a, "b": thing(value=VALUE)}))
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.rows())["b"].properties["value"] == "v"

    in_lab(story)


OWN = template({"a": thing(value="one")})


def external(external_id: str) -> dict[str, Any]:
    return template({"a": {"type": "Sim::Thing", "external_id": external_id}})


@pytest.mark.parametrize("rollback", [True, False])
def test_own_object_cannot_become_external(rollback: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(OWN)
        before = (await lab.rows())["a"]
        for external_id in (str(before.physical_id), "other"):
            await lab.update(external(external_id), disable_rollback=not rollback)
            assert await lab.status() == ("ROLLBACK_COMPLETE" if rollback else "UPDATE_FAILED")
            told = [event.reason for event in await lab.events() if event.status == "FAILED"]
            assert "Update to property external_id of a (Sim::Thing) is not supported" in told[-1]
            assert (await lab.rows())["a"].physical_id == before.physical_id
            assert list(lab.cloud.objects) == [before.physical_id]
        await lab.update(OWN)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert list(lab.cloud.objects) == [before.physical_id]

    in_lab(story)


@pytest.mark.parametrize("other", [OWN, external("another")], ids=["taken away", "another"])
def test_external_id_cannot_change(other: dict[str, Any]) -> None:
    async def story(lab: Lab) -> None:
        make_theirs(lab)
        await lab.create(external(THEIRS))
        await lab.update(other)
        assert await lab.status() == "UPDATE_FAILED"
        assert "external_id of a (Sim::Thing) is not supported" in (await lab.stack()).reason
        assert (await lab.rows())["a"].physical_id == THEIRS
        assert list(lab.cloud.objects) == [THEIRS]
        await lab.update(external(THEIRS))
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_external_object_outlives_its_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(OWN)
        made = str((await lab.rows())["a"].physical_id)
        both = {**OWN["resources"], "b": {"type": "Sim::Thing", "external_id": made}}
        await lab.update(template(both))
        await lab.update(OWN)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert list(lab.cloud.objects) == [made]

    in_lab(story)


@pytest.mark.parametrize(
    ("type_name", "given"),
    [
        ("OS::Nova::Server", {}),
        ("OS::Neutron::Subnet", {"ip_version": 4}),
        ("OS::Nova::Flavor", {}),
    ],
)
def test_an_object_that_is_there_needs_no_properties(type_name: str, given: Any) -> None:
    body = {"type": type_name, "external_id": "theirs", "properties": given}
    assert errors_in(template({"a": body})) == []
    del body["external_id"]
    assert errors_in(template({"a": body})) != []


def test_properties_of_external_resource_are_validated() -> None:
    body = {"type": "OS::Nova::Server", "external_id": "theirs", "properties": {"flavour": "m1"}}
    assert errors_in(template({"a": body})) != []


def errors_in(wanted: dict[str, Any]) -> list[str]:
    findings = Evaluation(parse(wanted), Inputs(), Registry()).validate()
    return [found.message for found in findings if found.severity is Severity.ERROR]
