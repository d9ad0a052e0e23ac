"""Properties checked against their declarations."""

import pytest

from stoker.kernel.diagnostics import Severity
from stoker.schema.constraints import AllowedValues, Custom, CustomCheck, Length, Range
from stoker.schema.properties import AnyName, Finder, NameLookup, Property, Type
from stoker.schema.support import deprecated
from stoker.schema.unknown import Unknown
from stoker.schema.values import check_properties

LATER = Unknown(frozenset({"other"}))


def checked(declared, value):
    return check_properties({"p": value}, {"p": declared}, ("resources", "r", "properties"))


def value_of(declared, value):
    result = checked(declared, value)
    assert not result.findings
    return result.values["p"]


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (Type.STRING, 5, "5"),
        (Type.STRING, True, "True"),
        (Type.INTEGER, "12", 12),
        (Type.INTEGER, 5.5, 5),
        (Type.NUMBER, "1.5", 1.5),
        (Type.NUMBER, "3", 3),
        (Type.BOOLEAN, "True", True),
        (Type.BOOLEAN, "false", False),
        (Type.LIST, [1, "a"], [1, "a"]),
        (Type.MAP, {"a": None}, {"a": None}),
        (Type.ANY, {"a": [1]}, {"a": [1]}),
    ],
)
def test_values_are_converted_to_the_declared_type(kind, given, value):
    assert value_of(Property(kind), given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (Type.STRING, 1.5),
        (Type.STRING, ["a"]),
        (Type.STRING, {"a": 1}),
        (Type.INTEGER, "5.5"),
        (Type.INTEGER, "x"),
        (Type.INTEGER, float("inf")),
        (Type.NUMBER, ""),
        (Type.NUMBER, []),
        (Type.BOOLEAN, 1),
        (Type.BOOLEAN, "off"),
        (Type.BOOLEAN, []),
        (Type.LIST, "a,b"),
        (Type.LIST, {"a": 1}),
        (Type.MAP, '{"a": 1}'),
        (Type.MAP, []),
    ],
)
def test_values_of_wrong_type_are_refused_with_position(kind, given):
    (error,) = checked(Property(kind), given).errors
    assert error.code == "wrong-type"
    assert error.place == "resources.r.properties.p"


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (Type.LIST, "a,b", ["a", "b"]),
        (Type.LIST, "", []),
        (Type.LIST, [{"a": 1}], [{"a": 1}]),
        (Type.MAP, '{"a": 1}', {"a": 1}),
        (Type.MAP, '["a"]', ["a"]),
        (Type.MAP, [{"a": 1}], [{"a": 1}]),
        (Type.MAP, "", ""),
    ],
)
def test_declared_conversions_bridge_text_lists_and_maps(kind, given, value):
    assert value_of(Property(kind, convert=True), given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [(Type.STRING, ["a"]), (Type.STRING, {"a": 1}), (Type.LIST, 5), (Type.MAP, 5), (Type.MAP, "x")],
)
def test_declared_conversions_have_limits(kind, given):
    (error,) = checked(Property(kind, convert=True), given).errors
    assert error.code == "wrong-type"


def test_absent_values_are_defaults_or_none():
    inner = {"a": Property(Type.INTEGER, default=1), "b": Property(Type.STRING)}
    schema = {
        "m": Property(Type.MAP, entries=inner),
        "l": Property(Type.LIST, default=[{}], items=Property(Type.MAP, entries=inner)),
        "s": Property(Type.STRING),
    }
    values = check_properties({"m": {"b": 2}}, schema).values
    assert values == {"m": {"a": 1, "b": "2"}, "l": [{"a": 1, "b": None}], "s": None}


def test_a_required_property_must_be_given():
    (error,) = check_properties({}, {"p": Property(Type.STRING, required=True)}, ("x",)).errors
    assert (error.code, error.path) == ("missing-property", ("x",))


def test_null_for_required_property_is_its_empty_value():
    assert value_of(Property(Type.STRING, required=True), None) == ""
    assert value_of(Property(Type.ANY, required=True), None) is None
    (error,) = checked(Property(Type.NUMBER, required=True, constraints=(Range(1),)), None).errors
    assert error.code == "constraint-violated"


