"""Values of parameters: accepted forms and conversions."""

import pytest
from tests.evaluating import HELPERS

from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Custom,
    CustomCheck,
    Length,
    Modulo,
    Range,
)
from stoker.schema.helpers import PatternBudget
from stoker.schema.unknown import Unknown
from stoker.template.parameters.parameters import (
    Parameter,
    ParameterType,
    immutable_changes,
    resolve,
)

STRING = ParameterType.STRING
NUMBER = ParameterType.NUMBER
LIST = ParameterType.LIST
JSON = ParameterType.JSON
BOOLEAN = ParameterType.BOOLEAN


def value_of(kind, given, *constraints):
    resolved = resolve({"p": Parameter("p", kind, constraints=constraints)}, {"p": given}, {}, {})
    assert not resolved.diagnostics
    return resolved.values["p"]


def refusals(kind, given, *constraints):
    resolved = resolve({"p": Parameter("p", kind, constraints=constraints)}, {"p": given}, {}, {})
    return resolved.diagnostics


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (STRING, 5, "5"),
        (STRING, 1.5, "1.5"),
        (STRING, True, "True"),
        (STRING, ["a"], "['a']"),
        (NUMBER, "5", 5),
        (NUMBER, " 7 ", 7),
        (NUMBER, "1.5", 1.5),
        (NUMBER, 1.5, 1.5),
        (NUMBER, "inf", float("inf")),
        (NUMBER, True, True),
        (BOOLEAN, "T", True),
        (BOOLEAN, "yes", True),
        (BOOLEAN, "off", False),
        (BOOLEAN, 1, True),
        (BOOLEAN, "0", False),
        (LIST, "", []),
        (LIST, "a, b ,c", ["a", " b ", "c"]),
        (LIST, [1, 2], ["1", "2"]),
        (JSON, '{"a": [1, null]}', {"a": [1, None]}),
        (JSON, "", ""),
        (JSON, "5", 5),
        (JSON, True, True),
        (JSON, [1, "x"], [1, "x"]),
    ],
)
def test_values_are_converted_to_parameter_type(kind, given, value):
    assert value_of(kind, given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (NUMBER, ""),
        (NUMBER, "0x10"),
        (NUMBER, [1]),
        (NUMBER, {"a": 1}),
        (BOOLEAN, "maybe"),
        (BOOLEAN, []),
        (LIST, 5),
        (LIST, True),
        (JSON, "abc"),
    ],
)
def test_values_of_another_type_are_refused(kind, given):
    (finding,) = refusals(kind, given)
    assert finding.error_type.name == "StackValidationFailed"
    assert finding.path == ("parameters", "p")


@pytest.mark.parametrize(
    ("kind", "given", "constraint"),
    [
        (STRING, "abcde", Length(2, 4)),
        (LIST, "a,b,c", Length(max=2)),
        (JSON, {}, Length(min=1)),
        (NUMBER, 11, Range(1, 10)),
        (NUMBER, "10.5", Range(1, 10)),
        (NUMBER, 2, Modulo(2, 1)),
        (STRING, "z", AllowedValues(["x", "y"])),
        (NUMBER, 3, AllowedValues(["1", 2])),
        (BOOLEAN, "false", AllowedValues([True])),
        (LIST, "a,z", AllowedValues(["a", "b"])),
        (STRING, "AB12x", AllowedPattern("[A-Z]+[0-9]", budget=PatternBudget(HELPERS))),
        (STRING, "zz", Custom("mac_addr")),
    ],
)
def test_each_constraint_refuses_what_violates_it(kind, given, constraint):
    assert len(refusals(kind, given, constraint)) == 1


