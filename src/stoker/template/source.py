"""Text to plain data, with limits; and from a path in the data back to its line.

Reading costs one pass. Positions are looked up only for findings, by composing the text again,
so that a correct document pays nothing for them. Texts may come from anyone: depth, size and
expansion of aliases are bounded, and a key that is given twice is refused, because only one of
the two values could be meant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import yaml

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, Position
from stoker.template.short_tags import short_tag

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100
MAX_NODES = 1_000_000

_BOOLEANS = {
    **dict.fromkeys(("yes", "true", "on"), True),
    **dict.fromkeys(("no", "false", "off"), False),
}
_TAG = "tag:yaml.org,2002:"


def refuse(code: str, message: str, path: Path = (), position: Position | None = None) -> Any:
    """Raise :class:`DiagnosticError` for a document that cannot be read at all."""
    raise DiagnosticError(
        [Diagnostic(code, message, path, error_type="HTTPBadRequest", position=position)]
    )


@dataclass(frozen=True)
class Source:
    """A document as data, with the text that it came from."""

    data: Any
    text: str | None = None
    """None if the document arrived as data, as in the body of a request."""
    file: str | None = None

    def locate(self, path: Path) -> Position | None:
        """The position of ``path``, or of its nearest ancestor that the text has."""
        node = self._root
        if node is None:
            return None
        mark = node.start_mark
        for part in path:
            found = _child(node, part)
            if found is None:
                break
            mark, node = found
        return Position(self.file, mark.line + 1, mark.column + 1)

    def located(self, diagnostic: Diagnostic) -> Diagnostic:
        """The finding with its file and position."""
        elsewhere = diagnostic.file is not None and diagnostic.file != self.file
        if diagnostic.position is not None or elsewhere:
            return diagnostic
        return replace(
            diagnostic,
            file=self.file,
            position=self.locate(diagnostic.path),
        )

    @cached_property
    def _root(self) -> yaml.Node | None:
        if self.text is None:
            return None
        try:
            return _Loader(self.text).get_single_node()
        except (yaml.YAMLError, DiagnosticError):
            return None


def _child(node: yaml.Node, part: str | int) -> tuple[Any, yaml.Node] | None:
    """The mark of an entry, which is that of its key in a map, and its node."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == str(part):
                return key.start_mark, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child = node.value[part]
        return child.start_mark, child
    return None


def read(text: str, file: str | None = None, max_bytes: int = MAX_BYTES) -> Source:
    """The document in a YAML or JSON text. Raises :class:`DiagnosticError`."""
    size = len(text) if len(text) > max_bytes else len(text.encode("utf-8", "replace"))
    if size > max_bytes:
        refuse("too-large", f"the document has {size} bytes; at most {max_bytes} are accepted")
    if text.lstrip()[:1] in ("{", "["):
        data = _read_json(text, file)
        if data is not None:
            return Source(data, text, file)
    return Source(_read_yaml(text, file), text, file)


def accept(data: Any, file: str | None = None) -> Source:
    """The document that arrived as data. Raises :class:`DiagnosticError` if it is too large."""
    check_size(data)
    return Source(data, None, file)


def check_size(data: Any) -> None:
    """Raise :class:`DiagnosticError` if data is deeper or larger than any document may be."""
    nodes = 0
    level = [data]
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        if nodes > MAX_NODES:
            refuse("too-many-nodes", f"the document has more than {MAX_NODES} values")
        below: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        if not below:
            return
        level = below
    refuse("too-deep", f"the document is nested deeper than {MAX_DEPTH} levels")


