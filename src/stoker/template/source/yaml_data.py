"""Parses YAML text to plain data, event by event, within limits.

The texts are untrusted. The parser reports events without recursion, so that the depth is checked
before recursion could overflow. A value shared by aliases is built once, but counts for each use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import yaml

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Position, Severity, refusal
from stoker.kernel.errors import BAD_REQUEST
from stoker.template.source.mistakes import forbidden_character, foreign_tag, mistake_in
from stoker.template.source.tags import TAGS, advice_on_tag, plain_value, short_tag

MAX_DEPTH = 100
TOO_DEEP = f"the document is nested deeper than {MAX_DEPTH} levels"
MAX_NODES = 1_000_000
TOO_MANY = f"the document has more than {MAX_NODES} values"
MAX_REPEATED = 100_000  # values repeated through aliases, each counted as often as it is used
LONG_TEXT = 64  # characters of a text that count as one value more when an alias repeats it
MAX_WARNINGS = 100
MAX_DIGITS = 3000  # digits of a number; Python prints none with more than 4,300

# Characters that resemble a space before a key, behind it, or behind a dash.
_ODD_SPACE = re.compile(r"^(?:-|[^\s:]+:)?([\u00a0\u2000-\u200b\u202f\u3000\ufeff])")

_TAG = "tag:yaml.org,2002:"
STRINGS = frozenset({"!", _TAG + "str", _TAG + "timestamp", _TAG + "value", _TAG + "merge"})
NULL = _TAG + "null"
BOOLEANS = {
    **dict.fromkeys(("yes", "true", "on"), True),
    **dict.fromkeys(("no", "false", "off"), False),
}
_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_NUMBERS = frozenset({_TAG + "int", _TAG + "float"})
_LONGEST_WORD = 40
_ABSENT = object()
_ENTRY = object()
_MERGE = object()


def refuse(
    code: str,
    message: str,
    position: Position | None = None,
    suggestion: str | None = None,
) -> NoReturn:
    """Raise :class:`DiagnosticError` for a document that cannot be read at all."""
    raise refusal(code, message, (), BAD_REQUEST, position=position, suggestion=suggestion)


def text_key(key: Any) -> str:
    """Return a key of a map as text, in the spelling of JSON."""
    if isinstance(key, str):
        return key
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def unquoted_key(key: str) -> str:
    """Return the key that this text is without quotes."""
    if len(key) > _LONGEST_WORD or implicit_tag(key) in STRINGS:
        return key
    try:
        return text_key(read_yaml(key, None)[0])
    except DiagnosticError:
        return key


def duplicate_key(key: str, position: Position | None = None) -> Diagnostic:
    """Return a warning about a repeated key. As in YAML and JSON parsers, the last one counts."""
    message = f'the key "{key}" is given twice in one map: the last value counts'
    return Diagnostic("duplicate-key", message, severity=Severity.WARNING, position=position)


def read_yaml(text: str, file: str | None) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Return the data in a YAML text of one document, and warnings.

    Raises :class:`DiagnosticError`.
    """
    try:
        builder = _Builder(text, file)
        return builder.document(), tuple(builder.warnings)
    except yaml.MarkedYAMLError as error:
        found = mistake_in(text, error)
        position = Position(file, found.line + 1, found.column + 1)
        if "exceeded maximum nesting depth" in found.message:
            # libyaml, since 0.2.6, reads ahead and stops on its own at a thousand levels.
            refuse("too-deep", TOO_DEEP, position=position)
        message = f"the text is not valid YAML: {found.message}"
        refuse("bad-syntax", message, position=position, suggestion=found.remedy)
    except (yaml.YAMLError, ValueError) as error:
        character = forbidden_character(text)
        if character is None:
            refuse("bad-syntax", f"the text is not valid YAML: {error}")
        position = Position(file, character.line + 1, character.column + 1)
        message = f"the text is not valid YAML: {character.message}"
        refuse("bad-syntax", message, position=position, suggestion=character.remedy)


class Documents(NamedTuple):
    """The data in each document of a text, and the number of their values."""

    data: list[Any]
    values: int


def read_documents(text: str, depth: int) -> Documents | None:
    """Return the documents in a YAML text.

    The result is None if there is a fault, a warning, an anchor, or a value deeper than ``depth``.
    """
    try:
        builder = _Builder(text, None, MAX_NODES)
        builder.document()
    except (yaml.YAMLError, ValueError, DiagnosticError):
        return None
    return builder.documents(depth)


