"""Comparisons of live objects with their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.clouds.driving import Row

from stoker.engine.execution.observe.observing import observation_of
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome


class Named(ManagedType):
    """A type whose objects have names."""

    type_name = "Test::Named"
    properties = {"name": Property(Type.STRING, update_allowed=True)}
    found = ""

    def create(self, call: Call) -> Outcome:
        return Done("id")

    def delete(self, call: Call) -> Outcome:
        return Done()

    def live(self, call: Call) -> Mapping[str, Any] | None:
        return {"name": self.found}


@pytest.mark.parametrize(
    ("given", "found", "differs"),
    [
        (None, "web-thing-abcdefgh2345", False),
        (None, "other-thing-zzzzzzzz2345", False),  # generated for another stack
        (None, "", False),  # made by hand, without a name
        (None, "theirs", True),
        ("mine", "mine", False),
        ("mine", "", True),
    ],
)
def test_name_is_compared_unless_it_was_generated(
    given: str | None, found: str, differs: bool
) -> None:
    type_ = Named()
    type_.found = found
    row = Row(type_, None, {} if given is None else {"name": given})
    row.create()
    assert bool(observation_of(type_, row.call("READ")).found.differences) is differs
