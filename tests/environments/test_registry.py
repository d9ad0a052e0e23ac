"""Implementations of type names in an environment."""

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.base.registry import Registry
from stoker.template.environment.registry import ResourceRegistry

TYPES = Registry()


def registry(own, files=(), service=None):
    return ResourceRegistry(own, TYPES, files, service)


def type_of(own, name="My::Thing", resource="r", **more):
    meaning = registry(own, **more).meaning(name, resource)
    return meaning.template or meaning.type.type_name


def refusal(own, name="My::Thing"):
    with pytest.raises(DiagnosticError) as caught:
        registry(own).meaning(name, "r")
    return caught.value.first


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ({"My::Thing": "OS::Heat::Value"}, "OS::Heat::Value"),
        ({"My::Thing": "child.yaml"}, "child.yaml"),
        ({"My::*": "OS::Heat::Value"}, "OS::Heat::Value"),
        ({"My::Thing": "Your::Thing", "Your::*": "OS::Heat::None"}, "OS::Heat::None"),
        ({"My::*": "OS::Heat::Value", "My::Thing": "OS::Heat::None"}, "OS::Heat::Value"),
        (
            {"My::Thing": "OS::Heat::None", "resources": {"r": {"My::Thing": "child.yaml"}}},
            "child.yaml",
        ),
        (
            {"My::Thing": "OS::Heat::None", "resources": {"r*": {"My::Thing": "child.yaml"}}},
            "OS::Heat::None",
        ),
    ],
)
def test_mappings_lead_to_types_and_templates(own, found):
    assert type_of(own) == found


def test_glob_keeps_rest_of_name_in_target():
    assert type_of({"My::*": "OS::Heat::*"}, "My::Value") == "OS::Heat::Value"


def test_built_in_types_can_be_replaced():
    own = {"OS::Heat::RandomString": "OS::Heat::None"}
    assert type_of(own, "OS::Heat::RandomString") == "OS::Heat::None"


def test_unmapped_name_is_type_or_template_file():
    assert type_of({}, "OS::Heat::Value") == "OS::Heat::Value"
    assert type_of({}, "child.yaml") == "child.yaml"


def test_user_entries_take_precedence_over_service():
    service = {"My::*": "OS::Heat::None", "Other": "OS::Heat::Value"}
    assert type_of({"My::Thing": "OS::Heat::Value"}, service=service) == "OS::Heat::Value"
    assert type_of({}, "Other", service=service) == "OS::Heat::Value"


@pytest.mark.parametrize("removed", ["OS::Heat::Value", "OS::Heat::Val*", "OS::*"])
@pytest.mark.parametrize(
    "own",
    [
        {},
        {"OS::Heat::Value": "OS::Heat::Value"},
        {"OS::Heat::*": "OS::Heat::Value"},
        {"OS::*": "OS::Heat::Value"},
        {"OS::Heat::Value": "My::Thing", "My::Thing": "OS::Heat::Value"},
        {"OS::Heat::Value": "My::Thing", "My::*": "OS::Heat::Value"},
        {"resources": {"r": {"OS::Heat::Value": "OS::Heat::Value"}}},
        {"resources": {"r": {"OS::*": "OS::Heat::Value"}}},
    ],
)
def test_type_removed_by_service_stays_removed(own, removed):
    with pytest.raises(DiagnosticError):
        registry(own, service={removed: None}).meaning("OS::Heat::Value", "r")


def test_a_removed_type_can_be_replaced():
    own = {"OS::Heat::Value": "child.yaml"}
    assert type_of(own, "OS::Heat::Value", service={"OS::Heat::*": None}) == "child.yaml"


def test_relative_files_are_found_below_the_base_url():
    own = {"base_url": "file:///x/", "My::Thing": "child.yaml"}
    assert type_of(own, files={"file:///x/child.yaml"}) == "file:///x/child.yaml"
    assert type_of(own, files={"child.yaml"}) == "child.yaml"


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"My::Thing": None},
        {"My::Thing": "OS::No::Such"},
        {"My::*": "OS::Heat::*"},
        {"My::Thing": "My::Other", "My::Other": "My::Thing"},
    ],
)
def test_a_name_that_stands_for_nothing_is_refused(own):
    assert refusal(own).error_type.name == "StackValidationFailed"


def test_a_misspelt_type_gets_a_suggestion():
    assert refusal({}, "OS::Heat::RandomStrin").suggestion == (
        'did you mean "OS::Heat::RandomString"?'
    )


@pytest.mark.parametrize(
    ("own", "learned"),
    [
        ({"My::Thing": "OS::Heat::Value"}, None),
        ({"My::*": "OS::Heat::Value"}, "OS::Heat::Value"),
        ({"resources": {"r": {"My::Thing": "OS::Heat::Value"}}}, "OS::Heat::Value"),
        ({"resources": {"r": {"My::Thing": "child.yaml"}}}, None),
    ],
)
def test_registry_learns_targets_of_globs_and_resources(own, learned):
    assert registry(own).learned("My::Thing", "r") == learned
