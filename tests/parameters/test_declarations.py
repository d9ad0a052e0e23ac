"""Declarations of parameters in both dialects."""

import pytest
from tests.evaluating import HELPERS
from tests.parameters.declaring import declare_or_raise

from stoker.kernel.diagnostics import DiagnosticError, Diagnostics, Severity
from stoker.schema.constraints import AllowedValues, Length, Modulo, Range
from stoker.schema.helpers import PatternBudget
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import ParameterType
from stoker.template.versions import VERSIONS, Version


def version(name: str = "2021-04-16") -> Version:
    return next(each for each in VERSIONS if each.name == name)


def refusal(snippet, name: str = "2021-04-16"):
    with pytest.raises(DiagnosticError) as caught:
        declare_or_raise({"p": snippet}, version(name), PatternBudget(HELPERS))
    return caught.value.first


def test_hot_declaration_is_read_completely():
    section = {
        "p": {
            "type": "number",
            "default": "3",
            "label": "L",
            "description": "D",
            "hidden": True,
            "immutable": True,
            "tags": ["a"],
            "constraints": [
                {"range": {"min": 1, "max": "9"}, "description": "r"},
                {"modulo": {"step": 2, "offset": 1}},
            ],
        }
    }
    p = declare_or_raise(section, version())["p"]
    assert (p.type, p.default, p.label, p.description) == (ParameterType.NUMBER, "3", "L", "D")
    assert (p.hidden, p.immutable, p.tags) == (True, True, ("a",))
    assert p.constraints == (Range(1, 9, "r"), Modulo(2, 1))


def test_cloudformation_declaration_is_read_completely():
    section = {
        "p": {
            "Type": "String",
            "Default": "abc",
            "NoEcho": "true",
            "Description": "D",
            "MinLength": "2",
            "AllowedValues": ["abc", "de"],
            "ConstraintDescription": "c",
        }
    }
    p = declare_or_raise(section, version("2010-09-09"))["p"]
    assert (p.type, p.default, p.hidden) == (ParameterType.STRING, "abc", True)
    assert p.constraints == (Length(2, None, "c"), AllowedValues(["abc", "de"], "c"))


@pytest.mark.parametrize(("words", "hidden"), [("yes", True), ("maybe", True), ("false", False)])
def test_words_decide_about_hiding_and_doubt_hides(words, hidden):
    section = {"p": {"type": "string", "hidden": words}}
    assert declare_or_raise(section, version())["p"].hidden is hidden


@pytest.mark.parametrize("word", ["yes", "maybe", "false"])
def test_in_cloudformation_only_true_hides(word):
    section = {"p": {"Type": "String", "NoEcho": word}}
    assert declare_or_raise(section, version("2010-09-09"))["p"].hidden is False


@pytest.mark.parametrize(
    "snippet",
    [
        "string",
        {"type": "foo"},
        {"type": "String"},
        {"type": ["string"]},
        {},
        {"type": "string", "foo": 1},
        {"type": "string", "tags": "t"},
        {"type": "string", "constraints": {"length": {"min": 1}}},
        {"type": "string", "constraints": [{"foo": 1}]},
        {"type": "string", "constraints": [{}]},
        {"type": "string", "constraints": [{"length": {}}]},
        {"type": "string", "constraints": [{"range": {"min": 1}}]},
        {"type": "string", "constraints": [{"allowed_values": "x"}]},
        {"type": "string", "constraints": [{"allowed_pattern": "["}]},
        {"type": "string", "constraints": [{"custom_constraint": ["a"]}]},
        {"type": "number", "constraints": [{"modulo": {"step": 2}}]},
        {"type": "number", "constraints": [{"modulo": {"step": 0, "offset": 0}}]},
        {"type": "number", "constraints": [{"modulo": {"step": 2, "offset": 2}}]},
        {"type": "number", "constraints": [{"modulo": {"step": 2, "offset": -1}}]},
        {"type": "json", "constraints": [{"allowed_values": [{"a": 1}]}]},
        {"type": "comma_delimited_list", "default": 5},
        {"type": "string", "default": "abc", "constraints": [{"length": {"max": 2}}]},
        {"type": "number", "default": 3, "constraints": [{"range": {"min": 5, "max": 1}}]},
    ],
)
def test_wrong_declaration_is_a_schema_error(snippet):
    assert refusal(snippet).error_type.name == "InvalidSchemaError"


