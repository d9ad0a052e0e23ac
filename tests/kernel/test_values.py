"""Values: copies with other fields, of structs and of dataclasses."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import Struct

from stoker.engine.model.records import Action, Resource, Stack, Status
from stoker.engine.model.requests import Caller
from stoker.kernel.values import replace

ROW = Resource("id", "stack", "a", "T", "token", 0.0, 0.0)


class Listed(Struct, frozen=True):
    names: dict[str, int] = {}


@dataclass(frozen=True)
class Counted:
    number: int = 0
    names: dict[str, int] = field(default_factory=dict)


def kinds(kind: type[Struct]) -> list[type[Struct]]:
    return [each for below in kind.__subclasses__() for each in (below, *kinds(below))]


@pytest.mark.parametrize(
    ("value", "changes"),
    [
        (ROW, {"action": Action.CREATE, "reason": "state changed"}),
        (Stack("id", "p", "s", Action.INIT, Status.COMPLETE, "", 0.0, "i"), {"reason": "x"}),
        (Listed({"a": 1}), {"names": {"b": 2}}),
        (Counted(1, {"a": 1}), {"number": 2}),
        (Caller("p", "u", token="t"), {"request_id": "req-1"}),
    ],
)
def test_copy_differs_in_given_fields_only(value: Any, changes: dict[str, Any]) -> None:
    copy = replace(value, **changes)
    assert copy != value
    assert type(copy) is type(value)
    assert replace(copy, **{name: getattr(value, name) for name in changes}) == value
    assert {name: getattr(copy, name) for name in changes} == changes


@pytest.mark.parametrize("value", [ROW, Counted()])
def test_a_field_that_there_is_not_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="colour"):
        replace(value, colour="red")


def test_two_values_share_no_default() -> None:
    first, second = Resource(*["x"] * 5, 0.0, 0.0), Resource(*["x"] * 5, 0.0, 0.0)
    assert first == second
    assert first.data is not second.data


def test_pickled_value_is_unchanged() -> None:
    row = replace(ROW, data={"a": [1]}, asked=(1.0,))
    assert pickle.loads(pickle.dumps(row, pickle.HIGHEST_PROTOCOL)) == row


def test_all_structs_are_frozen() -> None:
    ours = [kind for kind in kinds(Struct) if kind.__module__.startswith("stoker.")]
    assert ours
    assert [kind for kind in ours if not kind.__struct_config__.frozen] == []