@dataclass(slots=True)
class _Open:
    """A list or map that is being built."""

    value: Any
    start: Any
    before: int  # number of values before its own first one
    key: Any  # of a map: the key whose value is next
    depth: int = 1
    merges: list[Any] = field(default_factory=list)


class _Builder:
    """Builds one document."""

    def __init__(self, text: str, file: str | None, most: int = 1) -> None:
        self._loader = yaml.CSafeLoader(text)
        self._text = text
        self._file = file
        self._top = _Open([], None, 0, _ENTRY)
        self._open: list[_Open] = []
        self._plain: dict[str, Any] = {}
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        self._values = 0
        self._repeated = 0
        self._documents = 0
        self._most = most  # documents
        self.warnings: list[Diagnostic] = []

    def document(self) -> Any:
        """Return the data of the only document in the stream; None if there is none."""
        next_event = self._loader.get_event
        scalar = yaml.ScalarEvent
        plain = self._plain
        while True:
            event = next_event()
            if type(event) is not scalar:
                if self._structure(event):
                    return self._top.value[0] if self._top.value else None
                continue
            item = event.value
            if event.tag is not None or event.anchor is not None:
                item = self._marked(event)
            elif event.implicit[0]:
                item = plain.get(item, _ABSENT)
                if item is _ABSENT:
                    item = plain[event.value] = self._implicit(event)
            self._values += 1
            top = self._top
            key = top.key
            if key is _ENTRY:
                top.value.append(item)
            elif key is _ABSENT or key is _MERGE:
                self._put(item, event)
            else:
                top.value[key] = item
                top.key = _ABSENT

    def documents(self, depth: int) -> Documents | None:
        """Return all documents, or None if there is a warning, an anchor or too much depth."""
        if self.warnings or self._anchors or self._top.depth > depth:
            return None
        return Documents(self._top.value, self._values)

    def _structure(self, event: Any) -> bool:
        """Process an event other than a scalar. Return whether the stream has ended."""
        kind = type(event)
        if kind is yaml.MappingStartEvent:
            self._begin({}, event, _ABSENT)
        elif kind is yaml.SequenceStartEvent:
            self._begin([], event, _ENTRY)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents > self._most:
                self._refuse("many-documents", "there must be one document only", event)
        return kind is yaml.StreamEndEvent

    def _begin(self, value: Any, event: Any, key: Any) -> None:
        self._open.append(self._top)
        self._top = _Open(value, event, self._values, key)
        self._values += 1
        if len(self._open) > MAX_DEPTH:
            self._too_deep(event)
        self._check_count(event)

    def _end(self) -> None:
        done = self._top
        above = self._top = self._open.pop()
        value = done.value
        self._check_count(done.start)
        if done.merges:
            merged: dict[str, Any] = {}
            for source in reversed(done.merges):
                merged.update(source)
            value = {**merged, **value}
        start = done.start
        if start.tag is not None:
            value = self._tagged(start, value)
        if start.anchor is not None:
            self._anchors[start.anchor] = (value, self._values - done.before, done.depth)
        if done.depth >= above.depth:
            above.depth = done.depth + 1
        self._put(value, start)

    def _check_count(self, event: Any) -> None:
        if self._values > MAX_NODES:
            self._refuse("too-many-nodes", TOO_MANY, event)

    def _alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            message = f'"{event.anchor}" names nothing that is complete before this place'
            self._refuse("bad-alias", message, event)
        value, size, depth = known
        if len(self._open) + depth > MAX_DEPTH:
            self._too_deep(event)
        self._top.depth = max(self._top.depth, depth + 1)
        self._values += size
        self._repeated += size
        if self._repeated > MAX_REPEATED:
            message = f"aliases repeat more than {MAX_REPEATED} values; long texts count as several"
            advice = "write what is used so often into a file or a parameter"
            self._refuse("too-many-nodes", message, event, advice)
        self._put(value, event)

    def _put(self, value: Any, event: Any) -> None:
        """Add a complete value to the open list or map."""
        top = self._top
        if top.key is _ENTRY:
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
            self._refuse_key(event)
        if value == "<<" and type(event) is yaml.ScalarEvent and event.implicit[0]:
            return _MERGE
        key = text_key(value)
        if key in known and len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(duplicate_key(key, self._position(event)))
        return key

    def _refuse_key(self, event: Any) -> NoReturn:
        foreign = foreign_tag(self._text.splitlines(), event.start_mark.line)
        if foreign is not None:
            position = Position(self._file, foreign.line + 1, foreign.column + 1)
            refuse("bad-key", foreign.message, position, foreign.remedy)
        if event.tag is not None:
            remedy = (
                f"put the map into braces, as {event.tag} {{...}}, or below on lines of its own"
            )
            self._refuse(
                "bad-key", f'"{event.tag}" stands before a key, not a value', event, remedy
            )
        remedy = 'put text that begins with "{" or "[" into quotes'
        self._refuse("bad-key", "a map or a list cannot be a key", event, remedy)

    def _merge_sources(self, value: Any, event: Any) -> list[Any]:
        sources = value if isinstance(value, list) else [value]
        for source in sources:
            if not isinstance(source, dict):
                message = 'the merge key "<<" takes a map or a list of maps'
                self._refuse("bad-merge", message, event)
        return sources

    def _marked(self, event: Any) -> Any:
        """Return the value of a scalar with a tag or an anchor."""
        text = event.value
        if event.tag is not None:
            value = self._converted(event.tag, text, event)
        else:
            value = self._implicit(event) if event.implicit[0] else text
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1 + len(text) // LONG_TEXT, 0)
        return value

    def _implicit(self, event: Any) -> Any:
        """Return the value of plain text, which may be a number, a boolean or null."""
        text = event.value
        if not text.isascii() and len(self.warnings) < MAX_WARNINGS:
            odd = _ODD_SPACE.search(text)
            if odd is not None:
                self.warnings.append(_odd_space(odd[1], self._position(event)))
        return self._converted(implicit_tag(text), text, event)

    def _converted(self, tag: str, text: str, event: Any) -> Any:
        if tag in STRINGS:
            return text
        if tag == NULL:
            return None
        if tag == _TAG + "bool" and text.lower() in BOOLEANS:
            return BOOLEANS[text.lower()]
        node = yaml.ScalarNode(tag, text)
        if tag in _NUMBERS and len(text) > MAX_DIGITS:
            message = f"a number has at most {MAX_DIGITS} digits; put longer text into quotes"
            self._refuse("bad-number", message, event)
        if tag in _NUMBERS and ":" in text and len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(_base_60(text, self._position(event)))
        try:
            if tag == _TAG + "int":
                return self._loader.construct_yaml_int(node)
            if tag == _TAG + "float":
                return self._loader.construct_yaml_float(node)
        except (ValueError, IndexError, OverflowError):
            self._refuse("bad-number", f'"{text[:40]}" is not a number', event)
        return self._tagged(event, text)

    def _tagged(self, event: Any, value: Any) -> Any:
        tag = event.tag
        if tag is None or tag in ("!", _TAG + "map", _TAG + "seq"):
            return value
        if tag in TAGS:
            try:
                return plain_value(tag, value)
            except ValueError as error:
                self._refuse("bad-tag", str(error), event)
        function = short_tag(tag, value)
        if function is None:
            message = f'the tag "{tag.replace(_TAG, "!!")}" is not known'
            self._refuse("unknown-tag", message, event, advice_on_tag(tag, value))
        return function

    def _too_deep(self, event: Any) -> NoReturn:
        self._refuse("too-deep", TOO_DEEP, event)

    def _refuse(
        self, code: str, message: str, event: Any, suggestion: str | None = None
    ) -> NoReturn:
        refuse(code, message, position=self._position(event), suggestion=suggestion)

    def _position(self, event: Any) -> Position:
        mark = event.start_mark
        return Position(self._file, mark.line + 1, mark.column + 1)


def _base_60(text: str, position: Position) -> Diagnostic:
    return Diagnostic(
        "base-60",
        f"YAML takes {text[:40]} for a number in base 60",
        severity=Severity.WARNING,
        position=position,
        suggestion="put it into quotes if it is text",
    )


def _odd_space(character: str, position: Position) -> Diagnostic:
    message = f"this has U+{ord(character):04X}, which looks like a space and is text to YAML"
    return Diagnostic(
        "odd-space",
        message,
        severity=Severity.WARNING,
        position=position,
        suggestion="write a space, or put the text into quotes",
    )


def implicit_tag(text: str) -> str:
    """Return the tag of plain text by the rules of YAML 1.1."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return _TAG + "str"
