"""Values, random strings, delays and the resources for tests."""

import re

import pytest

from stoker.kernel.values import replace
from stoker.resources.heat.delay import Delay
from stoker.resources.heat.none import NoneResource
from stoker.resources.heat.random_string import RandomString
from stoker.resources.heat.test_resource import TestResource
from stoker.resources.heat.value import Value
from stoker.schema.resource_type import Done, Failed, Update, Wait
from stoker.schema.unknown import Unknown
from tests.resource_types_heat.calls import after, findings, make_call


def drawn(properties):
    type_ = RandomString()
    return type_.create(make_call(type_, properties)).attributes["value"]


@pytest.mark.parametrize(
    ("properties", "pattern"),
    [
        ({}, "[A-Za-z0-9]{32}"),
        ({"length": 6, "character_classes": [{"class": "hexdigits"}]}, "[0-9A-F]{6}"),
        ({"length": 8, "character_classes": [{"class": "octdigits", "min": 8}]}, "[0-7]{8}"),
        ({"length": 4, "sequence": "digits"}, "[0-9]{4}"),
        (
            {
                "length": 3,
                "character_classes": [],
                "character_sequences": [{"sequence": "xy", "min": 3}],
            },
            "[xy]{3}",
        ),
    ],
)
def test_random_string_has_requested_characters_and_length(properties, pattern):
    assert re.fullmatch(pattern, drawn(properties))


def test_random_string_has_minimum_of_each_source():
    for _ in range(20):
        value = drawn(
            {
                "length": 5,
                "character_classes": [{"class": "digits", "min": 2}, {"class": "uppercase"}],
                "character_sequences": [{"sequence": "#", "min": 2}],
            }
        )
        assert sorted(map(len, re.findall(r"#", value))) == [1, 1]
        assert len(re.findall(r"[0-9]", value)) == 2
        assert len(re.findall(r"[A-Z]", value)) == 1


def test_random_string_survives_repeated_creation():
    type_ = RandomString()
    call = make_call(type_, {})
    first = type_.create(call)
    again = type_.create(after(call, first))
    assert again.attributes == first.attributes
    assert type_.reference(after(call, first)) == first.attributes["value"]


@pytest.mark.parametrize(
    "properties",
    [
        {"length": 4, "character_classes": [{"class": "digits", "min": 8}]},
        {"length": 4, "character_sequences": [{"sequence": "x", "min": 4}]},
    ],
)
def test_random_string_must_fit_its_minimums(properties):
    assert findings(RandomString(), properties)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", 5),
        ("string", ""),
        ("string", None),
        ("number", "1.5"),
        ("number", True),
        ("boolean", True),
        ("comma_delimited_list", ["a"]),
        ("json", {"a": 1}),
        (None, [1]),
    ],
)
def test_a_value_is_kept_as_it_was_given(kind, value):
    type_ = Value()
    properties = {"type": kind, "value": value}
    assert not findings(type_, properties)
    outcome = type_.create(make_call(type_, properties))
    assert outcome.attributes == {"value": value}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("string", 1.5),
        ("string", {"a": 1}),
        ("number", "x"),
        ("number", ""),
        ("boolean", 1),
        ("boolean", "off"),
        ("comma_delimited_list", "a,b"),
        ("json", '{"a": 1}'),
    ],
)
def test_a_value_must_have_the_type_it_names(kind, value):
    assert findings(Value(), {"type": kind, "value": value})


def test_unknown_value_is_not_validated():
    assert not findings(Value(), {"type": "number", "value": Unknown(frozenset({"r"}))})


def test_nothing_takes_any_property_and_has_any_attribute():
    type_ = NoneResource()
    assert isinstance(type_.create(make_call(type_, {"x": [1], "y": None})), Done)
    assert "whatever" in type_.attributes
    assert list(type_.attributes) == []


def test_test_resource_waits_then_returns_its_value():
    type_ = TestResource()
    call = make_call(type_, {"value": "v", "wait_secs": 5})
    waiting = type_.create(call)
    assert isinstance(waiting, Wait)
    assert waiting.after == 5
    done = type_.create(after(call, waiting, now=105.0))
    assert isinstance(done, Done)
    assert done.attributes == {"output": "v"}


def test_test_resource_has_a_delay_per_action():
    type_ = TestResource()
    properties = {"wait_secs": 5, "action_wait_secs": {"update": 2, "delete": 0}}
    call = make_call(type_, properties, physical_id="x")
    assert type_.update(call).after == 2
    assert isinstance(type_.delete(call), Done)
    assert type_.create(call).after == 5


def test_test_resource_fails_on_request():
    type_ = TestResource()
    call = make_call(type_, {"fail": True})
    assert isinstance(type_.create(call), Failed)
    assert isinstance(type_.update(call), Failed)
    assert isinstance(type_.delete(replace(call, physical_id="x")), Done)


def test_changed_value_replaces_test_resource_on_request():
    type_ = TestResource()
    call = make_call(type_, {"update_replace": True})
    assert type_.needs_replacement(replace(call, update=Update(changed=frozenset({"value"}))))
    assert not type_.needs_replacement(
        replace(call, update=Update(changed=frozenset({"update_replace"})))
    )


def test_a_delay_waits_in_the_named_actions_only():
    type_ = Delay()
    call = make_call(type_, {"min_wait": 3, "actions": ["DELETE"]}, physical_id="x")
    assert isinstance(type_.create(call), Done)
    assert type_.delete(replace(call, action="DELETE")).after == 3
    for action in ("suspend", "resume"):
        assert isinstance(getattr(type_, action)(replace(call, action=action.upper())), Done)
        named = make_call(type_, {"min_wait": 3, "actions": [action.upper()]}, physical_id="x")
        assert getattr(type_, action)(replace(named, action=action.upper())).after == 3


def test_a_delay_draws_its_random_part_once():
    type_ = Delay()
    call = make_call(type_, {"min_wait": 1, "max_jitter": 10, "jitter_multiplier": 2})
    first = type_.create(call)
    assert 1 <= first.after <= 21
    later = type_.create(after(call, first, now=100.5))
    assert later.after == first.after - 0.5
    assert isinstance(type_.create(after(call, first, now=100 + first.after)), Done)


def test_value_resource_is_known_before_creation() -> None:
    assert Value().foreseen({"type": None, "value": {"a": 1}}) == {"value": {"a": 1}}
