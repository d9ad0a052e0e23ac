"""Reads and writes JSON of any length in pieces, between which other threads can run.

Python's own parser and writer let no other thread run until they have processed the whole document,
which may take 0.1 s for 1 MiB. Here, they process pieces of a few milliseconds.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from stoker.kernel import time_limit
from stoker.kernel.json.tree import weigh

MOST_VALUES = 1_000_000  # limit on values of a document, as in a template; to free them takes 40 ms
WINDOW = 64 * 1024  # characters read without a pause
PIECE = 5_000  # values written without a pause; a text counts one more per 64 characters
_TEXT = 64
_PLAIN = 50
_SHORT = 1000
_FEW = 4
_TOGETHER = 100  # members of a list or map written without a pause if they are short
_MARGIN = 16  # last characters of a window, which may be half a number or half a word
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
# The safe points for a cut: no escape of several characters is left open.
_RUN = re.compile(
    r"""(?: [^"\\]++ | \\[^u]
        | \\u [dD][89abAB] [0-9a-fA-F]{2} \\u [0-9a-fA-F]{4}
        | \\u (?![dD][89abAB]) [0-9a-fA-F]{4} )*+""",
    re.DOTALL | re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\n\r]*")
_SCALARS = frozenset({int, float, bool, type(None)})
_DEEPEST = 200  # limit on levels of values that are longer than a window


class TooManyValuesError(ValueError):
    """A document has more values than the limit."""


def read(
    text: str,
    constant: Callable[[str], Any],
    most: float = MOST_VALUES,
    repeated: Callable[[str], None] | None = None,
) -> Any:
    """Return the value of a document.

    Raises ValueError, and RecursionError if it is nested too deeply. ``constant`` is called for
    words that JSON does not have, such as NaN; ``repeated`` for keys that a map has twice, at least
    once for each such map. At most ``most`` values are read.
    """
    return _Reader(text, constant, most, repeated).document()


def map_reader(repeated: Callable[[str], None]) -> Callable[[list[tuple[str, Any]]], Any]:
    """Return a function that makes maps of pairs, and calls ``repeated`` for a repeated key."""

    def as_map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            repeated(Counter(key for key, _ in pairs).most_common(1)[0][0])
        return found

    return as_map


class _Reader:
    """Tries to read each value within a window; a longer one is opened and read in parts."""

    def __init__(
        self,
        text: str,
        constant: Callable[[str], Any],
        most: float,
        repeated: Callable[[str], None] | None,
    ) -> None:
        self._text = text
        self._repeated = repeated
        as_map = None if repeated is None else map_reader(repeated)
        self._whole = json.JSONDecoder(parse_constant=constant, object_pairs_hook=as_map)
        self._most = most
        self._begin = 0
        self._window = text[:WINDOW]
        self._values = 0
        self._counted = 0

    def document(self) -> Any:
        value, end = self._value(self._space(0), 0)
        end = self._space(end)
        if end != len(self._text):
            raise self._error("Extra data", end)
        self._count(end)
        return value

    def _value(self, at: int, depth: int) -> tuple[Any, int]:
        found = self._short(at)
        if found is None and at != self._begin:
            self._count(at)
            self._begin, self._window = at, self._text[at : at + WINDOW]
            found = self._short(at)
        if found is not None:
            return found
        if depth > _DEEPEST:
            raise RecursionError
        match self._text[at : at + 1]:
            case "[":
                return self._list(at, depth)
            case "{":
                return self._map(at, depth)
            case '"':
                return self._long_text(at)
            case _:  # no JSON: this raises the error with its message
                return self._whole.raw_decode(self._text, at)

    def _long_text(self, at: int) -> tuple[str, int]:
        self._count(at)
        parts: list[str] = []
        end = at + 1
        while not self._text.startswith('"', end):
            time_limit.check()
            run = _RUN.match(self._text[end : end + WINDOW])
            try:
                parts.append(self._whole.decode(f'"{run[0]}"') if run else "")
            except ValueError:
                run = None
            if not run or not run[0]:  # half a character, or an error
                text, end = self._whole.raw_decode(self._text, at)
                self._counted = end
                return text, end
            end += run.end()
        self._counted = end + 1
        return "".join(parts), end + 1

    def _short(self, at: int) -> tuple[Any, int] | None:
        """Return a value that ends well within the window, and its end; None if there is none."""
        rest = self._begin + len(self._window) >= len(self._text)
        try:
            value, end = self._whole.raw_decode(self._window, at - self._begin)
        except ValueError:
            return None
        if end > len(self._window) - _MARGIN and not rest:
            return None
        return value, self._begin + end

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        end = self._space(at + 1)
        if self._text.startswith("]", end):
            return found, end + 1
        while True:
            value, end = self._value(end, depth + 1)
            found.append(value)
            end, over = self._next(end, "]")
            if over:
                return found, end

    def _map(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        end = self._space(at + 1)
        if self._text.startswith("}", end):
            return found, end + 1
        while True:
            if not self._text.startswith('"', end):
                raise self._error("Expecting property name enclosed in double quotes", end)
            key, end = self._value(end, depth + 1)
            end = self._space(end)
            if not self._text.startswith(":", end):
                raise self._error("Expecting ':' delimiter", end)
            if key in found and self._repeated is not None:
                self._repeated(key)
            found[key], end = self._value(self._space(end + 1), depth + 1)
            end, over = self._next(end, "}")
            if over:
                return found, end

    def _next(self, at: int, closing: str) -> tuple[int, bool]:
        """Return the position of the next member, or the end and True."""
        end = self._space(at)
        if self._text.startswith(closing, end):
            return end + 1, True
        if not self._text.startswith(",", end):
            raise self._error("Expecting ',' delimiter", end)
        return self._space(end + 1), False

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _count(self, end: int) -> None:
        """Count the values up to here, by the separators between them."""
        time_limit.check()
        marks = _STRINGS.sub("", self._text[self._counted : end])
        self._values += marks.count(",") + marks.count("[") + marks.count("{")
        self._counted = end
        if self._values > self._most:
            raise TooManyValuesError(f"it has more than {self._most} values")

    def _error(self, text: str, at: int) -> json.JSONDecodeError:
        return json.JSONDecodeError(text, self._text, at)


def is_short(value: Any, most: int = PIECE) -> bool:
    """Return whether a value can be written within a few milliseconds, in about that time."""
    return _is_plain(value) or _size(value, most) <= most


def _is_plain(value: Any, most: int = _PLAIN) -> bool:
    """Return whether a value is small: a map or tuple of few short texts, numbers and such maps.

    Most values that are written have this form.
    """
    members = value.values() if type(value) is dict else value if type(value) is tuple else None
    if members is None or len(members) > most:
        return False
    for item in members:
        kind = type(item)
        if kind is str:
            if len(item) >= _SHORT:
                return False
        elif kind is list:
            if most == _FEW or len(item) > _FEW or not all(_is_plain(each, _FEW) for each in item):
                return False
        elif kind not in _SCALARS:
            return False
    return True


def pieces(value: Any, write: Callable[[Any], str], most: int = PIECE) -> Iterator[str]:
    """Yield the JSON text of a value in pieces; ``write`` converts the short parts."""
    time_limit.check()
    if is_short(value, most):
        yield write(value)
    elif isinstance(value, str):
        step = most * _TEXT
        yield '"'
        for begin in range(0, len(value), step):
            yield write(value[begin : begin + step])[1:-1]
        yield '"'
    elif isinstance(value, Mapping):
        yield from _joined("{}", iter(value.items()), dict, write, most)
    elif isinstance(value, list | tuple):
        yield from _joined("[]", iter(value), list, write, most)
    else:
        yield write(value)


def list_pieces(rows: Iterator[Any], write: Callable[[Any], str]) -> Iterator[str]:
    """Yield the JSON text of a list whose members are computed one by one."""
    return _joined("[]", rows, list, write, PIECE)


def _joined(
    brackets: str,
    members: Iterator[Any],
    together: Callable[[list[Any]], Any],
    write: Callable[[Any], str],
    most: int,
) -> Iterator[str]:
    """Yield the members: short ones are joined into one text, long ones are separate."""
    between = brackets[0]
    while some := list(islice(members, _TOGETHER)):
        time_limit.check()
        for run, are_short in _runs(some, most):
            if are_short:
                yield between + write(together(run))[1:-1]
                between = ","
                continue
            [member] = run
            yield between
            between = ","
            if brackets == "{}":
                yield write({member[0]: None})[1:-1].removesuffix("null")
                member = member[1]
            yield from pieces(member, write, most)
    yield brackets[1] if between == "," else brackets


def _runs(members: list[Any], most: int) -> Iterator[tuple[list[Any], bool]]:
    """Yield the members in runs that are short, and each long member in a run of its own."""
    if is_short(members, most):
        yield members, True
        return
    run: list[Any] = []
    size = 0
    for member in members:
        added = _size(member, most)
        if run and size + added > most:
            yield run, True
            run, size = [], 0
        if added > most:
            yield [member], False
        else:
            run.append(member)
            size += added
    if run:
        yield run, True


def _size(value: Any, most: int) -> int:
    """Return the number of values, as :data:`PIECE` counts them, or more than ``most``."""
    values, _, octets = weigh(value, most, most * _TEXT, keys=True)
    return values + octets // _TEXT
