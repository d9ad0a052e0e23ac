"""Adoption of objects by resource types."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from stoker.engine.execution.calls.adopt import adopting
from stoker.engine.model.records import Adopted
from stoker.engine.model.stack_records.adoption import without_credentials
from stoker.resources.base.registry import Registry
from stoker.resources.heat.random_string import RandomString
from stoker.resources.heat.software_config import SoftwareConfig
from stoker.resources.heat.value import Value
from stoker.resources.heat.wait_condition_handle import HeatWaitConditionHandle
from stoker.schema.properties import Attribute
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, StackFacts

from .calls import RecordedSignalling, make_call

TYPES = Registry()


@dataclass
class Shown(ManagedType):
    """A type of a service that shows its objects."""

    shown: Mapping[str, Any]
    type_name = "Test::Shown"
    service = "test"
    attributes = {"show": Attribute()}

    def create(self, call: Call) -> Outcome:
        raise AssertionError("nothing is made")

    def delete(self, call: Call) -> Outcome:
        raise AssertionError("nothing is deleted")

    def read(self, call: Call) -> Mapping[str, Any]:
        assert call.physical_id == "id"
        return {"show": self.shown}


@pytest.mark.parametrize(
    ("shown", "own"),
    [
        ({"id": "id", "project_id": "project"}, True),
        ({"id": "id", "tenant_id": "project"}, True),
        ({"id": "id"}, True),
        ({"id": "id", "project_id": "other"}, False),
        ({"id": "id", "tenant_id": "other"}, False),
    ],
)
def test_an_object_of_another_project_is_not_adopted(shown: dict[str, Any], own: bool) -> None:
    type_ = Shown(shown)
    outcome = adopting(type_, Adopted("id", {"kept": 1}))(make_call(type_, {}))
    if own:
        assert outcome == Done("id", data={"kept": 1})
    else:
        assert outcome == Failed("id belongs to another project")


def test_a_random_string_stays_what_it_was() -> None:
    type_ = RandomString()
    outcome = adopting(type_, Adopted("old-name", {"value": "s3cret"}))(make_call(type_, {}))
    assert outcome == Done("old-name", data={"value": "s3cret"})


def test_adopted_config_and_handle_user_are_created_again() -> None:
    config = SoftwareConfig()
    call = make_call(config, {"config": "echo"})
    outcome = adopting(config, Adopted("elsewhere"))(call)
    assert isinstance(outcome, Done)
    assert outcome.physical_id == call.resource_id

    handle = HeatWaitConditionHandle()
    call = make_call(handle, {}, signalling=RecordedSignalling())
    outcome = adopting(handle, Adopted("victim", {"user_id": "victim"}))(call)
    assert isinstance(outcome, Done)
    assert outcome.data is not None
    assert outcome.physical_id == outcome.data["user_id"] == "user-r"


class Witness:
    """Stands for signalling: hears of every id that it is asked to act on."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def method(call: Call, *arguments: Any, **_: Any) -> None:
            self.heard += [str(each) for each in (*arguments, *call.data.values())]

        return method


@pytest.mark.parametrize(
    "type_",
    [
        type_
        for name in TYPES.names()
        if isinstance(type_ := TYPES.find(name), ManagedType)
        and type_.service in (None, "identity")
    ],
    ids=lambda type_: type_.type_name,
)
def test_service_rights_are_not_used_on_document_ids(type_: ManagedType) -> None:
    data = without_credentials({"user_id": "victim", "access": "victim", "secret": "victim"})
    witness = Witness()
    if not type_.renewed:
        call = Call(
            stack=StackFacts("s-id", "stack", "project"),
            name="r",
            resource_id="1d2e3f40-0000-4000-8000-000000000000",
            token="abcdefghijkl",
            physical_name="stack-r-abcdefghijkl",
            properties=defaultdict(lambda: None),
            started_at=100.0,
            now=100.0,
            action="DELETE",
            physical_id="victim",
            data=data,
            signalling=witness,
        )
        with contextlib.suppress(Exception):  # what is given is no real resource
            type_.delete(call)
    assert "victim" not in witness.heard


def test_adopted_value_has_the_value_of_its_properties() -> None:
    type_ = Value()
    outcome = adopting(type_, Adopted("id"))(make_call(type_, {"value": {"a": 1}}))
    assert outcome == Done("id", data={}, attributes={"value": {"a": 1}})