def _read_json(text: str, file: str | None) -> Any:
    """The data, or None if the text is not JSON (it may be YAML in flow style)."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [key for key, _ in pairs]
            again = next(name for name in names if names.count(name) > 1)
            refuse("duplicate-key", f'the key "{again}" is given twice in one map')
        return found

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return None
    check_size(data)
    return data


def _read_yaml(text: str, file: str | None) -> Any:
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        return None if node is None else _Builder(loader, file).build(node, 0)[0]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(file, mark.line + 1, mark.column + 1) if mark else None
        text_of = " ".join(part for part in (error.context, error.problem) if part)
        return refuse("bad-syntax", f"the text is not valid YAML: {text_of}", position=position)
    except (yaml.YAMLError, ValueError) as error:
        return refuse("bad-syntax", f"the text is not valid YAML: {error}")


def text_key(key: Any) -> str:
    """A key of a map as text, as JSON spells it."""
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


class _Loader(yaml.CSafeLoader):
    """Composes nodes with a bounded depth: the composer recurses, so its stack must be."""

    _depth = 0

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            refuse("too-deep", f"the document is nested deeper than {MAX_DEPTH} levels")

    def ascend_resolver(self) -> None:
        self._depth -= 1


class _Builder:
    """Turns composed nodes into data. What an alias shares stays shared, but counts each time."""

    def __init__(self, loader: _Loader, file: str | None) -> None:
        self._loader = loader
        self._file = file
        self._done: dict[yaml.Node, tuple[Any, int, int]] = {}
        self._open: set[yaml.Node] = set()

    def build(self, node: yaml.Node, depth: int) -> tuple[Any, int, int]:
        """The value of a node, the number of values in it, and how deep it is."""
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node), 1, 1
        known = self._done.get(node)
        if known is None:
            if node in self._open:
                self._refuse("recursive-alias", "an alias may not lie inside what it names", node)
            self._open.add(node)
            if isinstance(node, yaml.MappingNode):
                known = self._map(node, depth)
            else:
                known = self._list(node, depth)
            self._open.discard(node)
            known = (self._tagged(node, known[0]), known[1], known[2])
            self._done[node] = known
        if known[1] > MAX_NODES:
            self._refuse("too-many-nodes", f"aliases expand to more than {MAX_NODES} values", node)
        if depth + known[2] > MAX_DEPTH:
            self._refuse("too-deep", f"the document is deeper than {MAX_DEPTH} levels", node)
        return known

    def _map(self, node: yaml.MappingNode, depth: int) -> tuple[Any, int, int]:
        result: dict[Any, Any] = {}
        merged: list[yaml.Node] = []
        size, below = 1, 0
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                merged.append(value_node)
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self._refuse("bad-key", "a key must be a plain value", key_node)
            key = text_key(self._scalar(key_node))
            if key in result:
                message = f'the key "{key_node.value}" is given twice in one map'
                self._refuse("duplicate-key", message, key_node)
            result[key], part, deep = self.build(value_node, depth + 1)
            size += part
            below = max(below, deep)
        for value_node in merged:
            for source in self._merge_sources(value_node):
                values, part, deep = self.build(source, depth)
                result = {**values, **result}
                size += part
                below = max(below, deep)
        return result, size, below + 1

    def _merge_sources(self, node: yaml.Node) -> list[yaml.Node]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for source in sources:
            if not isinstance(source, yaml.MappingNode):
                self._refuse("bad-merge", 'the merge key "<<" takes a map or a list of maps', node)
        return list(sources)

    def _list(self, node: yaml.Node, depth: int) -> tuple[Any, int, int]:
        result: list[Any] = []
        size, below = 1, 0
        for child in node.value:
            value, part, deep = self.build(child, depth + 1)
            result.append(value)
            size += part
            below = max(below, deep)
        return result, size, below + 1

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        tag, text = node.tag, node.value
        if tag in _STRINGS:
            return text
        if tag == _TAG + "null":
            return None
        if tag == _TAG + "bool":
            known = _BOOLEANS.get(text.lower())
            return text if known is None else known
        try:
            if tag == _TAG + "int":
                return self._loader.construct_yaml_int(node)
            if tag == _TAG + "float":
                return self._loader.construct_yaml_float(node)
        except ValueError as error:
            self._refuse("bad-number", f'"{text}" is not a number: {error}', node)
        return self._tagged(node, text)

    def _tagged(self, node: yaml.Node, value: Any) -> Any:
        if node.tag in (_TAG + "map", _TAG + "seq"):
            return value
        if node.tag == _TAG + "set" and isinstance(value, dict):
            return list(value)
        function = short_tag(node.tag, value)
        if function is None:
            self._refuse("unknown-tag", f'the tag "{node.tag}" is not known', node)
        return function

    def _refuse(self, code: str, message: str, node: yaml.Node) -> None:
        mark = node.start_mark
        refuse(code, message, position=Position(self._file, mark.line + 1, mark.column + 1))


_STRINGS = frozenset({_TAG + "str", _TAG + "timestamp", _TAG + "value"})
