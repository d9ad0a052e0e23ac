"""Texts that cost their reader much time or memory."""

from __future__ import annotations

from tests.language.attacks.request import (
    Request,
    hot,
    yaml,
)


def aliases_of_aliases() -> Request:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return yaml("outputs: {o: {value: {\n" + ",\n".join(lines) + "\n}}}")


def aliases_of_a_wide_map() -> Request:
    wide = ", ".join(f"k{n}: {{}}" for n in range(300))
    again = ", ".join(["*a"] * 1600)
    value = f"[&a {{{wide}}}, {again}]"
    kind = "type: OS::Heat::Value"
    return yaml(f"resources: {{r: {{{kind}, properties: {{value: {value}}}}}}}")


def aliases_of_a_long_text() -> Request:
    again = ", ".join(["*a"] * 20_000)
    return yaml(f"outputs: {{o: {{value: [&a {'x' * 400_000}, {again}]}}}}")


def digests_of_an_alias() -> Request:
    rest = ", ".join("{digest: [sha512, *a]}" for _ in range(8000))
    return yaml(f"outputs: {{o: {{value: [&a {'x' * 200_000}, {rest}]}}}}")


def needs_by_alias() -> Request:
    again = ", ".join(["*a"] * 60_000)
    body = f"{{type: OS::Heat::None, depends_on: [&a {'x' * 200_000}, {again}]}}"
    return yaml(f"resources: {{r: {body}}}")


def merges_of_many() -> Request:
    wide = ", ".join(f"k{n}: 1" for n in range(1000))
    return yaml(f"x: &a {{{wide}}}\noutputs: {{o: {{value: {{<<: [{', '.join(['*a'] * 450)}]}}}}}}")


def merges_of_merges() -> Request:
    lines = ["m0: &m0 {k0: 1, j0: 1}"]
    lines += [f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}], k{n}: 1}}" for n in range(1, 40)]
    return yaml("outputs: {o: {value: {\n" + ",\n".join(lines) + "\n}}}")


def lists_in_lists() -> Request:
    return yaml("outputs: {o: {value: [" + "[]," * 170_000 + "]}}")


def maps_in_maps() -> Request:
    rows = "{a: {b: {c: {}}}}," * 27_000
    return yaml("outputs: {o: {value: [" + rows + "]}}")


def maps_as_json() -> Request:
    rows = ",".join(['{"a":{"a":{"a":{}}}}'] * 24_000)
    return Request(
        '{"heat_template_version": "2021-04-16", "outputs": {"o": {"value": [' + rows + "]}}}"
    )


def deep_flow() -> Request:
    return yaml("x: " + "[" * 250_000)


def deep_json() -> Request:
    return Request("[" * 500_000)


def deep_block() -> Request:
    return yaml("".join(" " * n + "a:\n" for n in range(1000)))


def wide_at_the_greatest_depth() -> Request:
    return yaml("x: " + "[" * 95 + "a," * 250_000 + "]" * 95)


def long_number() -> Request:
    return yaml("outputs: {o: {value: " + "9" * 500_000 + "}}")


def long_hexadecimal_number() -> Request:
    return yaml("outputs: {o: {value: 0x" + "f" * 500_000 + "}}")


def long_sexagesimal_number() -> Request:
    return yaml("outputs: {o: {value: 1" + ":59" * 160_000 + "}}")


def long_sexagesimal_fraction() -> Request:
    return yaml("outputs: {o: {value: 1" + ":59" * 160_000 + ".5}}")


def many_large_numbers() -> Request:
    number = "9" * 4200
    rest = ", ".join([number] * 120)
    return Request(hot(outputs={"o": {"value": 1}}).replace('"value": 1', f'"value": [{rest}]'))


def long_keys() -> Request:
    return yaml("".join(f"? {'k' * 2000}{n}\n: 1\n" for n in range(250)))


def keys_twice_in_json() -> Request:
    members = ",".join(['"a":1', *(f'"b{n}":1' for n in range(40_000)), '"b39999":2'])
    return Request('{"heat_template_version":"2021-04-16","outputs":{' + members + "}}")


def wide_text() -> Request:
    content = "\N{GRINNING FACE}" * 120_000
    return yaml(f"outputs: {{o: {{value: {content}}}}}")


def repeated_tags() -> Request:
    return yaml("x: [" + "!GetAtt a.b," * 43_000 + "]")


def long_tag_prefix() -> Request:
    prefix = "%TAG ! tag:yaml.org,2002:" + "x" * 200_000
    return Request(f"{prefix}\n---\nx: [" + "!s a," * 50_000 + "]")


def comments() -> Request:
    return yaml("#\n" * 250_000)


def many_documents() -> Request:
    return Request("---\na: 1\n" * 50_000)


ATTACKS = (
    aliases_of_aliases,
    aliases_of_a_wide_map,
    aliases_of_a_long_text,
    digests_of_an_alias,
    needs_by_alias,
    merges_of_many,
    merges_of_merges,
    lists_in_lists,
    maps_in_maps,
    maps_as_json,
    deep_flow,
    deep_json,
    deep_block,
    wide_at_the_greatest_depth,
    long_number,
    long_hexadecimal_number,
    long_sexagesimal_number,
    long_sexagesimal_fraction,
    many_large_numbers,
    long_keys,
    keys_twice_in_json,
    wide_text,
    repeated_tags,
    long_tag_prefix,
    comments,
    many_documents,
)