@pytest.mark.parametrize(
    ("type_name", "constraint"),
    [("string", {"length": {"max": 2}}), ("number", {"range": {"max": 2}})],
)
def test_hidden_default_is_in_no_message(type_name, constraint):
    body = {"type": type_name, "default": "s3cret", "hidden": True, "constraints": [constraint]}
    found = refusal(body)
    assert "the default does not fit" in found.message
    assert "s3cret" not in found.message


@pytest.mark.parametrize("type_name", ["number", "boolean", "json"])
def test_wrongly_typed_default_is_accepted_until_used(type_name):
    assert declare_or_raise({"p": {"type": type_name, "default": "x"}}, version("2021-04-16"))[
        "p"
    ].default


@pytest.mark.parametrize(
    "constraint", [{"length": {"min": "x"}}, {"length": {"max": [1]}}], ids=["word", "list"]
)
def test_bound_without_number_is_a_value_error(constraint):
    found = refusal({"type": "string", "constraints": [constraint]})
    assert found.error_type.name == "ValueError"


def test_a_section_that_is_no_map_is_refused():
    with pytest.raises(DiagnosticError) as caught:
        declare_or_raise("p", version())
    assert caught.value.first.error_type.name == "AttributeError"


def test_wrong_declarations_are_found_together_right_ones_kept():
    findings = Diagnostics()
    section = {"a": {"type": "x"}, "b": {"type": "string"}, "c": 5}
    assert list(declare(section, version(), findings)) == ["b"]
    assert [finding.path[1] for finding in findings.errors] == ["a", "c"]


def test_a_misspelt_key_gets_a_suggestion():
    assert refusal({"type": "string", "descripton": "x"}).suggestion == (
        'did you mean "description"?'
    )


@pytest.mark.parametrize(
    ("name", "known"),
    [("2016-10-14", False), ("2017-02-24", True), ("2018-03-02", True), ("2021-04-16", True)],
)
def test_modulo_is_known_from_2017_02_24_on(name, known):
    findings = Diagnostics()
    snippet = {"type": "number", "constraints": [{"modulo": {"step": 2, "offset": 0}}]}
    declare({"p": snippet}, version(name), findings)
    assert (not findings.errors) is known


@pytest.mark.parametrize(("name", "known"), [("2017-02-24", False), ("2018-03-02", True)])
def test_tags_are_known_from_2018_03_02_on(name, known):
    findings = Diagnostics()
    declare({"p": {"type": "string", "tags": ["a"]}}, version(name), findings)
    assert (not findings.errors) is known


def test_first_of_two_constraints_counts_with_warning():
    findings = Diagnostics()
    entry = {"allowed_pattern": "x", "length": {"min": 1}}
    declared = declare({"p": {"type": "string", "constraints": [entry]}}, version(), findings)
    assert declared["p"].constraints == (Length(1),)
    assert [finding.severity for finding in findings] == [Severity.WARNING]


def test_a_custom_constraint_does_not_judge_the_default():
    snippet = {"type": "string", "default": "*", "constraints": [{"custom_constraint": "ip_addr"}]}
    assert "p" in declare_or_raise({"p": snippet}, version())


def test_an_unknown_custom_constraint_gets_a_suggestion():
    found = refusal({"type": "string", "constraints": [{"custom_constraint": "nova.flavour"}]})
    assert found.suggestion == 'did you mean "nova.flavor"?'