def test_null_for_an_optional_property_leaves_the_default():
    assert value_of(Property(Type.STRING, default="d"), None) == "d"
    assert value_of(Property(Type.STRING), None) is None


def test_an_unknown_property_is_refused_with_a_suggestion():
    schema = {"image": Property(Type.STRING)}
    (error,) = check_properties({"imge": "x"}, schema).errors
    assert (error.code, error.suggestion) == ("unknown-property", 'did you mean "image"?')


def test_unknown_key_inside_property_has_its_own_code():
    declared = Property(Type.MAP, entries={"a": Property(Type.STRING)})
    (error,) = checked(declared, {"b": 1}).errors
    assert (error.code, error.place) == ("unknown-key", "resources.r.properties.p.b")


def test_findings_are_reported_together_with_positions():
    item = Property(Type.MAP, entries={"n": Property(Type.INTEGER, constraints=(Range(1, 5),))})
    errors = checked(Property(Type.LIST, items=item), [{"n": 9}, "x", {"n": "y"}]).errors
    assert [error.place for error in errors] == [
        "resources.r.properties.p[0].n",
        "resources.r.properties.p[1]",
        "resources.r.properties.p[2].n",
    ]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (Property(Type.STRING, constraints=(Length(max=2),)), "abc"),
        (Property(Type.LIST, constraints=(AllowedValues(["A", "B"]),)), ["A", "C"]),
        (Property(Type.STRING, constraints=(Custom("ip_addr"),)), "x"),
    ],
)
def test_constraints_are_checked(declared, given):
    (error,) = checked(declared, given).errors
    assert error.code == "constraint-violated"


def test_what_is_unknown_passes_anywhere():
    item = Property(Type.MAP, entries={"n": Property(Type.INTEGER, constraints=(Range(1, 5),))})
    declared = Property(Type.LIST, items=item, constraints=(Length(max=3),))
    assert value_of(declared, [LATER, {"n": LATER}]) == [LATER, {"n": LATER}]
    assert value_of(Property(Type.STRING, constraints=(Custom("nova.flavor"),)), LATER) is LATER


def test_cloud_constraints_and_lookups_are_collected():
    finder = Finder("network", "network")
    declared = Property(Type.STRING, constraints=(Custom("neutron.network"),), finder=finder)
    result = checked(Property(Type.LIST, items=declared), ["net"])
    path = ("resources", "r", "properties", "p", 0)
    assert result.custom_checks == [CustomCheck("neutron.network", "net", path)]
    assert result.lookups == [NameLookup(finder, "net", ("p", 0))]


def test_old_property_name_sets_the_new_one():
    schema = {
        "network_id": Property(
            Type.STRING, renamed_to="network", support=deprecated("1", use="network")
        ),
        "network": Property(Type.STRING),
    }
    result = check_properties({"network_id": "n"}, schema)
    assert result.values == {"network_id": None, "network": "n"}
    assert [finding.severity for finding in result.findings] == [Severity.WARNING]
    both = check_properties({"network_id": "n", "network": "m"}, schema)
    assert [error.code for error in both.errors] == ["both-names-given"]


def test_an_unimplemented_property_is_refused():
    (error,) = checked(Property(Type.STRING, implemented=False), "x").errors
    assert error.code == "unimplemented-property"


def test_sensitive_values_are_not_in_messages():
    declared = Property(Type.STRING, sensitive=True, constraints=(Length(max=2),))
    assert "s3cret" not in str(checked(declared, "s3cret").errors)


def test_type_with_any_names_ignores_its_input():
    result = check_properties({"x": [1]}, AnyName())
    assert (result.values, result.findings) == ({}, [])


@pytest.mark.parametrize("convert", [True, False])
def test_a_string_made_of_something_unknown_is_unknown(convert):
    assert value_of(Property(Type.STRING, convert=convert), {"a": [LATER]}) == LATER
