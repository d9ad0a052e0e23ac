"""Environment sections about single resources, by name and by glob, at every depth."""

import pytest

from stoker.template.environment.single_resources import (
    child_registry,
    hooks_in,
    restricted_actions_in,
)


def test_hooks_and_restrictions_apply_to_names_and_globs():
    own = {
        "resources": {
            "db_*": {"hooks": ["pre-create", "post-create"]},
            "db_1": {"hooks": "pre-delete", "restricted_actions": "update"},
        }
    }
    hooks = hooks_in(own)
    assert hooks.of("db_1") == {"pre-create", "post-create", "pre-delete"}
    assert hooks.of("db_2") == {"pre-create", "post-create"}
    assert hooks.of("web") == frozenset()
    assert restricted_actions_in(own).of("db_1") == {"update"}


def test_service_hooks_add_to_stack_hooks():
    own = {"resources": {"db": {"hooks": "pre-create"}}}
    service = {"resources": {"d*": {"hooks": "pre-delete"}}}
    assert hooks_in(own, service).of("db") == {"pre-create", "pre-delete"}


def test_an_environment_without_hooks_marks_nothing():
    assert not hooks_in({"resources": {"db": {"My::Thing": "OS::Heat::Value"}}}, {})


def hooks_below(resources, *path):
    registry = {"resources": resources}
    for name in path[:-1]:
        registry = child_registry(registry, name)
    return hooks_in(registry).of(path[-1])


@pytest.mark.parametrize(
    "resources",
    [
        {"group": {"0": {"hooks": "pre-create"}}},
        {"group": {0: {"hooks": "pre-create"}}},
        {"group": {"*": {"hooks": "pre-create"}}},
        {"*": {"0": {"hooks": "pre-create"}}},
        {"g*": {"*": {"hooks": ["pre-create"]}}},
    ],
)
def test_entries_reach_the_resources_of_nested_stacks(resources):
    assert hooks_below(resources, "group", "0") == {"pre-create"}
    assert hooks_below(resources, "group") == frozenset()
    assert hooks_below(resources, "0") == frozenset()


def test_globs_and_names_of_nested_stack_add_up():
    resources = {
        "*": {"0": {"hooks": "pre-create"}, "inner": {"x": {"hooks": "pre-update"}}},
        "group": {"0": {"hooks": "pre-delete"}, "inner": {"x": {"hooks": "pre-delete"}}},
    }
    assert hooks_below(resources, "group", "0") == {"pre-create", "pre-delete"}
    assert hooks_below(resources, "group", "inner", "x") == {"pre-update", "pre-delete"}
    assert hooks_below(resources, "other", "0") == {"pre-create"}


def test_mapping_below_name_takes_precedence_over_glob():
    section = {
        "resources": {
            "group": {"0": {"My::Thing": "OS::Heat::Value"}},
            "*": {"0": {"My::Thing": "OS::Heat::None"}},
        }
    }
    assert child_registry(section, "group")["resources"]["0"]["My::Thing"] == "OS::Heat::Value"


def test_many_globs_are_matched_in_bounded_time():
    hooks = hooks_in(
        {"resources": {f"{'*a' * 10}{i}b*": {"hooks": "pre-create"} for i in range(500)}}
    )
    assert hooks.of("a" * 200) == frozenset()
