"""The reader of lines in block style returns the data of the YAML parser, or nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from stoker.template.source import block_style
from stoker.template.source.block_style import UNSURE, read_block_style
from stoker.template.source.source import read
from stoker.template.source.yaml_data import MAX_DEPTH, read_yaml

ROOT = Path(__file__).parents[2]
FOLDERS = ("examples", "tests/conformance/cases/template_structure", "tests/language")
TEXTS = [path.read_text() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.yaml"))]
PIECES = """\
  | -  | #|: |:|"|'|||>|{|}|[|]|{}|,|&a |*a|!Sub |!!str |<<: |? |---|...|%YAML 1.1|@|`|\\|0|01|1:30
1_0|0x1f|1.5|.5|-1|yes|No|null|~|=|<<|2001-01-01|- - a|- - - b: c|x: ||-|>+||2|$a|(b)|"k": v|'k': v
a b: c|é|中|\t|\r|\x85|\u2028|\ufeff|\u00a0|\u200b|\x00|a: b: c|- a: b|a:|-|"a\\tb"|'it''s'
 # note|#x
""".replace("\n", "|").split("|")  # fmt: skip


def typed(value: Any) -> Any:
    """Return a value in which equal values of different types, or in another order, differ."""
    if isinstance(value, dict):
        return [(key, typed(item)) for key, item in value.items()]
    if isinstance(value, list):
        return tuple(map(typed, value))
    return type(value), value


def is_read(text: str) -> bool:
    """Return whether the lines are read, after a comparison with the parser."""
    data = read_block_style(text)
    if data is UNSURE:
        return False
    expected, warnings = read_yaml(text, None)
    assert typed(data) == typed(expected)
    assert not warnings
    return True


def changed(text: str, chance: random.Random) -> str:
    """Return a few lines of a text with small changes."""
    lines = text.split("\n")
    start = chance.randrange(len(lines))
    lines = lines[start : start + chance.randrange(3, 25)]
    outer = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    lines = [line[outer:] for line in lines]
    for _ in range(chance.randrange(4)):
        index = chance.randrange(len(lines))
        line, piece = lines[index], chance.choice(PIECES)
        at = chance.choice([0, len(line) - len(line.lstrip()), chance.randrange(len(line) + 1)])
        lines[index : index + 1] = chance.choice(
            (
                [chance.choice(lines), line],
                [" " * chance.choice((1, 2, 4)) + line],
                [line[chance.choice((1, 2, 4)) :]],
                [line[:at] + piece + line[at:]],
                [line + piece],
                [line, piece],
            )
        )
    return "\n".join(lines)


def test_almost_all_templates_are_read_by_lines() -> None:
    assert sum(map(is_read, TEXTS)) > 0.9 * len(TEXTS)


@pytest.mark.parametrize("seed", range(4))
def test_changed_templates_have_data_of_parser(seed: int) -> None:
    chance = random.Random(seed)
    texts = [changed(chance.choice(TEXTS), chance) for _ in range(1000)]
    assert sum(map(is_read, texts)) > 100


@pytest.mark.parametrize("size", [1, 7, 50])
def test_parts_across_batches_have_data_of_parser(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_style, "_BATCH", size)
    assert sum(map(is_read, TEXTS)) > 0.9 * len(TEXTS)


@pytest.mark.parametrize(
    "text",
    [
        "a:\n- b\n- c: d\n  e: f\ng: 1\n",
        "- - - a\n    - b: c\n      d:\n  - e\n-\n  f\n- g:\n  - h\n",
        "a: |\n  b\n\n\nc: |+\n  d\n\n# e\nf: >-\n  g\n  h\n",
        "a: |\n  no end of the last line",
        "a: b\n  c\n\n  d\ne:\n  f\n  g\n",
        "a: [\n  b, {c: d}\n]\ne: {f: g,\n   h: i}\n",
        "# note\n---\n'a': \"b\"\n\"c d\": 'e # f'\n10: yes\nno: 0\nnull: ~\n",
        "a: !Sub b\nc: !GetAtt d.e\nf:\n  - !Ref g\n",
        "a: 0x1f\nb: 1.5\nc: 2001-01-01\nd: -3\ne: 007\nf: 12345678901234567890\n",
        "a b c: d\nOS::Nova::Server: e\n$f: <g>\nh: i:j#k\n",
    ],
)
def test_common_forms_are_read_by_lines(text: str) -> None:
    assert is_read(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &x b\nc: *x\n",
        "a: 1\nb: 2\na: 3\n",
        "a: b: c\n",
        "a: b\n# note\n  c\n",
        "a:\n  b: c\n d: e\n",
        "a: |2\n b\n",
        "a: b\n...\n",
        "---\na: b\n---\nc: d\n",
        "a: 1:30\n",
        "a: \u00a0b\n",
        "- a\nb: c\n",
        "a: 'b\n",
        "",
        "text\n",
    ],
)
def test_texts_with_doubt_need_the_parser(text: str) -> None:
    assert read_block_style(text) is UNSURE


def test_lines_have_the_bounds_of_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def nested(depth: int) -> str:
        return "".join(f"{' ' * level}a:\n" for level in range(depth))

    assert is_read(nested(MAX_DEPTH))
    assert not is_read(nested(MAX_DEPTH + 1))
    assert not is_read(nested(MAX_DEPTH) + " " * MAX_DEPTH + "[[b]]\n")
    monkeypatch.setattr(block_style, "MAX_NODES", 8)
    assert is_read("- a: b\n- c: d\n- e\n")  # three containers, three texts, two keys
    assert not is_read("- a: b\n- c: d\n- e\n- f\n")
    assert not is_read("- a: b\n- c: d\n- [e]\n")


def test_many_values_in_brackets_need_the_parser() -> None:
    text = "".join(f"k{number}: [{number}]\n" for number in range(2000))
    assert read_block_style(text) is UNSURE
    assert read(text).data["k7"] == [7]
