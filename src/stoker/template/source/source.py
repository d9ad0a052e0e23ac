"""A document as data, with positions in its text for paths in the data.

Reading takes one pass. Positions are only looked up for diagnostics, by another scan of the text,
so that correct documents have no extra cost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath
from typing import Any
from urllib.parse import urljoin, urlsplit

from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Path, Position
from stoker.kernel.json import long
from stoker.kernel.json.tree import TooLargeError, levels
from stoker.kernel.values import replace
from stoker.template.source.block_style import UNSURE, read_block_style
from stoker.template.source.positions import positions
from stoker.template.source.yaml_data import (
    MAX_DEPTH,
    MAX_NODES,
    TOO_DEEP,
    TOO_MANY,
    duplicate_key,
    read_yaml,
    refuse,
    text_key,
)

MAX_BYTES = 16 * 1024 * 1024
_LONG = 512 * 1024  # characters of JSON that take 12 ms to read without a pause
_MAX_MARKS = 2 * MAX_NODES + 1  # commas and opening brackets of that many values in JSON


@dataclass(frozen=True)
class Source:
    """A document as data, with its original text."""

    data: Any
    text: str | None = None  # None if the document arrived as data, as in the body of a request
    file: str | None = None
    warnings: tuple[Diagnostic, ...] = ()  # odd texts that were read as other parsers read them
    # Position in the text of data that is elsewhere in the document, with everything below it.
    origins: Mapping[Path, Path] = field(default_factory=dict)
    # Looked-up positions: many stacks may nest one template, with the same diagnostics.
    _places: dict[Path, Position | None] = field(default_factory=dict, compare=False, repr=False)

    def located(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return the diagnostic with its file and position."""
        return self.all_located([diagnostic])[0]

    def all_located(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics with their file and position; the text is searched once for all.

        The position is that of the path, or of its nearest ancestor in the text.
        """
        found = list(diagnostics)
        missing = {self._origin(d.path) for d in found if self._is_placed_here(d)}
        missing -= self._places.keys()
        if missing and self.text is not None:
            places = positions(self.text, self.file, missing)
            self._places.update({path: places.get(path) for path in missing})
        return [self._placed(d) if self._is_placed_here(d) else d for d in found]

    def _placed(self, diagnostic: Diagnostic) -> Diagnostic:
        place = self._places.get(self._origin(diagnostic.path))
        return replace(diagnostic, file=self.file, position=place)

    def _origin(self, path: Path) -> Path:
        for length in range(len(path), 0, -1) if self.origins else ():
            if path[:length] in self.origins:
                return (*self.origins[path[:length]], *path[length:])
        return path

    def _is_placed_here(self, diagnostic: Diagnostic) -> bool:
        return diagnostic.position is None and diagnostic.file in (None, self.file)


def read(text: str, file: str | None = None, max_bytes: int = MAX_BYTES) -> Source:
    """Return the document in a YAML or JSON text. Raises :class:`DiagnosticError`."""
    size = len(text) if len(text) > max_bytes else len(text.encode("utf-8", "replace"))
    if size > max_bytes:
        refuse("too-large", f"the document has {size} bytes; at most {max_bytes} are accepted")
    if text.lstrip()[:1] in ("{", "["):
        try:
            data, repeated = _read_json(text)
            return Source(data, text, file, _placed(repeated, text, file))
        except long.TooManyValuesError:
            refuse("too-many-nodes", TOO_MANY)
        except (ValueError, RecursionError):
            pass  # YAML in flow style starts with the same character
    data = read_block_style(text)
    if data is not UNSURE:
        return Source(data, text, file)
    data, warnings = read_yaml(text, file)
    return Source(data, text, file, warnings)


def accept(data: Any, file: str | None = None) -> Source:
    """Return a document that was sent as data.

    Raises :class:`DiagnosticError` if it is too large.
    """
    return Source(_with_text_keys(data) if _check(data) else data, None, file)


def _check(data: Any) -> bool:
    """Return whether some key is not text. Raises for data that is too deep or too large."""
    odd = False
    try:
        for depth, level in enumerate(levels(data, MAX_NODES)):
            if depth > MAX_DEPTH:
                refuse("too-deep", TOO_DEEP)
            for item in level:
                kind = type(item)
                if kind is str and not item.isascii():
                    _check_text(item)
                elif kind is dict:
                    for key in item:
                        if type(key) is not str:
                            odd = True
                        elif not key.isascii():
                            _check_text(key)
    except TooLargeError:
        refuse("too-many-nodes", TOO_MANY)
    return odd


def _check_text(text: str) -> None:
    """Reject text that cannot be encoded: halves of surrogate pairs, which JSON can contain."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        refuse("bad-character", f"a text has half a character: {error.reason}")


def _with_text_keys(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {text_key(key): _with_text_keys(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_text_keys(item) for item in data]
    return data


def _read_json(text: str) -> tuple[Any, str | None]:
    """Return the data, and a key that a map has twice. Raises ValueError if it is not JSON."""
    repeated: list[str] = []
    if len(text) > _LONG:
        data = long.read(text, float, _MAX_MARKS, repeated.append)
    else:
        data = json.loads(text, object_pairs_hook=long.map_reader(repeated.append))
    _check(data)
    return data, repeated[0] if repeated else None


def _placed(repeated: str | None, text: str, file: str | None) -> tuple[Diagnostic, ...]:
    """Return warnings about repeated keys.

    JSON's parser has no line numbers. YAML's has, and reads most JSON.
    """
    if repeated is None:
        return ()
    try:
        return read_yaml(text, file)[1]
    except DiagnosticError:
        return (duplicate_key(repeated),)


def find_file(name: str, files: Mapping[str, str], url: str | None) -> str | None:
    """Return the full name of a file: relative to the file ``url``, or the name itself."""
    if url is not None and not urlsplit(name).scheme:
        beside = urljoin(url, name) if urlsplit(url).scheme else normpath(join(url, "..", name))
        if beside in files:
            return beside
    return name if name in files else None
