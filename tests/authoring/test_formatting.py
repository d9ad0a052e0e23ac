"""``stoker fmt``: normal indentation and spacing, with the same data and comments."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from stoker.cli.arguments.atomic_file import replace_text
from stoker.cli.authoring.formatting.formatter import NotFormattableError, formatted
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.json.tree import same
from stoker.template.source.source import read
from tests.cli.conftest import stoker

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    path
    for path in sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("tests/**/*.yaml")])
    if path.stat().st_size < 200_000
]

UGLY = """\
# head
heat_template_version:   2018-08-31


description:  >
     Long text
       more
parameters:   #the parameters
   a:   {type: string ,default: x}
   # about b
   b:
        constraints:
        - length: { min: 1, max: 3 }   #range
   # behind b

resources:
# about s
  s:
      type:     OS::Nova::Server
      properties:
          networks:
          -  network: private
             fixed_ip:   1.2.3.4
          -   port: {get_resource: [p,
                   q]}
          user_data: |
                      #!/bin/sh
                        echo $x

                      exit\x20\x20
          params: {
                     $x: y,   # trailing
                     $z: "long
                       text"
                 }
      metadata: !!map
         k: &one  v
         l:   *one
"""

NEAT = """\
# head
heat_template_version: 2018-08-31

description: >
  Long text
    more
parameters:  # the parameters
  a: {type: string, default: x}
  # about b
  b:
    constraints:
      - length: {min: 1, max: 3}  # range
  # behind b

resources:
  # about s
  s:
    type: OS::Nova::Server
    properties:
      networks:
        - network: private
          fixed_ip: 1.2.3.4
        - port: {get_resource: [p,
            q]}
      user_data: |
        #!/bin/sh
          echo $x

        exit\x20\x20
      params: {
        $x: y,  # trailing
        $z: "long
          text"
      }
    metadata: !!map
      k: &one v
      l: *one
