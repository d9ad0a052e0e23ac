"""Environments as they are read and kept."""

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.content import Content
from stoker.template.environment.environment import (
    EMPTY,
    Environment,
    child_environment,
    parse_environment,
    stored,
)


def refusal(given, file=None):
    with pytest.raises(DiagnosticError) as caught:
        parse_environment(given, file)
    return caught.value.first


def test_an_environment_may_be_text_or_an_object():
    assert parse_environment("parameters:\n  p: x\n") == parse_environment(
        {"parameters": {"p": "x"}}
    )


@pytest.mark.parametrize("nothing", [None, "", {}])
def test_no_environment_is_an_empty_one(nothing):
    assert parse_environment(nothing) == EMPTY


@pytest.mark.parametrize("given", [{"p": "flat"}, {"Parameters": {}}, "abc", "a: ["])
def test_invalid_environment_is_a_bad_request(given):
    assert refusal(given).error_type.name == "HTTPBadRequest"
    found = refusal(given, "e1")
    assert (found.error_type.name, found.file) == ("ValueError", "e1")


@pytest.mark.parametrize(
    "given",
    [
        {"parameters": ["a"]},
        {"event_sinks": "x"},
        {"resource_registry": {"My::Thing": 5}},
        {"resource_registry": {"resources": "x"}},
    ],
)
def test_a_section_of_the_wrong_shape_is_refused(given):
    assert refusal(given).error_type.name == "AttributeError"


def test_an_unknown_section_gets_a_suggestion():
    assert refusal({"parameter_default": {}}).suggestion == 'did you mean "parameter_defaults"?'


def test_an_unknown_event_sink_is_refused():
    assert refusal({"event_sinks": [{"type": "foo"}]}).error_type.name == "KeyError"


@pytest.mark.parametrize("hooks", ["foo", 5, ["pre-create", "x"], {}, {"pre-create": {}}])
def test_an_unknown_hook_is_refused(hooks):
    given = {"resource_registry": {"resources": {"r": {"hooks": hooks}}}}
    assert refusal(given).error_type.name == "InvalidBreakPointHook"


@pytest.mark.parametrize("actions", ["foo", {}, {"update": {"a": {}}}])
def test_an_unknown_restricted_action_is_refused(actions):
    given = {"resource_registry": {"resources": {"r": {"restricted_actions": actions}}}}
    assert refusal(given).error_type.name == "InvalidRestrictedAction"


def test_resource_may_be_named_like_a_setting():
    given = {"resource_registry": {"resources": {"hooks": {"hooks": "pre-create"}}}}
    assert stored(parse_environment(given))["resource_registry"] == given["resource_registry"]


def test_stored_environment_round_trips():
    given = {
        "parameters": {"p": "x"},
        "parameter_defaults": {"q": 1},
        "resource_registry": {"A": "B", "resources": {"r": {"hooks": "pre-create"}}},
        "encrypted_param_names": ["p"],
        "event_sinks": [{"type": "zaqar-queue", "target": "q"}],
    }
    environment = parse_environment(given)
    assert stored(environment) == given
    assert parse_environment(stored(environment)) == environment


def test_nested_stack_inherits_defaults_mappings_and_own_section():
    registry = {
        "A": "B",
        "resources": {"n": {"X": "Y", "inner": {"hooks": "pre-create"}}, "other": {"Z": "W"}},
    }
    parent = Environment({"p": 1}, {"q": 2}, registry, ("p",))
    child = child_environment(parent, "n", {"c": 3})
    assert child.parameters == {"c": 3}
    assert child.parameter_defaults == {"q": 2}
    assert child.encrypted_param_names == ()
    assert child.resource_registry == {
        "A": "B",
        "resources": {"inner": {"hooks": "pre-create"}},
    }


@pytest.mark.parametrize("strategy", ["mix", {}, [], 5])
def test_unknown_merge_strategy_of_any_type_is_refused(strategy):
    assert refusal({"parameter_merge_strategies": {"default": strategy}}).code == (
        "unknown-merge-strategy"
    )


def test_stored_environment_is_parsed_once() -> None:
    content = Content({"parameter_defaults": {"p": 1}})
    assert parse_environment(content) is parse_environment(content)
    assert parse_environment(content) == parse_environment(dict(content))
    for _ in range(2):
        with pytest.raises(DiagnosticError):
            parse_environment(Content({"parameter_default": {}}))
