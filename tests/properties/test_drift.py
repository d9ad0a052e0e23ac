"""Live values against applied ones: equivalent forms and differences."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.schema.drift import Difference, compare
from stoker.schema.properties import Property, Type

TEXT, NUMBER, YES = Property(Type.STRING), Property(Type.INTEGER), Property(Type.BOOLEAN)
TEXTS, FREE = Property(Type.LIST), Property(Type.MAP)
ADDRESS = Property(Type.MAP, entries={"subnet": TEXT, "ip": TEXT})
ADDRESSES = Property(Type.LIST, items=ADDRESS)

SAME = [
    (TEXT, "77", 77),
    (TEXT, "fd00:0::1", "fd00::1"),
    (TEXT, "10.1.2.3/8", "10.0.0.0/8"),
    (TEXT, "AA-BB-CC-00-11-22", "aa:bb:cc:00:11:22"),
    (TEXT, "aabb.cc00.1122", "aa:bb:cc:00:11:22"),
    (TEXT, "", None),
    (NUMBER, 3, "3"),
    (YES, True, "True"),
    (YES, False, False),
    (TEXTS, ["a", "b", "a"], ["b", "a"]),
    (TEXTS, [], None),
    (FREE, {"a": 1, "none": None}, {"a": "1"}),
    (FREE, {"deep": [{"a": 1}, {"b": 2}]}, {"deep": [{"b": "2"}, {"a": "1"}]}),
    (ADDRESS, {"subnet": "s", "ip": None}, {"subnet": "s", "ip": "10.0.0.5"}),
    (ADDRESS, {"subnet": "s", "ip": "10.0.0.5"}, {"subnet": "s"}),
    (
        ADDRESSES,
        [{"subnet": "s"}, {"subnet": "s", "ip": "10.0.0.5"}],
        [{"subnet": "s", "ip": "10.0.0.5"}, {"subnet": "s", "ip": "10.0.0.6"}],
    ),
]
OTHER = [
    (TEXT, "a", "A"),
    (TEXT, "10.0.0.0/8", "10.0.0.0/9"),
    (TEXT, "a", None),
    (TEXT, "", "a"),
    (NUMBER, 0, None),
    (NUMBER, 3, "three"),
    (YES, False, None),
    (TEXTS, ["a"], ["a", "b"]),
    (TEXTS, [], ["a"]),
    (TEXTS, ["a"], "a"),
    (FREE, {"a": 1}, {"a": 1, "b": 2}),
    (FREE, {"a": 1, "b": 2}, {"a": 1}),
    (FREE, {"a": 1}, ["a"]),
    (ADDRESS, {"subnet": "s"}, {"subnet": "other"}),
    (ADDRESSES, [{"subnet": "s"}], [{"subnet": "s", "ip": "1.1.1.1"}, {"subnet": "s"}]),
    (ADDRESSES, [{"subnet": "s"}, {"subnet": "s"}], [{"subnet": "s"}]),
]


@pytest.mark.parametrize(("declared", "applied", "live"), SAME)
def test_values_that_mean_the_same_are_no_difference(
    declared: Property, applied: Any, live: Any
) -> None:
    assert compare({"p": declared}, {"p": applied}, {"p": live}).differences == ()


@pytest.mark.parametrize(("declared", "applied", "live"), OTHER)
def test_values_that_mean_something_else_differ(
    declared: Property, applied: Any, live: Any
) -> None:
    found = compare({"p": declared}, {"p": applied}, {"p": live})
    assert found.differences == (Difference("p", applied, live),)


def test_only_what_was_given_is_compared() -> None:
    assert compare({"p": TEXT}, {"p": None}, {"p": "chosen by the service"}).differences == ()


def test_given_but_unreported_property_is_named() -> None:
    schema = {
        "given": TEXT,
        "default": Property(Type.STRING, default="d"),
        "empty": TEXTS,
        "secret": Property(Type.STRING, sensitive=True),
    }
    applied = {"given": "a", "default": "d", "empty": [], "secret": "s"}
    found = compare(schema, applied, {"secret": "other"})
    assert (found.differences, found.unreported) == ((), ("given", "secret"))