"""


def test_indentation_and_spacing_become_normal() -> None:
    assert formatted(UGLY) == NEAT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n- 1\n- - 2\n  - 3\n", "a:\n  - 1\n  - - 2\n    - 3\n"),
        ("a: |+\n    x\n\n\nb: 1\n", "a: |+\n  x\n\n\nb: 1\n"),
        ("a: |2\n    x\n", "a: |2\n    x\n"),
        ("a:\n    b: |1\n        x\n", "a:\n  b: |1\n      x\n"),
        ("a: >-  # why\n    x\n\n\n\nb: 1\n", "a: >-  # why\n  x\n\nb: 1\n"),
        ("\n\n# x\n\na: 1", "# x\n\na: 1\n"),
        ("a: {not: }\n", "a: {not: }\n"),
        ("a: !Sub   'x'\n", "a: !Sub 'x'\n"),
        ("a:\n    'x\n\n  y'\n", "a:\n  'x\n\n  y'\n"),
        ("a: 'x   \n\n  y'\n", "a: 'x\n\n  y'\n"),
        ("a: [1,2,\n 3]\n", "a: [1, 2,\n  3]\n"),
        ("---\na: 1\n...\n", "---\na: 1\n...\n"),
        ("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n"),
        ("\ufeffa: 1\n", "a: 1\n"),
        ('{"b":1,"a":[1.0,"\\u00e9"]}', '{\n  "b": 1,\n  "a": [\n    1.0,\n    "é"\n  ]\n}\n'),
        ("# only a comment", "# only a comment\n"),
        ("", ""),
    ],
)
def test_odd_forms_are_formatted(text: str, expected: str) -> None:
    assert formatted(text) == expected
    assert formatted(expected) == expected


def test_documents_keep_data_and_comments() -> None:
    count = 0
    for path in DOCUMENTS:
        text = path.read_text()
        try:
            data = read(text).data
        except DiagnosticError:
            continue
        result = formatted(text)
        assert same(read(result).data, data), path
        assert words(result) == words(text), path
        assert formatted(result) == result, path
        count += 1
    assert count > 100


def words(text: str) -> str:
    """Return a text without white space, where only comments and tokens are left."""
    return re.sub(r"\s+", "", text)


TEXTS = st.text(st.sampled_from("ab #:-{}[],'\"\\\n|>&*!%@`ü😀"), max_size=12)
KEYS = st.text(st.sampled_from("abc$x"), min_size=1, max_size=4)
DATA = st.recursive(
    TEXTS | st.integers(-5, 5) | st.booleans() | st.none() | st.just(1.5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(
    data=st.dictionaries(KEYS, DATA, max_size=5),
    indent=st.integers(2, 7),
    width=st.sampled_from([10, 40, 1000]),
    flow=st.sampled_from([None, True, False]),
    style=st.sampled_from([None, "|", ">", '"', "'"]),
    comments=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=4),
)
def test_random_documents_keep_their_data(
    data: Any,
    indent: int,
    width: int,
    flow: bool | None,
    style: str | None,
    comments: list[tuple[int, int]],
) -> None:
    text = yaml.safe_dump(
        data,
        indent=indent,
        width=width,
        default_flow_style=flow,
        default_style=style,
        allow_unicode=True,
        sort_keys=False,
    )
    lines = text.split("\n")
    for number, column in comments:
        lines.insert(number % len(lines), f"{' ' * column}# remark")
    text = "\n".join(lines)
    try:
        data = read(text).data  # a comment may have become a part of a text
    except DiagnosticError:
        return
    result = formatted(text)
    assert same(read(result).data, data)
    assert result.count("# remark") == text.count("# remark")
    assert formatted(result) == result


def test_json_with_a_repeated_key_is_refused() -> None:
    with pytest.raises(NotFormattableError, match='"a" is given twice'):
        formatted('{"a": 1, "a": 2}')


def test_command_formats_documents_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(UGLY)
    (tmp_path / "neat.yaml").write_text(NEAT)
    (tmp_path / "other.yaml").write_text("services:   {}\n")
    (tmp_path / "prod.env.yaml").write_text("parameters:   {a: 1}\n")
    check = stoker("fmt", "--check", str(tmp_path))
    assert check.exit_code == 1
    assert check.output.split() == [str(tmp_path / "app.yaml"), str(tmp_path / "prod.env.yaml")]
    assert (tmp_path / "app.yaml").read_text() == UGLY
    done = stoker("fmt", str(tmp_path))
    assert done.exit_code == 0
    assert (tmp_path / "app.yaml").read_text() == NEAT
    assert (tmp_path / "other.yaml").read_text() == "services:   {}\n"
    assert stoker("fmt", "--check", str(tmp_path)).exit_code == 0


def test_command_shows_differences(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text("heat_template_version:  2018-08-31")
    done = stoker("fmt", "--diff", str(path))
    assert done.exit_code == 0
    assert "-heat_template_version:  2018-08-31\n\\ No newline" in done.output
    assert "+heat_template_version: 2018-08-31\n" in done.output


def test_command_formats_standard_input() -> None:
    done = stoker("fmt", "-", text="a:   1")
    assert (done.exit_code, done.output) == (0, "a: 1\n")


def test_command_reports_broken_documents_and_formats_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: [1\n")
    (tmp_path / "b.yaml").write_text("a:   1\n")
    done = stoker("fmt", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"))
    assert done.exit_code == 2
    assert "a.yaml:1:4: error: the text is not valid YAML" in done.output
    assert (tmp_path / "b.yaml").read_text() == "a: 1\n"


@pytest.mark.parametrize("indicator", ["|", "|+", "|-", ">", ">+", "|2", "|2+", ">-2"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n  "])
def test_last_block_keeps_its_end(indicator: str, end: str) -> None:
    text = f"a:\n- b:  {indicator} # why\n     x\n     y{end}"
    result = formatted(text)
    assert yaml.safe_load(result) == yaml.safe_load(text)
    assert formatted(result) == result
    assert result.endswith("\n")


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\x85", "\r\x85"])
def test_line_ends_become_line_feeds(line_end: str) -> None:
    assert formatted(UGLY.replace("\n", line_end)) == formatted(UGLY)


def test_unreadable_file_does_not_stop_others(tmp_path: Path) -> None:
    bad, good = tmp_path / "a.yaml", tmp_path / "b.yaml"
    bad.write_bytes(b"heat_template_version: 2018-08-31\ndescription: \xe9\n")
    good.write_text("heat_template_version:   2018-08-31\n")
    done = stoker("fmt", str(bad), str(good))
    assert done.exit_code == 2
    assert "is not UTF-8 text: line 2" in done.stderr
    assert good.read_text() == "heat_template_version: 2018-08-31\n"


def test_written_file_keeps_permissions_and_link(tmp_path: Path) -> None:
    file, link = tmp_path / "-x é.yaml", tmp_path / "link.yaml"
    file.write_text("heat_template_version:   2018-08-31\n")
    file.chmod(0o750)
    link.symlink_to(file)
    assert stoker("fmt", str(link)).exit_code == 0
    assert file.read_text() == "heat_template_version: 2018-08-31\n"
    assert file.stat().st_mode & 0o777 == 0o750
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == sorted([file, link])


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_text(path, "new \ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
