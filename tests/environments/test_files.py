"""Several environment files become one environment."""

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.environment.files import environment_of
from stoker.template.parameters.parameters import Parameter, ParameterType

DECLARED = {
    "p": Parameter("p", ParameterType.STRING),
    "l": Parameter("l", ParameterType.LIST),
    "j": Parameter("j", ParameterType.JSON),
    "n": Parameter("n", ParameterType.NUMBER),
}
FILES = {
    "e1": "parameters:\n  p: one\n  l: a,b\n  j:\n    x: 1\nparameter_defaults:\n  q: 1\n",
    "e2": "parameters:\n  p: two\n  l: c\n  j:\n    y: 2\n",
}


def merged(*texts, declared=DECLARED):
    files = {f"e{index}": text for index, text in enumerate(texts)}
    return environment_of(None, list(files), files, declared)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (["e1", "e2"], {"p": "two", "l": "c", "j": {"y": 2}}),
        (["e2", "e1"], {"p": "one", "l": "a,b", "j": {"x": 1}}),
    ],
)
def test_later_files_overwrite_earlier_ones(order, expected):
    environment = environment_of(None, order, FILES, DECLARED)
    assert environment.parameters == expected
    assert environment.parameter_defaults == {"q": 1}


def test_files_take_the_place_of_the_inline_environment():
    environment = environment_of({"parameters": {"p": "inline"}}, ["e1"], FILES, DECLARED)
    assert environment.parameters["p"] == "one"


@pytest.mark.parametrize("names", ["e1", ["missing"]])
def test_a_missing_file_is_refused(names):
    with pytest.raises(DiagnosticError) as caught:
        environment_of(None, names, FILES, DECLARED)
    assert caught.value.first.error_type.name == "KeyError"


def test_merging_joins_texts_and_lists_and_unites_maps():
    first = (
        "{parameters: {p: a, l: 'x,y', j: {k: {a: 1}}, n: 1}, "
        "parameter_merge_strategies: {default: merge}}"
    )
    second = "{parameters: {p: b, l: [z], j: {k: {b: 2}}, n: 2}}"
    assert merged(first, second).parameters == {
        "p": "ab",
        "l": ["x", "y", "z"],
        "j": {"k": {"b": 2}},
        "n": 2,
    }


def test_deep_merging_unites_maps_inside_maps():
    first = "{parameters: {j: {k: {a: 1}}}, parameter_merge_strategies: {j: deep_merge}}"
    second = "{parameters: {j: {k: {b: 2}}}}"
    assert merged(first, second).parameters == {"j": {"k": {"a": 1, "b": 2}}}


def test_deep_merge_joins_values_and_null_erases_nothing():
    first = (
        "{parameters: {j: {roles: [web], motd: 'hello ', keep: 1, in: {l: [1], n: 1, t: a}}},"
        " parameter_merge_strategies: {j: deep_merge}}"
    )
    second = (
        "{parameters: {j: {roles: [db], motd: world, keep: null, new: null,"
        " in: {l: [2], n: 2, t: [b]}}}}"
    )
    assert merged(first, second).parameters["j"] == {
        "roles": ["web", "db"],
        "motd": "hello world",
        "keep": 1,
        "new": None,
        "in": {"l": [1, 2], "n": 2, "t": ["b"]},
    }


def test_merging_erases_nothing_by_null():
    first = "{parameters: {j: {a: 1, b: [1]}}, parameter_merge_strategies: {j: merge}}"
    second = "{parameters: {j: {a: null, b: [2]}}}"
    assert merged(first, second).parameters == {"j": {"a": 1, "b": [2]}}


def test_first_file_decides_merge_strategy_of_parameter():
    second = "{parameters: {j: {y: 2}}, parameter_merge_strategies: {default: merge}}"
    assert merged("{parameters: {j: {x: 1}}}", second).parameters == {"j": {"y": 2}}
    with pytest.raises(DiagnosticError) as caught:
        merged(
            "{parameters: {l: a}}", "{parameters: {l: b}, parameter_merge_strategies: {l: merge}}"
        )
    assert caught.value.first.error_type.name == "ConflictingMergeStrategyForParam"


def test_an_unknown_strategy_is_refused():
    with pytest.raises(DiagnosticError):
        merged("{parameter_merge_strategies: {default: mix}}")


def test_values_for_nested_parameters_merge_by_kind():
    first = "{parameter_defaults: {m: {a: 1}}, parameter_merge_strategies: {m: merge}}"
    environment = merged(first, "{parameter_defaults: {m: {b: 2}}}")
    assert environment.parameter_defaults == {"m": {"a": 1, "b": 2}}


def test_registries_are_merged_deeply():
    first = "{resource_registry: {A: B, resources: {r: {X: Y}}}}"
    second = "{resource_registry: {A: C, resources: {r: {hooks: pre-create}}}}"
    assert merged(first, second).resource_registry == {
        "A": "C",
        "resources": {"r": {"X": "Y", "hooks": "pre-create"}},
    }