@pytest.mark.parametrize(
    ("kind", "given", "constraint"),
    [
        (STRING, "ab", Length(2, 4)),
        (NUMBER, "10", Range(1, 10)),
        (NUMBER, 3, Modulo(2, 1)),
        (NUMBER, "1", AllowedValues([1, 2])),
        (NUMBER, 1, AllowedValues(["1", 2])),
        (LIST, "a,b", AllowedValues(["a", "b"])),
        (STRING, "A1", AllowedPattern("[A-Z]+[0-9]", budget=PatternBudget(HELPERS))),
        (STRING, "aa:bb:cc:dd:ee:ff", Custom("mac_addr")),
    ],
)
def test_each_constraint_passes_what_fits_it(kind, given, constraint):
    assert not refusals(kind, given, constraint)


def test_description_of_constraint_starts_its_message():
    (finding,) = refusals(NUMBER, 3, Modulo(2, 0, "even only"))
    assert finding.message.startswith("even only")


def test_given_values_precede_environment_and_declared_defaults():
    declared = {name: Parameter(name, STRING, default="d") for name in "abc"}
    values = resolve(declared, {"a": "g"}, {"a": "e", "b": "e"}, {}).values
    assert values == {"a": "g", "b": "e", "c": "d"}


def test_null_counts_as_not_given():
    resolved = resolve({"p": Parameter("p", NUMBER)}, {"p": None}, {}, {})
    assert [finding.error_type.name for finding in resolved.diagnostics] == ["UserParameterMissing"]


def test_undeclared_parameter_is_refused_with_suggestion():
    (finding,) = resolve(
        {"image": Parameter("image", STRING, default="x")}, {"imag": 1}, {}, {}
    ).diagnostics
    assert finding.error_type.name == "UnknownUserParameter"
    assert finding.suggestion == 'did you mean "image"?'


def test_default_for_undeclared_parameter_is_accepted():
    assert not resolve({}, {}, {"other": 1}, {}).diagnostics


def test_pseudo_parameter_may_be_declared_not_given():
    pseudo = {"OS::stack_name": "s"}
    assert resolve({}, {"OS::stack_name": "z"}, {}, pseudo).diagnostics
    declared = {"OS::stack_name": Parameter("OS::stack_name", STRING, default="x")}
    assert resolve(declared, {}, {}, pseudo).values == {"OS::stack_name": "x"}


def test_unknown_values_pass_through_types_and_constraints():
    later = Unknown(frozenset({"r"}))
    assert value_of(NUMBER, later, Range(1, 2), Custom("nova.flavor")) is later


def test_hidden_values_are_not_in_messages():
    declared = {"p": Parameter("p", NUMBER, hidden=True)}
    (finding,) = resolve(declared, {"p": "s3cret"}, {}, {}).diagnostics
    assert "s3cret" not in str(finding)


def test_constraints_for_the_cloud_are_collected():
    declared = {"p": Parameter("p", LIST, constraints=(Custom("nova.keypair"),))}
    checks = resolve(declared, {"p": "a,b"}, {}, {}).custom_checks
    path = ("parameters", "p")
    assert checks == [
        CustomCheck("nova.keypair", "a", path),
        CustomCheck("nova.keypair", "b", path),
    ]


def test_an_immutable_parameter_cannot_change():
    declared = {"p": Parameter("p", STRING, immutable=True), "q": Parameter("q", STRING)}
    (finding,) = immutable_changes(declared, {"p": "1", "q": "1"}, {"p": "2", "q": "2"})
    assert finding.error_type.name == "ImmutableParameterModified"
    assert not immutable_changes(declared, {"p": "1"}, {"p": "1"})


def test_endless_pattern_refuses_the_value():
    (finding,) = refusals(
        STRING, "a" * 60, AllowedPattern("(a|aa)+b(?<!x)c", budget=PatternBudget(HELPERS))
    )
    assert finding.code == "invalid-parameter-value"


def test_text_made_of_something_unknown_is_unknown():
    later = Unknown(frozenset({"r"}))
    assert value_of(STRING, ["a", later]) == later
    assert value_of(LIST, ["a", later]) == ["a", later]
    assert value_of(JSON, {"k": later}) == {"k": later}
