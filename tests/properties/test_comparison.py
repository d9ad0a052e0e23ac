"""The properties that an update changes."""

from stoker.schema.comparison import changed_properties
from stoker.schema.properties import Property, Type

SCHEMA = {
    "a": Property(Type.STRING, default="x"),
    "b": Property(Type.MAP),
    "c": Property(Type.STRING),
}


def test_only_different_values_are_changes():
    before = {"a": "x", "b": {"k": 1}, "c": None}
    assert changed_properties(SCHEMA, before, {"a": "x", "b": {"k": 2}, "c": "new"}) == {"b", "c"}


def test_explicit_default_is_no_change():
    assert not changed_properties(SCHEMA, {}, {"a": "x", "b": None})
    assert not changed_properties(SCHEMA, {"a": "x"}, {"a": None})


def test_absent_and_null_map_entries_are_equal():
    assert not changed_properties(SCHEMA, {"b": {"k": [{"m": None}]}}, {"b": {"k": [{}]}})


def test_properties_outside_the_schema_are_compared_too():
    assert changed_properties({}, {"x": 1}, {"x": 2}) == {"x"}
