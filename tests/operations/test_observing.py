"""Reads of live objects: names are resolved only where they matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.clouds.driving import Row

from stoker.engine.execution.observe.observing import Observation, comparison_with_live
from stoker.engine.execution.session import StackRows
from stoker.kernel.errors import NotFoundError
from stoker.schema.properties import Finder, NameLookup, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome

NETWORK = Property(Type.STRING, finder=Finder("network", "network"))


class Leaf(ManagedType):
    """An object in a network."""

    type_name = "Test::Leaf"
    service = "network"
    properties = {
        "network": NETWORK,
        "others": Property(Type.LIST, items=NETWORK),
        "size": Property(Type.INTEGER),
        "name": Property(Type.STRING, update_allowed=True),
    }

    def __init__(self, live: Mapping[str, Any] | None) -> None:
        self._live = live

    def create(self, call: Call) -> Outcome:
        return Done("leaf")

    def delete(self, call: Call) -> Outcome:
        return Done()

    def live(self, call: Call) -> Mapping[str, Any] | None:
        return self._live


@dataclass
class Names:
    """The names that a cloud knows; it records lookups."""

    known: Mapping[str, str]
    asked: list[str] = field(default_factory=list)

    def lookup(self, stack: Any, lookups: Sequence[NameLookup]) -> list[str]:
        self.asked += [each.value for each in lookups]
        try:
            return [self.known[each.value] for each in lookups]
        except KeyError as name:
            raise NotFoundError(f"there is no network {name}") from None


def look(live: Mapping[str, Any] | None, names: Names, **given: Any) -> Observation:
    rows = cast("StackRows", SimpleNamespace(ports=SimpleNamespace(clouds=names), stack=None))
    type_ = Leaf(live)
    method = comparison_with_live(rows, type_)
    assert method is not None
    return method(Row(type_, None, given, physical_id="leaf").call("CHECK"))


def test_names_are_resolved_only_if_property_would_differ() -> None:
    names = Names({"blue": "id-1"})
    found = look({"network": "id-1", "size": 1}, names, network="blue", size=1)
    assert (found.found.differences, names.asked) == ((), ["blue"])
    names.asked.clear()
    look({"network": "id-1", "size": 2}, names, network="id-1", size=1)
    assert names.asked == []


@pytest.mark.parametrize("live", ["id-2", "id-1"])
def test_a_name_that_now_means_another_object_differs(live: str) -> None:
    found = look({"network": live}, Names({"blue": "id-2"}), network="blue").found
    assert [each.live for each in found.differences] == ([] if live == "id-2" else ["id-1"])


def test_names_inside_lists_are_looked_up_too() -> None:
    names = Names({"blue": "id-1", "red": "id-2"})
    assert not look({"others": ["id-2", "id-1"]}, names, others=["blue", "red"]).found.differences


def test_unresolvable_name_is_reported_as_not_compared() -> None:
    found = look({"network": "id-1", "size": 2}, Names({}), network="blue", size=1).found
    assert [each.name for each in found.differences] == ["size"]
    assert found.unreported == ("network",)


@pytest.mark.parametrize(
    ("given", "live", "differs"),
    [
        (None, "web-thing-abcdefgh2345", False),
        (None, "adopted-thing-mnopqrst6723", False),
        (None, "theirs", True),
        ("mine", "web-thing-abcdefgh2345", True),
        ("mine", "mine", False),
    ],
)
def test_name_differs_unless_given_or_generated(
    given: str | None, live: str, differs: bool
) -> None:
    found = look({"name": live}, Names({}), **({} if given is None else {"name": given})).found
    assert bool(found.differences) is differs
    if differs and given is None:
        assert found.differences[0].applied == "web-thing-abcdefgh2345"


def test_an_object_that_is_gone_is_gone() -> None:
    assert look(None, Names({}), network="blue").gone
