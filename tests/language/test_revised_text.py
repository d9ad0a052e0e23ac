"""A new version of a text is read as if it were read as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.language.test_block_style import PIECES, typed

from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.revised_text import RevisedText, read_revised
from stoker.template.source.source import read

ROOT = Path(__file__).parents[2]
FOLDERS = ("examples", "tests/conformance/cases/template_structure", "tests/language")
TEXTS = [path.read_text() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.yaml"))]
SECTIONS = ("resources", "Resources")
TEXT = """\
heat_template_version: 2018-08-31
description: >
  A text

  of several lines
parameters: {p: {type: string}}
resources:
  # the first
  a:
    type: OS::Heat::Value
    properties: {value: {get_param: p}}

  b:
    type: OS::Heat::Value
    properties:
      value: |
        resources:
          a: b

  "c d":
    type: OS::Heat::Value  # with a note
    properties: {value: [1,
      2]
    }
# the end
outputs:
  o: {value: 1}
"""


def revised(known: str, text: str) -> RevisedText | None:
    """Return the data of a text that is read as a revision, after a comparison with the reader."""
    source = read(known)
    [section] = [name for name in SECTIONS if name in source.data] or ["resources"]
    found = read_revised(source.data, known, text, section)
    if found is None:
        return None
    expected = read(text)
    assert typed(found.data) == typed(expected.data)
    assert not expected.warnings
    assert all(found.data[section][name] is source.data[section][name] for name in found.kept)
    return found


def grown(text: str) -> str | None:
    """Return a text with copies of its resources under other names; None without a section."""
    lines = text.split("\n")
    for head in SECTIONS:
        if f"{head}:" not in lines:
            continue
        start = lines.index(f"{head}:") + 1
        end = next((n for n in range(start, len(lines)) if lines[n][:1].strip("# ")), len(lines))
        section = lines[start:end]
        copies = [
            line.replace(line.split(":")[0], f"{line.split(':')[0]}_{number}", 1)
            if line[:2] == "  " and line[2:3].isalpha()
            else line
            for number in range(3)
            for line in section
        ]
        return "\n".join([*lines[:end], *copies, *lines[end:]])
    return None


def readable(text: str | None) -> bool:
    try:
        return text is not None and not read(text).warnings
    except DiagnosticError:
        return False


LARGE = [text for text in map(grown, TEXTS) if text is not None and readable(text)]


def changed(text: str, chance: random.Random) -> str:
    """Return a text with a few changed, moved or repeated lines."""
    lines = text.split("\n")
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        index = chance.randrange(len(lines))
        line, piece = lines[index], chance.choice(PIECES)
        at = chance.choice([0, len(line) - len(line.lstrip()), chance.randrange(len(line) + 1)])
        to = chance.randrange(len(lines))
        lines[index : index + 1] = chance.choice(
            (
                [],
                ["", line],
                ["# note", line],
                [line, lines[to]],
                [chance.choice((" ", "  ", "    ")) + line],
                [line[chance.choice((1, 2, 4)) :]],
                [line[:at] + piece + line[at:]],
                [line.replace("a", "b", 1)],
                [f"{line} x"],
                [line, piece],
            )
        )
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_changed_texts_have_data_of_reader(seed: int) -> None:
    chance = random.Random(seed)
    found = 0
    for _ in range(250):
        known = chance.choice(LARGE)
        text = changed(known, chance)
        if readable(text):
            found += revised(known, text) is not None
    assert found > 50


def test_unchanged_entries_are_kept() -> None:
    found = revised(TEXT, TEXT.replace("[1,", "[3,"))
    assert found is not None
    assert found.kept == {"b"}
    assert found.data["resources"]["c d"]["properties"] == {"value": [3, 2]}


def test_entries_move_and_come_and_go() -> None:
    lines = TEXT.splitlines(keepends=True)
    start, end = lines.index("  b:\n"), lines.index('  "c d":\n')
    block, rest = lines[start:end], lines[:start] + lines[end:]
    added = "".join([*rest[:7], *block, "  e: {type: OS::Heat::None}\n", *rest[7:]])
    found = revised(TEXT, added)
    assert found is not None
    assert list(found.data["resources"]) == ["b", "e", "a", "c d"]
    removed = revised(TEXT, "".join(rest))
    assert removed is not None
    assert list(removed.data["resources"]) == ["a", "c d"]


QUOTED = """\
description: "
resources:
  a:
    x: 1
  b:
    x: 2
  c:
    x: 3
"
resources : {a: {x: 1}, b: {x: 2}, c: {x: 3}}
"""
SHORT = "resources:\n  a: {x: 1}\n  b: {x: 2}\n  c: {x: 3}\n"
REFERRED = "resources:\n  a: {x: 1}\n  b: &n {x: 2}\n  c: {x: 3}\n  d: *n\n"


HYPHEN = """\
resources:
  a: {type: OS::Heat::None}
  b: {type: OS::Heat::None}
  -b: {type: OS::Heat::Value, properties: {value: "one
  c: two"}}
  d: {type: OS::Heat::None}
"""


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (QUOTED, QUOTED.replace("    x: 3", "    x: 4")),
        (REFERRED, REFERRED.replace("x: 3", "x: 4")),
        (TEXT, TEXT.replace("OS::Heat::Value\n", '"OS::Heat::Value\n', 1).replace("1}", '1}"')),
        (TEXT, TEXT.replace("  b:", "  a:")),
        (TEXT, TEXT.replace("  ", "   ")),
        (TEXT, TEXT + "resources: {}\n"),
        (TEXT, TEXT.replace("resources:\n", "resources: {}\n")),
        (TEXT, TEXT.replace("outputs:", "Resources:")),
        (TEXT, TEXT.replace("  b:", "  - b:")),
        (TEXT, TEXT.replace("[1,", "[1:30,")),
        (HYPHEN, HYPHEN.replace('  c: two"', '  k:\n    x: 3\n  c: two"')),
    ],
    ids=[
        "section-in-quotes", "anchors", "open-quote", "repeated-key", "indentation",
        "second-section", "flow", "sections", "list", "warning",
        "key-with-hyphen",
    ],
)  # fmt: skip
def test_doubts_are_left_to_the_reader(known: str, text: str) -> None:
    section = "resources"
    found = read_revised(read(known).data, known, text, section)
    if found is not None:
        assert typed(found.data) == typed(read(text).data)
        assert not read(text).warnings


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_other_line_breaks_are_left_to_reader(character: str) -> None:
    known = read(SHORT).data
    text = SHORT.replace("  a: {x: 1}\n", f"  {character}\n a: {{x: 1}}\n")
    with pytest.raises(DiagnosticError):
        read(text)
    assert read_revised(known, SHORT, text, "resources") is None
