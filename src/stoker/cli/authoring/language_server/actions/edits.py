"""Edits that keep the style of a document: block, flow or JSON."""

from __future__ import annotations

import json
from typing import Any

import yaml
from lsprotocol import types

from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import Entry, Mapping, Node

_WIDTH = 1_000_000


class _Dumper(yaml.SafeDumper):
    """Writes text with line breaks as a block."""

    def increase_indent(self, flow: bool = False, *_: bool, **__: bool) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def is_json(document: Document) -> bool:
    """Return whether a document is written in JSON."""
    return document.text.content.lstrip()[:1] in ("{", "[")


def in_flow(data: Any) -> str:
    """Return data on one line of YAML."""
    text = yaml.safe_dump(
        data, default_flow_style=True, sort_keys=False, width=_WIDTH, allow_unicode=True
    )
    return str(text).removesuffix("\n...\n").strip()


def in_block(data: Any, margin: int = 0) -> str:
    """Return data on lines of YAML, the first without a margin."""
    text = yaml.dump(
        data, Dumper=_Dumper, default_flow_style=False, sort_keys=False, width=_WIDTH,
        allow_unicode=True,
    )  # fmt: skip
    text = str(text).removesuffix("\n...\n").rstrip("\n")
    return text.replace("\n", f"\n{' ' * margin}")


def written(data: Any, document: Document, margin: int, *, is_flow: bool) -> str:
    """Return data in the style of a place."""
    if is_json(document):
        return json.dumps(data, ensure_ascii=False)
    return in_flow(data) if is_flow else in_block(data, margin)


def added(document: Document, around: Mapping, entries: dict[str, Any]) -> types.TextEdit:
    """Return the edit that adds entries to a map."""
    if around.is_flow:
        text = written(entries, document, 0, is_flow=True)[1:-1]
        closed = document.text.content[around.end - 1 : around.end] == "}"
        place = around.end - 1 if closed else around.end
        if around.entries:
            last = around.entries[-1]
            place, text = max(last.end, last.key.end), f", {text}"
        return _inserted(document, place, text)
    place = document.text.end_of_line(document.text.line_of(max(around.end - 1, around.start)))
    margin = " " * around.indent
    text = in_block(entries, around.indent)
    return _inserted(document, place, f"{document.text.newline}{margin}{text}")


def added_section(
    document: Document, root: Mapping, section: str, entries: dict[str, Any], before: str
) -> types.TextEdit:
    """Return the edit that adds entries to a section, which it adds if there is none."""
    content = root.value(section)
    if isinstance(content, Mapping):
        return added(document, content, entries)
    data = {section: entries}
    entry = root.entry(before)
    if root.is_flow or entry is None:
        return added(document, root, data)
    return _inserted(document, entry.start, f"{in_block(data)}\n\n")


def removed(document: Document, around: Mapping, entry: Entry) -> types.TextEdit:
    """Return the edit that removes an entry with its lines."""
    text = document.text
    start, end = entry.start, max(entry.end, entry.key.end)
    if around.is_flow:
        following = next((each for each in around.entries if each.start > start), None)
        before = [each for each in around.entries if each.start < start]
        if following is not None:
            end = following.start
        elif before:
            start = max(before[-1].end, before[-1].key.end)
        return types.TextEdit(text.range(start, end), "")
    first, last = text.line_of(start), text.line_of(max(end - 1, start))
    if text.line(first)[: start - text.starts[first]].strip():  # the first key of a list entry
        return types.TextEdit(text.range(start, text.end_of_line(last)), "")
    end = text.starts[last + 1] if last + 1 < len(text.starts) else len(text.content)
    return types.TextEdit(text.range(text.starts[first], end), "")


def replaced(document: Document, node: Node, text: str) -> types.TextEdit:
    """Return the edit that replaces a node."""
    return types.TextEdit(document.text.range(node.start, node.end), text)


def _inserted(document: Document, offset: int, text: str) -> types.TextEdit:
    text = text.replace("\n", document.text.newline) if "\r" not in text else text
    return types.TextEdit(document.text.range(offset, offset), text)
