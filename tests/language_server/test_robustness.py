"""Any text gets an answer: truncated, random, huge, and deeply nested."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from stoker.cli.authoring.language_server.features import FEATURES
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.settings import Settings
from stoker.cli.authoring.language_server.syntax.nodes import data_of, walk
from stoker.cli.authoring.language_server.syntax.parser import parse
from stoker.cli.authoring.language_server.text import Text
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.positions import positions
from stoker.template.source.source import read
from tests.language_server.editor import opened

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(ROOT.glob("examples/*.yaml"))
STEP = 97  # characters between the ends of truncated examples
PARTS = st.sampled_from(
    [
        "heat_template_version: 2021-04-16\n", "resources:\n", "  a:\n",
        "    type: OS::Heat::Value\n",
        "    properties:\n", "      value: ", "{get_param: ", "[", "]", "}", "{", ", ", ": ", "- ",
        "|\n", "'", '"', "#", "\n", "\r\n", "  ", "!Ref a", "!Sub '${a}'", "&x ", "*x", "<<: ",
        "\t", "🎉", "\u2028", "\x85", "\ufeff", "Resources:\n",
        "parameters:\n  p: {type: string}\n",
        "get_attr: [a, ", "outputs: {o: {value: ", "\\", "? ", "--- \n", "%", "@", "\0",
    ]
)  # fmt: skip


def ask_all(session: Session, uri: str, text: str, offset: int) -> None:
    """Send each request about a position."""
    position = Text(text).position(offset)
    document = types.TextDocumentIdentifier(uri)
    for name, (feature, _) in FEATURES.items():
        with suppress(JsonRpcInvalidParams):  # names that cannot be changed
            feature(session, arguments_of(name, document, position))


def arguments_of(
    name: str, document: types.TextDocumentIdentifier, position: types.Position
) -> Any:
    place = {"text_document": document, "position": position}
    match name:
        case types.COMPLETION_ITEM_RESOLVE:
            return types.CompletionItem("x", data={"type": "OS::Heat::Value"})
        case types.TEXT_DOCUMENT_REFERENCES:
            return types.ReferenceParams(types.ReferenceContext(True), **place)
        case types.TEXT_DOCUMENT_RENAME:
            return types.RenameParams(new_name="another", **place)
        case types.TEXT_DOCUMENT_FORMATTING:
            return types.DocumentFormattingParams(document, types.FormattingOptions(2, True))
        case types.TEXT_DOCUMENT_CODE_ACTION:
            around = types.Range(position, position)
            return types.CodeActionParams(document, around, types.CodeActionContext([]))
    return types.HoverParams(**place)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_truncated_example_gets_answers(path: Path) -> None:
    whole = path.read_text()
    session = Session(Settings())
    try:
        for end in range(0, len(whole), max(STEP, len(whole) // 40)):
            text = whole[:end]
            document = session.documents.open(path.as_uri(), text, end)
            session.models.forget()
            ask_all(session, document.uri, text, end)
            session.checker.check(document)
    finally:
        session.close()


@settings(max_examples=150)
@given(st.lists(PARTS, max_size=30), st.data())
def test_random_text_gets_answers(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    offset = data.draw(st.integers(0, len(text)))
    session = Session(Settings())
    try:
        document = session.documents.open("file:///nowhere/main.yaml", text, 1)
        ask_all(session, document.uri, text, offset)
        session.checker.check(document)
    finally:
        session.close()


@settings(max_examples=300)
@given(st.text())
def test_any_text_has_a_tree(text: str) -> None:
    for node in walk(parse(text)):
        assert 0 <= node.start <= node.end <= len(text)


@settings(max_examples=300)
@given(st.lists(PARTS, max_size=30))
def test_nodes_are_inside_the_text(parts: list[str]) -> None:
    text = "".join(parts)
    for node in walk(parse(text)):
        assert 0 <= node.start <= node.end <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 50_000,
        "- " * 50_000,
        "a: " * 20_000,
        "\n".join(" " * number + "a:" for number in range(2000)),
        "x" * 1_000_000,
        "'" + "x\n" * 20_000,
        "a: |\n" + "  x\n" * 20_000,
        "a: b\n" * 10_000,
    ],
    ids=["brackets", "braces", "dashes", "colons", "levels", "word", "quote", "block", "keys"],
)
def test_extreme_text_gets_answers(text: str) -> None:
    session = Session(Settings())
    try:
        text = f"heat_template_version: 2021-04-16\n{text}"
        document = session.documents.open("file:///nowhere/main.yaml", text, 1)
        ask_all(session, document.uri, text, len(text))
    finally:
        session.close()


def valid_documents() -> list[Path]:
    found = [*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("tests/**/*.yaml")]
    return sorted(path for path in found if path.stat().st_size < 100_000)


def plain(data: Any) -> Any:
    """Return data in which spaces in texts and odd numbers do not count."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [plain(item) for item in data]
    return "".join(str(data).split())


def test_tree_of_valid_text_equals_parsed_data() -> None:
    compared = 0
    for path in valid_documents():
        text = path.read_text()
        try:
            data = read(text).data
        except DiagnosticError:
            continue
        tree = parse(text)
        assert plain(data_of(tree)) == plain(data), path
        compared += 1
        if isinstance(data, dict):
            found = positions(text, None, [(key,) for key in data])
            starts = Text(text).starts
            for entry in getattr(tree, "entries", ()):
                place = found.get((entry.key.value,))
                if place is not None and entry.key.value != "<<":
                    assert starts[place.line - 1] + place.column - 1 == entry.start, path
    assert compared > 100


@settings(max_examples=200)
@given(st.text("a🎉\r\n\u2028", max_size=12), st.data())
def test_changes_are_applied_like_in_an_editor(content: str, data: st.DataObject) -> None:
    text = Text(content)
    for _ in range(3):
        start = data.draw(st.integers(0, len(text.content)))
        end = data.draw(st.integers(start, len(text.content)))
        new = data.draw(st.text("b🎉\n", max_size=3))
        where = text.range(start, end)
        first, last = text.span(where)  # positions between CR and LF are before both
        expected = f"{text.content[:first]}{new}{text.content[last:]}"
        text = text.changed([types.TextDocumentContentChangePartial(where, new)])
        assert text.content == expected


async def test_server_survives_nonsense(tmp_path: Path) -> None:
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", "heat_template_version: 2021-04-16\nresources: {")
        for text in ("\0", "\ud7ff", "a: !!binary x", "- " * 1000, "heat_template_version: []"):
            editor.replace_all(uri, text)
            await editor.completions(uri, len(text))
        missing = types.TextDocumentIdentifier((tmp_path / "missing.yaml").as_uri())
        place = types.HoverParams(missing, types.Position(5, 5))
        assert await editor.client.text_document_hover_async(place) is None
        editor.replace_all(uri, "heat_template_version: 2021-04-16\nwrong: 1\n")
        await asyncio.wait_for(editor.findings_with(uri, "wrong"), 60)
