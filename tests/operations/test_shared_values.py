"""Exports and imports: an imported value neither changes nor disappears."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab
from tests.simulation.world import CALLER

from stoker.engine.model.records import Status
from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import NotSupportedError


def exporter(value: str, name: Any = "shared", **more: Any) -> dict[str, Any]:
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"A": {"Type": "Sim::Thing", "Properties": {"value": value}, **more}},
        "Outputs": {
            "O": {"Value": {"Fn::GetAtt": ["A", "value"]}, "Export": {"Name": name}},
            "P": {"Value": "plain"},
        },
    }


def importer(name: Any = "shared") -> dict[str, Any]:
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "B": {"Type": "Sim::Thing", "Properties": {"value": {"Fn::ImportValue": name}}}
        },
    }


NOTHING = {"AWSTemplateFormatVersion": "2010-09-09"}


async def create(lab: Lab, name: str, wanted: Any) -> Any:
    request = StackRequest(name=name, template=wanted)
    address = await lab.engine.operations.create(CALLER, request)
    await lab.engine.dispatch.idle()
    return address


async def update(lab: Lab, address: Any, wanted: Any, **request: Any) -> str:
    """The status afterwards."""
    asked = StackRequest(template=wanted, **request)
    await lab.engine.operations.update(CALLER, address, asked)
    await lab.engine.dispatch.idle()
    return await status(lab, address)


async def status(lab: Lab, address: Any) -> str:
    stack = await lab.engine.ports.store.stack(address.id)
    assert stack is not None
    return f"{stack.action}_{stack.status}"


async def exports(lab: Lab) -> dict[str, Any]:
    found = await lab.engine.service.cloudformation.shared.exports(CALLER)
    return {each.name: each.value for each in found}


async def delete(lab: Lab, address: Any) -> None:
    await lab.engine.operations.delete(CALLER, address)
    await lab.engine.dispatch.idle()


def test_stack_imports_export_of_other_stack() -> None:
    async def story(lab: Lab) -> None:
        shared = lab.engine.service.cloudformation.shared
        one = await create(lab, "one", exporter("hello"))
        assert await exports(lab) == {"shared": "hello"}
        assert await shared.importers(CALLER, "shared") == []
        other = await create(lab, "other", importer({"Fn::Join": ["", ["sha", "red"]]}))
        assert await status(lab, other) == "CREATE_COMPLETE"
        assert {thing.properties["value"] for thing in lab.cloud.objects.values()} == {"hello"}
        assert await shared.importers(CALLER, "shared") == ["other"]
        await delete(lab, other)
        assert await shared.importers(CALLER, "shared") == []
        await delete(lab, one)
        assert await exports(lab) == {}

    in_lab(story)


def test_imported_export_cannot_change_or_be_removed() -> None:
    async def story(lab: Lab) -> None:
        one = await create(lab, "one", exporter("hello"))
        other = await create(lab, "other", importer())
        with pytest.raises(NotSupportedError, match="in use by other"):
            await delete(lab, one)
        with pytest.raises(NotSupportedError, match="in use by other"):
            await update(lab, one, exporter("hello", "renamed"))
        assert await update(lab, one, exporter("bye"), disable_rollback=False) == (
            "ROLLBACK_COMPLETE"
        )
        stack = await lab.engine.ports.store.stack(one.id)
        assert stack is not None
        assert await exports(lab) == {"shared": "hello"}
        # an unchanged value may be exported again
        assert await update(lab, one, exporter("hello", Metadata={"a": 1})) == "UPDATE_COMPLETE"
        assert await update(lab, other, NOTHING) == "UPDATE_COMPLETE"
        assert await update(lab, one, exporter("bye", "renamed")) == "UPDATE_COMPLETE"
        assert await exports(lab) == {"renamed": "bye"}
        assert await update(lab, one, NOTHING) == "UPDATE_COMPLETE"
        assert await exports(lab) == {}

    in_lab(story)


def test_export_names_are_unique() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "one", exporter("hello"))
        with pytest.raises(NotSupportedError, match="already exported by stack one"):
            await create(lab, "two", exporter("hello"))
        both = exporter("x", "a")
        both["Outputs"]["P"]["Export"] = {"Name": "a"}
        with pytest.raises(DiagnosticError, match="twice"):
            await create(lab, "three", both)

    in_lab(story)


def test_concurrent_exports_of_one_name_conflict() -> None:
    async def story(lab: Lab) -> None:
        slow = {"AWSTemplateFormatVersion": "2010-09-09", **exporter("x")}
        slow["Resources"]["A"]["Properties"]["lag"] = 10
        made = [
            await lab.engine.operations.create(CALLER, StackRequest(name=name, template=slow))
            for name in ("one", "two")
        ]
        await lab.engine.dispatch.idle()
        ends = sorted([await status(lab, address) for address in made])
        assert ends == ["CREATE_COMPLETE", "CREATE_FAILED"]
        assert await exports(lab) == {"shared": "x"}

    in_lab(story)


@pytest.mark.parametrize("name", ["nowhere", {"Ref": "A"}, 3, {"Fn::ImportValue": "nowhere"}])
def test_import_of_unknown_export_is_refused(name: Any) -> None:
    async def story(lab: Lab) -> None:
        wanted = importer(name)
        wanted["Resources"]["A"] = {"Type": "Sim::Thing"}
        with pytest.raises(DiagnosticError) as refused:
            await create(lab, "other", wanted)
        assert ("No export named nowhere found" in str(refused.value)) == ("nowhere" in str(name))
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "other") is None

    in_lab(story)


@pytest.mark.parametrize("name", ["", "x" * 256, {"Ref": "A"}, 3])
def test_export_name_must_not_depend_on_resource(name: Any) -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match="export"):
            await create(lab, "one", exporter("x", name))

    in_lab(story)


def test_rollback_restores_imported_value() -> None:
    async def story(lab: Lab) -> None:
        one = await create(lab, "one", exporter("hello"))
        other = await create(lab, "other", importer())
        bad = importer()
        bad["Resources"]["C"] = {
            "Type": "Sim::Thing",
            "DependsOn": "B",
            "Properties": {"fail": "create"},
        }
        assert await update(lab, other, bad, disable_rollback=False) == "ROLLBACK_COMPLETE"
        with pytest.raises(NotSupportedError):
            await delete(lab, one)
        values = [thing.properties["value"] for thing in lab.cloud.objects.values()]
        assert values == ["hello", "hello"]
        stack = await lab.engine.ports.store.stack(other.id)
        assert stack is not None
        assert stack.status is Status.COMPLETE

    in_lab(story)
