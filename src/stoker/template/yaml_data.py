"""YAML text to plain data, event by event, within limits.

Texts may come from anyone. The parser reports events without recursion, so that depth is counted
before it can hurt; what aliases share is built once, but counts each time that it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, Position
from stoker.template.short_tags import short_tag

MAX_DEPTH = 100
MAX_NODES = 1_000_000

_TAG = "tag:yaml.org,2002:"
_STRINGS = frozenset({"!", _TAG + "str", _TAG + "timestamp", _TAG + "value", _TAG + "merge"})
_BOOLEANS = {
    **dict.fromkeys(("yes", "true", "on"), True),
    **dict.fromkeys(("no", "false", "off"), False),
}
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_ABSENT = object()
_MERGE = object()


def refuse(
    code: str,
    message: str,
    path: Path = (),
    position: Position | None = None,
    suggestion: str | None = None,
) -> NoReturn:
    """Raise :class:`DiagnosticError` for a document that cannot be read at all."""
    found = Diagnostic(
        code,
        message,
        path,
        error_type="HTTPBadRequest",
        position=position,
        suggestion=suggestion,
    )
    raise DiagnosticError([found])


def text_key(key: Any) -> str:
    """A key of a map as text, as JSON spells it."""
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def read_yaml(text: str, file: str | None) -> Any:
    """The data in a YAML text of one document. Raises :class:`DiagnosticError`."""
    try:
        return _Builder(text, file).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(file, mark.line + 1, mark.column + 1) if mark else None
        words = " ".join(part for part in (error.context, error.problem) if part)
        message = f"the text is not valid YAML: {words}"
        refuse("bad-syntax", message, position=position, suggestion=_advice(text, mark, words))
    except (yaml.YAMLError, ValueError) as error:
        refuse("bad-syntax", f"the text is not valid YAML: {error}")


def _advice(text: str, mark: yaml.Mark | None, words: str) -> str | None:
    """What to do about the usual mistakes, which YAML's own words do not tell."""
    line = text.splitlines()[mark.line : mark.line + 1] if mark else []
    wrong = line[0][mark.column : mark.column + 1] if mark and line else ""
    if wrong == "\t":
        return "indent with spaces, YAML takes no tabs"
    if wrong in ("@", "`", "%"):
        return f'put text that begins with "{wrong}" into quotes'
    if "mapping values are not allowed" in words:
        return 'put text that has ": " inside into quotes, and check the indentation'
    return None


@dataclass(slots=True)
class _Open:
    """A list or map that is being built, and what it counts so far."""

    value: Any
    start: Any
    key: Any = _ABSENT
    size: int = 1
    depth: int = 0
    merges: list[Any] = field(default_factory=list)


class _Builder:
    """Builds one document."""

    def __init__(self, text: str, file: str | None) -> None:
        self._loader = yaml.CSafeLoader(text)
        self._file = file
        self._open: list[_Open] = []
        self._plain: dict[str, Any] = {}
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._root: Any = None

    def document(self) -> Any:
        """The data of the only document in the stream; None if there is none."""
        next_event = self._loader.get_event
        documents = 0
        while True:
            event = next_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._put(self._anchored(event, self._scalar(event), 1, 0), 1, 0, event)
            elif kind is yaml.MappingStartEvent:
                self._begin({}, event)
            elif kind is yaml.SequenceStartEvent:
                self._begin([], event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._end()
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self._refuse("many-documents", "there must be one document only", event)
            elif kind is yaml.StreamEndEvent:
                return self._root

    def _begin(self, value: Any, event: Any) -> None:
        self._open.append(_Open(value, event))
        if len(self._open) > MAX_DEPTH:
            self._too_deep(event)

    def _end(self) -> None:
        done = self._open.pop()
        value = done.value
        for source in done.merges:
            value = {**source, **value}
        value = self._tagged(done.start, value)
        self._anchored(done.start, value, done.size, done.depth + 1)
        self._put(value, done.size, done.depth + 1, done.start)

    def _anchored(self, event: Any, value: Any, size: int, depth: int) -> Any:
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, size, depth)
        return value

    def _alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            message = f'"{event.anchor}" names nothing that is complete before this place'
            self._refuse("bad-alias", message, event)
        value, size, depth = known
        if len(self._open) + depth > MAX_DEPTH:
            self._too_deep(event)
        self._put(value, size, depth, event)

    def _put(self, value: Any, size: int, depth: int, event: Any) -> None:
        """Put a complete value where it belongs."""
        if not self._open:
            self._root = value
            return
        top = self._open[-1]
        top.size += size
        if top.size > MAX_NODES:
            message = f"the document has more than {MAX_NODES} values"
            self._refuse("too-many-nodes", message, event)
        if depth > top.depth:
            top.depth = depth
        if type(top.value) is list:
            top.value.append(value)
        elif top.key is _ABSENT:
            top.key = self._key(top.value, value, event)
        elif top.key is _MERGE:
            top.merges.extend(self._merge_sources(value, event))
            top.key = _ABSENT
        else:
            top.value[top.key] = value
            top.key = _ABSENT

    def _key(self, known: dict[str, Any], value: Any, event: Any) -> Any:
        if isinstance(value, list | dict):
            self._refuse("bad-key", "a key must be a plain value", event)
        if value == "<<" and type(event) is yaml.ScalarEvent and event.implicit[0]:
            return _MERGE
        key = text_key(value)
        if key in known:
            self._refuse("duplicate-key", f'the key "{key}" is given twice in one map', event)
        return key

    def _merge_sources(self, value: Any, event: Any) -> list[Any]:
        sources = value if isinstance(value, list) else [value]
        for source in sources:
            if not isinstance(source, dict):
                message = 'the merge key "<<" takes a map or a list of maps'
                self._refuse("bad-merge", message, event)
        return sources

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if event.tag is not None:
            return self._converted(event.tag, text, event)
        if not event.implicit[0]:
            return text
        value = self._plain.get(text, _ABSENT)
        if value is _ABSENT:
            value = self._converted(_implicit_tag(text), text, event)
            self._plain[text] = value
        return value

    def _converted(self, tag: str, text: str, event: Any) -> Any:
        if tag in _STRINGS:
            return text
        if tag == _TAG + "null":
            return None
        if tag == _TAG + "bool" and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        node = yaml.ScalarNode(tag, text)
        try:
            if tag == _TAG + "int":
                return self._loader.construct_yaml_int(node)
            if tag == _TAG + "float":
                return self._loader.construct_yaml_float(node)
        except (ValueError, IndexError):
            self._refuse("bad-number", f'"{text[:40]}" is not a number', event)
        return self._tagged(event, text)

    def _tagged(self, event: Any, value: Any) -> Any:
        tag = event.tag
        if tag is None or tag in ("!", _TAG + "map", _TAG + "seq"):
            return value
        if tag == _TAG + "set" and isinstance(value, dict):
            return list(value)
        function = short_tag(tag, value)
        if function is None:
            self._refuse("unknown-tag", f'the tag "{tag}" is not known', event)
        return function

    def _too_deep(self, event: Any) -> NoReturn:
        self._refuse("too-deep", f"the document is nested deeper than {MAX_DEPTH} levels", event)

    def _refuse(self, code: str, message: str, event: Any) -> NoReturn:
        mark = event.start_mark
        refuse(code, message, position=Position(self._file, mark.line + 1, mark.column + 1))


def _implicit_tag(text: str) -> str:
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return _TAG + "str"
