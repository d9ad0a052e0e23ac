"""Reading documents: syntax, limits, positions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, Severity
from stoker.template.document import parse
from stoker.template.source.source import Source, accept, read
from stoker.template.source.yaml_data import MAX_NODES


def refused(text: str) -> DiagnosticError:
    with pytest.raises(DiagnosticError) as caught:
        read(text)
    return caught.value


def place(source: Source, path: Path) -> str:
    return str(source.located(Diagnostic("any", "any", path)).position)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: 1\nb: 2\na: 3\n", "<template>:3:1"),
        ('{"a": 1,\n "b": 2, "a": 3}', "<template>:2:10"),
        ('{"a": "\\ud83d\\ude00", "b": 2, "a": 3}', "None"),
    ],
    ids=["YAML", "JSON", "JSON that is not YAML"],
)
def test_last_value_of_duplicate_key_wins_with_warning(text: str, place: str) -> None:
    source = read(text)
    assert source.data == {"a": 3, "b": 2}
    (warning,) = source.warnings
    assert (warning.code, warning.severity) == ("duplicate-key", Severity.WARNING)
    assert str(warning.position) == place


def test_duplicate_key_in_long_json_gets_warning() -> None:
    text = '{"a": {' + '"b": "x", "c": "y", ' * 40_000 + '"b": "z"}, "d": [1, 2]}'
    source = read(text)
    assert source.data == {"a": {"b": "z", "c": "y"}, "d": [1, 2]}
    assert {warning.code for warning in source.warnings} == {"duplicate-key"}


@pytest.mark.parametrize("separator", [",", ", # a list of YAML\n"], ids=["JSON", "YAML"])
def test_long_flat_list_is_refused(separator: str) -> None:
    text = f"[{f'1{separator}' * MAX_NODES}1]"
    with pytest.raises(DiagnosticError) as caught:
        read(text, max_bytes=len(text))
    assert caught.value.first.code == "too-many-nodes"


def test_merge_keys_give_way_to_own_keys() -> None:
    text = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz: {<<: [*x, *y], c: 5}\n"
    assert read(text).data["z"] == {"a": 1, "b": 2, "c": 5}


def test_expansion_of_aliases_is_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 9):
        entries = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"a{level}: &a{level} [{entries}]")
    assert refused("\n".join(lines)).first.code == "too-many-nodes"


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000, '{"a":' * 5000])
def test_depth_is_bounded(text: str) -> None:
    assert refused(text).first.code in ("too-deep", "bad-syntax")


def test_depth_through_aliases_is_bounded() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{level}: &a{level} [*a{level - 1}]" for level in range(1, 200)]
    assert refused("\n".join(lines)).first.code == "too-deep"


def test_an_alias_inside_what_it_names_is_refused() -> None:
    assert refused("a: &a [*a]").first.code == "bad-alias"


def test_size_is_bounded() -> None:
    with pytest.raises(DiagnosticError) as caught:
        read("a: " + "x" * 2000, max_bytes=1000)
    assert caught.value.first.code == "too-large"


def test_data_is_bounded_like_text() -> None:
    data: Any = "x"
    for _ in range(200):
        data = [data]
    with pytest.raises(DiagnosticError) as caught:
        accept(data)
    assert caught.value.first.code == "too-deep"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2018-08-31", "2018-08-31"),
        ("010", 8),
        ("0o10", "0o10"),
        ("1_000", 1000),
        ("12:30:45", 45045),
        ("~", None),
        ("", None),
        ("yes", True),
        ("off", False),
        ('"on"', "on"),
        ("1.5", 1.5),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("!!set {a, b}", ["a", "b"]),
        ("=", "="),
    ],
)
def test_yaml_values_are_read_and_dates_stay_text(text: str, value: Any) -> None:
    assert read(f"v: {text}").data == {"v": value}


def test_keys_are_text_as_in_json() -> None:
    text = "{1: a, true: b, null: c, 1.5: d}"
    assert read(text).data == {"1": "a", "true": "b", "null": "c", "1.5": "d"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!Ref a", {"Ref": "a"}),
        ("!GetAtt a.b.c", {"Fn::GetAtt": ["a", "b.c"]}),
        ("!GetAtt [a, b]", {"Fn::GetAtt": ["a", "b"]}),
        ("!Sub '${a}'", {"Fn::Sub": "${a}"}),
        ("!Join ['', [!Ref a, b]]", {"Fn::Join": ["", [{"Ref": "a"}, "b"]]}),
        ("!If [c, {a: 1}, !Ref b]", {"Fn::If": ["c", {"a": 1}, {"Ref": "b"}]}),
    ],
)
def test_short_tags_stand_for_functions(text: str, value: Any) -> None:
    assert read(f"v: {text}").data == {"v": value}


@pytest.mark.parametrize("tag", ["!foo", "!!python/object:os.system", "!!foo"])
def test_other_tags_are_refused(tag: str) -> None:
    assert refused(f"v: {tag} x").first.code == "unknown-tag"


def test_flow_style_resembling_json_is_read_as_yaml() -> None:
    assert read("{a: [1, 'x']}").data == {"a": [1, "x"]}


def test_printed_text_is_read_back_unchanged() -> None:
    data = {"a": [1, 2.5, None, True, "x: y", "- z", "yes"], "b": {"c": "ž☃😀"}}
    assert read(json.dumps(data)).data == data


def test_positions_are_found_in_nested_structures() -> None:
    source = read("a:\n  - b: 1\n    c: {d: [x, y]}\n")
    assert place(source, ("a", 0, "c", "d", 1)) == "<template>:3:16"
    assert place(source, ("a", 0, "zz", "d")) == "<template>:2:5"
    assert place(source, ()) == "<template>:1:1"


def test_positions_are_found_in_json() -> None:
    source = read('{\n  "a": {\n    "b": [1,\n      2]}}')
    assert place(source, ("a", "b", 1)) == "<template>:4:7"


def test_all_findings_on_the_structure_come_together() -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse(
            "heat_template_version: 2018-08-31\n"
            "resurces: {}\n"
            "resources:\n"
            "  a: {type: OS::Heat::None, propertys: {}}\n"
            "  b: {}\n"
            "outputs:\n"
            "  o: x\n"
        )
    found = [(d.code, str(d.position), d.suggestion) for d in caught.value.diagnostics]
    assert found == [
        ("unknown-section", "<template>:2:1", 'did you mean "resources"?'),
        ("unknown-key", "<template>:4:29", 'did you mean "properties"?'),
        ("no-type", "<template>:5:3", None),
        ("bad-output", "<template>:7:3", None),
    ]


def test_half_a_character_is_refused() -> None:
    assert refused('{"a": "\\ud800"}').first.code == "bad-character"
    with pytest.raises(DiagnosticError):
        accept({"a": ["\ud800"]})
