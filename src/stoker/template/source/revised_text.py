"""Reads a new version of a YAML text: entries of a section with the same lines are not read again.

Takes a text and its data, and another text. The section, as the resources of a template, is a map
at the top of the document. Its entries are cut apart by their indentation. The rest of the other
text, without the entries that both texts have, is read line by line.

Invariant: the data is the same that the reader of whole texts returns, without a warning. This is
certain because

- the known text has as many lines that could start an entry as its data has entries, so each of
  them starts one;
- the rest of the known text has the data of the rest, so the section is no quoted text;
- :mod:`stoker.template.source.block_style` reads the rest of the other text, so no value continues
  behind the start of the next entry;
- nothing in the known text refers to another place of it.

Any doubt is left to the reader of whole texts, as faults are.

Called by :mod:`stoker.template.revision`. Tested by tests/language/test_revised_text.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from stoker.kernel.json.tree import same
from stoker.template.source.block_style import read_block_style
from stoker.template.source.source import MAX_BYTES

# A line that ends a section: it is not indented, no comment, and closes no brackets.
_OUTER = re.compile(r"^(?![\]}]+ *$)[^ #\n]", re.MULTILINE)
_FIRST = re.compile(r"^( *)[^ #\n]", re.MULTILINE)
_OTHER_BREAKS = "\x85\u2028\u2029"  # which end a line of YAML, but not of a regular expression
_ANCHOR = re.compile(r"(?:^|[\s\[{,])[&*][\w-]")
_LONGEST = MAX_BYTES // 4  # characters; each may take four bytes
# Share of a text that is read, and characters of a short text. The reader of whole texts is faster
# if more is to be read.
_MOST_READ, _SHORT = 0.5, 1000


class RevisedText(NamedTuple):
    """The data in a text, and the keys of the entries that it shares with the known data."""

    data: dict[str, Any]
    kept: frozenset[str]


class _Section(NamedTuple):
    """The lines of a section."""

    column: int  # of its keys
    start: int  # position of its first entry in the text
    end: int
    entries: list[str]  # the lines of each


def read_revised(
    known: Mapping[str, Any], known_text: str, text: str, key: str
) -> RevisedText | None:
    """Return the data in a text; None if it has to be read as a whole.

    ``known`` is the data of ``known_text``, and ``key`` is that of the section.
    """
    before, now, values = _section(known_text, key), _section(text, key), known.get(key)
    if len(text) > _LONGEST or before is None or now is None or before.column != now.column:
        return None
    if type(values) is not dict or len(values) != len(before.entries):
        return None
    names = dict(zip(before.entries, values, strict=True))
    # The first entries are always read: without them, nothing would show where the entries are.
    kept = names.keys() & set(now.entries) - {before.entries[0], now.entries[0]}
    rest = _without(text, now, kept)
    if len(rest) > max(_SHORT, _MOST_READ * len(text)) or _ANCHOR.search(known_text):
        return None
    kept_names = frozenset(names[entry] for entry in kept)
    remaining = {name: value for name, value in values.items() if name not in kept_names}
    if not same(read_block_style(_without(known_text, before, kept), 1), {**known, key: remaining}):
        return None
    data = read_block_style(rest, 1)
    read = data.get(key) if type(data) is dict else None
    if type(read) is not dict or len(read) + len(kept) != len(now.entries):
        return None
    found, new = dict[str, Any](), iter(read.items())
    for entry in now.entries:
        if entry in kept:
            found[names[entry]] = values[names[entry]]
        else:
            name, value = next(new)
            found[name] = value
    if len(found) != len(now.entries):
        return None  # The parser warns about repeated keys.
    return RevisedText({**data, key: found}, kept_names)


def _without(text: str, section: _Section, kept: Collection[str]) -> str:
    """Return a text without some entries of its section."""
    rest = "".join(entry for entry in section.entries if entry not in kept)
    return text[: section.start] + rest + text[section.end :]


def _section(text: str, key: str) -> _Section | None:
    """Return a section of a text; None if it is not written line by line."""
    heads = list(_head(key).finditer(text))
    if len(heads) != 1 or any(character in text for character in _OTHER_BREAKS):
        return None
    start = heads[0].end()
    outer = _OUTER.search(text, start)
    end = len(text) if outer is None else outer.start()
    first = _FIRST.search(text, start, end)
    if first is None or not first[1]:
        return None
    column = len(first[1])
    starts = [match.start() for match in _entry(column).finditer(text, start, end)]
    if not starts or starts[0] != first.start():
        return None
    ends = [*starts[1:], end]
    entries = [text[begin:stop] for begin, stop in zip(starts, ends, strict=True)]
    return _Section(column, starts[0], end, entries)


@lru_cache
def _head(key: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(key)}: *(?:#[^\n]*)?\n", re.MULTILINE)


@lru_cache
def _entry(column: int) -> re.Pattern[str]:
    """Return a pattern for the first line of an entry: a key at this column.

    A key may start with a hyphen, which a space follows in the entry of a list.
    """
    return re.compile(rf"^ {{{column}}}(?:[^ #\]}}\n-]|-[^ \t\r\n])", re.MULTILINE)
