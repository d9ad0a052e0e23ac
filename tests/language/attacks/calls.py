"""Functions that give much for little."""

from __future__ import annotations

import json
from typing import Any

from tests.language.attacks.request import (
    BIG_LIST,
    BIG_TEXT,
    Request,
    cfn,
    fill,
    hot,
    many,
    nest,
    outputs,
    pairs,
)


def repeat_of_products() -> Request:
    lists = {letter: ["1"] * 10 for letter in "abcdef"}
    return Request(hot(resources=many({"repeat": {"template": "a", "for_each": lists}})))


def repeat_of_maps() -> Request:
    numbers = [str(n) for n in range(400)]
    call = {
        "repeat": {"template": {"%a%": {"%b%": {}}}, "for_each": {"%a%": numbers, "%b%": numbers}}
    }
    return Request(hot(resources=many(call, 80)))


def repeat_in_repeat() -> Request:
    call: Any = "%a%"
    for _ in range(6):
        call = {"repeat": {"template": call, "for_each": {"%a%": ["1"] * 10}}}
    return Request(hot(outputs=outputs(call, size=50_000)))


def repeat_of_no_words() -> Request:
    numbers = ["1"] * 1000
    call = {"repeat": {"template": [[[[[[]]]]]], "for_each": {"%a%": numbers, "%b%": numbers}}}
    return Request(hot(outputs=outputs(call, size=200_000)))


def repeat_without_permutations() -> Request:
    numbers = ["1" * 200] * 1000
    call = {
        "repeat": {
            "template": "%a%" * 1000,
            "for_each": {"%a%": numbers},
            "permutations": False,
        }
    }
    return Request(hot(outputs={"o": {"value": call}, "p": {"value": call}}))


def doubled_text() -> Request:
    text: Any = "x" * 100
    for _ in range(30):
        text = {"str_replace": {"template": "AA", "params": {"A": text}}}
    return Request(hot(resources=many(text, 100)))


def long_texts_in_every_resource() -> Request:
    call = {"str_replace": {"template": "A" * 64, "params": {"A": {"get_param": "p"}}}}
    return Request(
        hot(parameters={"p": {"type": "string"}}, resources=many(call)),
        parameters={"p": "\N{GRINNING FACE}" * 30_000},
    )


def words_and_pieces() -> Request:
    words = pairs(lambda n: (f"w{n}", ""), size=300_000) | {"a": "b"}
    call = {"str_replace": {"template": "a" * 180_000, "params": words}}
    return Request(hot(outputs={"o": {"value": call}}))


def words_in_long_texts() -> Request:
    words = pairs(lambda n: (f"w{n}", ""), size=100_000)
    call = {"str_replace": {"template": {"get_param": "p"}, "params": {"get_param": "w"}}}
    return Request(
        hot(
            parameters={"p": {"type": "string"}, "w": {"type": "json"}},
            outputs=outputs(call, size=200_000),
        ),
        parameters={"p": "a" * 400_000, "w": words},
    )


def join_of_a_list_in_every_output() -> Request:
    call = {"list_join": ["-" * 100, {"get_param": "p"}]}
    return Request(
        hot(parameters={"p": {"type": "comma_delimited_list"}}, outputs=outputs(call)),
        parameters={"p": ",".join(["a"] * 80_000)},
    )


def split_in_every_output() -> Request:
    call = {"str_split": ["a", {"get_param": "p"}]}
    return Request(
        hot(parameters={"p": {"type": "string"}}, outputs=outputs(call)),
        parameters={"p": "a" * 400_000},
    )


def large_parameter_in_every_output() -> Request:
    return Request(
        hot(parameters={"p": {"type": "json"}}, outputs=outputs({"get_param": "p"})),
        parameters={"p": json.dumps(BIG_LIST)},
    )


def large_parameter_in_every_resource() -> Request:
    resources = {
        f"r{n}": {"type": "OS::Heat::None", "metadata": {"get_param": "p"}} for n in range(1000)
    }
    return Request(
        hot(parameters={"p": {"type": "json"}}, resources=resources),
        parameters={"p": json.dumps({str(number): {} for number in range(30_000)})},
    )


def path_into_a_large_parameter() -> Request:
    return Request(
        hot(parameters={"p": {"type": "json"}}, outputs=outputs({"get_param": ["p", 0]})),
        parameters={"p": json.dumps(BIG_LIST)},
    )


def entries_of_json_text() -> Request:
    call = {"Fn::Select": [0, {"Ref": "p"}]}
    found = pairs(lambda n: (f"o{n}", {"Value": call}))
    return Request(
        cfn(Parameters={"p": {"Type": "String"}}, Outputs=found),
        parameters={"p": json.dumps(BIG_LIST)},
    )


