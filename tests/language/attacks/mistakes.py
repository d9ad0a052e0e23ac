"""Mistakes: as many as fit, and long ones."""

from __future__ import annotations

from typing import Any

from tests.language.attacks.request import (
    TEXT,
    Request,
    fill,
    hot,
    pairs,
    value,
)


def unknown_names() -> Request:
    def one(n: int) -> tuple[str, Any]:
        wanted = f"resorce_{n}"
        return f"resource_{n}", value({"get_resource": wanted}, depends_on=[wanted])

    return Request(hot(resources=pairs(one)))


def unknown_needs() -> Request:
    wanted = list(fill(lambda n: f"n{n}"))
    return Request(hot(resources={"r": {"type": "OS::Heat::None", "depends_on": wanted}}))


def unknown_sections() -> Request:
    return Request(hot(**pairs(lambda n: (f"s{n}", 1))))


def unknown_properties() -> Request:
    wrong = pairs(lambda n: (f"p{n}", 1))
    return Request(hot(resources={"r": {"type": "OS::Nova::Server", "properties": wrong}}))


def unknown_types() -> Request:
    return Request(hot(resources=pairs(lambda n: (f"r{n}", {"type": f"OS::Nova::Serverr{n}"}))))


def bad_calls() -> Request:
    calls = list(fill(lambda n: {"get_param": f"p{n}"}))
    return Request(hot(outputs={"o": {"value": calls}}))


def bad_calls_deep_down() -> Request:
    calls: Any = list(fill(lambda n: {"get_param": 1}))
    for _ in range(80):
        calls = [calls]
    return Request(hot(outputs={"o": {"value": calls}}))


def misspelled_functions() -> Request:
    calls = list(fill(lambda n: {f"get_parm{n}": 1}))
    return Request(hot(outputs={"o": {"value": calls}}))


def long_name_in_a_message() -> Request:
    return Request(hot(resources={"r": {"type": "T" * 400_000}}))


def choices_in_messages() -> Request:
    allowed = [f"choice {n}" for n in range(12_000)]
    inner = hot(parameters={"p": {"type": "string", "constraints": [{"allowed_values": allowed}]}})
    resources = {f"r{n}": {"type": "inner.yaml", "properties": {"p": "x"}} for n in range(1000)}
    return Request(hot(resources=resources), {"inner.yaml": inner})


def descriptions_in_messages() -> Request:
    rule = {"length": {"max": 0}, "description": "d" * 400_000}
    inner = hot(parameters={"p": {"type": "string", "constraints": [rule]}})
    resources = {f"r{n}": {"type": "inner.yaml", "properties": {"p": "x"}} for n in range(1000)}
    return Request(hot(resources=resources), {"inner.yaml": inner})


def placeholders_that_are_missing() -> Request:
    params = pairs(lambda n: (f"k{n}", ""), size=TEXT - 60_000)
    call = {"str_replace_strict": {"template": "t", "params": params}}
    return Request(hot(outputs={"o": {"value": call}}))


ATTACKS = (
    unknown_names,
    unknown_needs,
    unknown_sections,
    unknown_properties,
    unknown_types,
    bad_calls,
    bad_calls_deep_down,
    misspelled_functions,
    long_name_in_a_message,
    choices_in_messages,
    descriptions_in_messages,
    placeholders_that_are_missing,
)
