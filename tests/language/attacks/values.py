"""Parameters and their constraints."""

from __future__ import annotations

import json
from typing import Any

from tests.language.attacks.request import (
    BIG_LIST,
    Request,
    fill,
    hot,
    many,
    pairs,
)


def slow_patterns() -> Request:
    def one(n: int) -> tuple[str, Any]:
        rule = {"allowed_pattern": f"(a|aa)+{n}"}
        return f"p{n}", {"type": "string", "default": "a" * 60 + "b", "constraints": [rule]}

    return Request(hot(parameters=pairs(one)))


def slow_patterns_of_types() -> Request:
    rule = {"allowed_pattern": "(a|aa)+"}
    inner = hot(parameters={"p": {"type": "string", "constraints": [rule]}})
    resources = {
        f"r{n}": {"type": "inner.yaml", "properties": {"p": "a" * 60 + "b"}} for n in range(1000)
    }
    return Request(hot(resources=resources), {"inner.yaml": inner})


def slow_patterns_of_files() -> Request:
    rule = {"allowed_pattern": "(a|aa)+"}
    parameter = {"type": "string", "default": "a" * 60 + "b", "constraints": [rule]}
    files = {f"t{n}.yaml": hot(parameters={f"p{n}": parameter}) for n in range(2000)}
    resources = {f"r{n}": {"type": f"t{n}.yaml"} for n in range(1000)}
    return Request(hot(resources=resources), files)


def long_pattern() -> Request:
    rule = {"allowed_pattern": "(a|b)?" * 80_000}
    return Request(hot(parameters={"p": {"type": "string", "default": "a", "constraints": [rule]}}))


def different_patterns() -> Request:
    def one(n: int) -> tuple[str, Any]:
        rule = {"allowed_pattern": f"(?:a{n}|b{n})(?:[a-z]|[A-Z]|[0-9]){{1,{n + 1}}}"}
        return f"p{n}", {"type": "string", "constraints": [rule]}

    return Request(hot(parameters=pairs(one)))


def choices_and_entries() -> Request:
    allowed = list(fill(lambda n: f"a{n}", size=250_000))
    rule = {"allowed_values": allowed}
    parameter = {"type": "comma_delimited_list", "constraints": [rule]}
    return Request(
        hot(parameters={"p": parameter}), parameters={"p": ",".join([allowed[-1]] * 80_000)}
    )


def deep_json_parameter() -> Request:
    deep: Any = 1
    for _ in range(300):
        deep = {"get_param": deep} if _ % 2 else [deep]
    return Request(
        hot(parameters={"p": {"type": "json"}}, resources=many({"get_param": "p"}, 10)),
        parameters={"p": json.dumps(deep)},
    )


def deep_json_in_a_constraint() -> Request:
    rule = {"custom_constraint": "json_string"}
    return Request(
        hot(parameters={"p": {"type": "string", "constraints": [rule]}}),
        parameters={"p": "[" * 400_000},
    )


def long_values_of_constraints() -> Request:
    names = [
        "cron_expression",
        "dns_name",
        "expiration",
        "ip_addr",
        "mac_addr",
        "net_cidr",
        "timezone",
    ]
    found = {
        name: {
            "type": "string",
            "default": "1" * 50_000,
            "constraints": [{"custom_constraint": name}],
        }
        for name in names
    }
    return Request(hot(parameters=found))


def json_text_of_properties() -> Request:
    inner = hot(parameters={"p": {"type": "json"}})
    resources = {
        f"r{n}": {"type": "inner.yaml", "properties": {"p": {"get_param": "p"}}}
        for n in range(1000)
    }
    return Request(
        hot(parameters={"p": {"type": "string"}}, resources=resources),
        {"inner.yaml": inner},
        parameters={"p": json.dumps(BIG_LIST)},
    )


ATTACKS = (
    slow_patterns,
    slow_patterns_of_types,
    slow_patterns_of_files,
    long_pattern,
    different_patterns,
    choices_and_entries,
    deep_json_parameter,
    deep_json_in_a_constraint,
    long_values_of_constraints,
    json_text_of_properties,
)