def unique_lists() -> Request:
    entries = [[n] for n in range(40_000)]
    call = {"list_concat_unique": [entries, entries[:1]]}
    return Request(hot(outputs={"o": {"value": call}}))


def filtered_lists() -> Request:
    entries = list(fill(lambda n: f"a{n}", size=250_000))
    call = {"filter": [list(fill(lambda n: f"b{n}", size=250_000)), entries]}
    return Request(hot(outputs={"o": {"value": call}}))


def merged_maps() -> Request:
    call = {"map_merge": [{"get_param": "p"}] * 30}
    return Request(
        hot(parameters={"p": {"type": "json"}}, outputs=outputs(call)),
        parameters={"p": dict.fromkeys(map(str, range(20_000)), 1)},
    )


def deep_concatenation() -> Request:
    call = nest("list_concat", list(fill(lambda n: [n])), 90, lambda inner: [inner])
    return Request(hot(outputs={"o": {"value": call}}))


def json_of_json() -> Request:
    return Request(cfn(Outputs={"o": {"Value": nest("Fn::ToJsonString", '"' * 1000, 24)}}))


def networks() -> Request:
    call = {"Fn::Cidr": ["fd00::/8", 256, 8]}
    return Request(cfn(Outputs=pairs(lambda n: (f"o{n}", {"Value": call}))))


def endless_number_of_networks() -> Request:
    return Request(
        "AWSTemplateFormatVersion: 2010-09-09\n"
        "Outputs: {o: {Value: {Fn::Cidr: [10.0.0.0/8, .inf, 8]}}}"
    )


def digests() -> Request:
    call = {"digest": ["sha3_512", {"get_param": "p"}]}
    return Request(
        hot(parameters={"p": {"type": "string"}}, outputs=outputs(call)),
        parameters={"p": BIG_TEXT},
    )


def urls() -> Request:
    call = {"make_url": {"host": "h", "path": {"get_param": "p"}}}
    return Request(
        hot(parameters={"p": {"type": "string"}}, outputs=outputs(call)),
        parameters={"p": "\N{GRINNING FACE}" * 40_000},
    )


def files_in_every_output() -> Request:
    call = {"str_replace": {"template": {"get_file": "f"}, "params": {"x": "yy"}}}
    return Request(hot(outputs=outputs(call)), {"f": BIG_TEXT})


def expressions() -> Request:
    call = {"yaql": {"expression": "range(0,199).select(range(0,50).sum()).sum()"}}
    return Request(hot(resources=many(call)))


def small_expressions() -> Request:
    call = {"yaql": {"expression": "$.data.select($ + 1)", "data": list(range(150))}}
    return Request(hot(resources=many(call, 650)))


def different_expressions() -> Request:
    def one(n: int) -> tuple[str, Any]:
        return f"o{n}", {"value": {"yaql": {"expression": f"{n} + 1"}}}

    return Request(hot(outputs=pairs(one)))


def long_expression() -> Request:
    call = {"yaql": {"expression": "1" + " + 1" * 120_000}}
    return Request(hot(outputs={"o": {"value": call}}))


def text_of_an_expression() -> Request:
    call = {"yaql": {"expression": "'xxxxxxxxxx' * 1000000000"}}
    power = {"yaql": {"expression": "$.data * $.data * $.data", "data": 10**300}}
    return Request(hot(outputs={"o": {"value": call}, "p": {"value": power}}))


def facade_metadata() -> Request:
    inner = hot(outputs={f"o{n}": {"value": {"resource_facade": "metadata"}} for n in range(8000)})
    resource = {"type": "inner.yaml", "metadata": {"m": [[]] * 40_000}}
    return Request(hot(resources={"r": resource}), {"inner.yaml": inner})


ATTACKS = (
    repeat_of_products,
    repeat_of_maps,
    repeat_in_repeat,
    repeat_of_no_words,
    repeat_without_permutations,
    doubled_text,
    long_texts_in_every_resource,
    words_and_pieces,
    words_in_long_texts,
    join_of_a_list_in_every_output,
    split_in_every_output,
    large_parameter_in_every_output,
    large_parameter_in_every_resource,
    path_into_a_large_parameter,
    entries_of_json_text,
    unique_lists,
    filtered_lists,
    merged_maps,
    deep_concatenation,
    json_of_json,
    networks,
    endless_number_of_networks,
    digests,
    urls,
    files_in_every_output,
    expressions,
    small_expressions,
    different_expressions,
    long_expression,
    text_of_an_expression,
    facade_metadata,
)
