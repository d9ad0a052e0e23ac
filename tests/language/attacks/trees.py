"""Environments, and templates in templates."""

from __future__ import annotations

from typing import Any

from tests.language.attacks.request import (
    Request,
    hot,
    many,
    outputs,
    pairs,
)


def registry_of_many() -> Request:
    registry = {f"A{n}*": "OS::Heat::None" for n in range(20_000)}
    resources = {f"r{n}": {"type": f"B{n}"} for n in range(1000)}
    return Request(hot(resources=resources), environment={"resource_registry": registry})


def chain_in_the_registry() -> Request:
    registry = {f"T{n}": f"T{n + 1}" for n in range(25_000)}
    return Request(
        hot(resources={"r": {"type": "T0"}}), environment={"resource_registry": registry}
    )


def hooks_by_pattern() -> Request:
    hooks = {f"*a{n}*b": {"hooks": "pre-create"} for n in range(15_000)}
    return Request(hot(resources=many(1)), environment={"resource_registry": {"resources": hooks}})


def hooks_by_slow_pattern() -> Request:
    hooks = {"*a" * 60 + f"*{n}": {"hooks": "pre-create"} for n in range(1000)}
    resources = {f"{'a' * 200}{n}": {"type": "OS::Heat::None"} for n in range(1000)}
    return Request(
        hot(resources=resources), environment={"resource_registry": {"resources": hooks}}
    )


def parameters_that_are_unknown() -> Request:
    given = {f"p{n}": "" for n in range(50_000)}
    return Request(hot(outputs={"o": {"value": 1}}), parameters=given)


def tree(width: int, depth: int, body: dict[str, Any]) -> Request:
    """Return a template that nests a template, repeatedly, each this number of times."""
    files = {}
    for level in range(1, depth):
        following = {f"r{n}": {"type": f"l{level + 1}.yaml"} for n in range(width)}
        files[f"l{level}.yaml"] = hot(resources=following)
    files[f"l{depth}.yaml"] = hot(**body)
    return Request(hot(resources={f"r{n}": {"type": "l1.yaml"} for n in range(width)}), files)


def tree_of_resources() -> Request:
    return tree(100, 4, {"resources": many(1, 100)})


def tree_of_outputs() -> Request:
    return tree(1000, 1, {"outputs": outputs(1, size=100_000)})


def tree_of_parameters() -> Request:
    parameters = pairs(lambda n: (f"p{n}", {"type": "string", "default": ""}), size=300_000)
    return tree(1000, 1, {"parameters": parameters})


def tree_of_warnings() -> Request:
    return tree(1000, 1, {"outputs": outputs({"get_parm": 1}, size=100_000)})


def tree_of_large_documents() -> Request:
    return tree(1000, 1, {"outputs": {"o": {"value": [[]] * 100_000}}})


def tree_of_products() -> Request:
    lists = {letter: ["1"] * 10 for letter in "abcde"}
    return tree(
        100, 2, {"outputs": {"o": {"value": {"repeat": {"template": "a", "for_each": lists}}}}}
    )


def tree_into_itself() -> Request:
    loop = hot(resources={f"r{n}": {"type": "loop.yaml"} for n in range(100)})
    return Request(loop, {"loop.yaml": loop})


def tree_of_groups() -> Request:
    group: Any = {"type": "OS::Heat::None"}
    for _ in range(4):
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 100, "resource_def": group},
        }
    return Request(hot(resources={"r": group}))


def group_of_very_many() -> Request:
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1_000_000_000, "resource_def": {"type": "OS::Heat::None"}},
    }
    return Request(hot(resources={"r": group}))


def group_of_large_members() -> Request:
    member = {"type": "OS::Heat::Value", "properties": {"value": "%index%" * 40_000}}
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1000, "resource_def": member},
    }
    return Request(hot(resources={"r": group}))


def chain_of_very_many() -> Request:
    chain = {"type": "OS::Heat::ResourceChain", "properties": {"resources": {"get_param": "p"}}}
    return Request(
        hot(
            parameters={"p": {"type": "comma_delimited_list"}},
            resources={f"r{n}": chain for n in range(100)},
        ),
        parameters={"p": ",".join(["OS::Heat::None"] * 20_000)},
    )


def stacks_of_one_large_file() -> Request:
    inner = hot(outputs=outputs(1, size=400_000))
    stack = {"type": "OS::Heat::Stack", "properties": {"template": {"get_file": "inner.yaml"}}}
    return Request(hot(resources={f"r{n}": stack for n in range(1000)}), {"inner.yaml": inner})


ATTACKS = (
    registry_of_many,
    chain_in_the_registry,
    hooks_by_pattern,
    hooks_by_slow_pattern,
    parameters_that_are_unknown,
    tree_of_resources,
    tree_of_outputs,
    tree_of_parameters,
    tree_of_warnings,
    tree_of_large_documents,
    tree_of_products,
    tree_into_itself,
    tree_of_groups,
    group_of_very_many,
    group_of_large_members,
    chain_of_very_many,
    stacks_of_one_large_file,
)
