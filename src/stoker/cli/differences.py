"""Shows two versions of a value as the lines that differ.

Numbers and short texts are one line, ``name: old -> new``. Maps are compared key by key, lists item
by item, and texts of several lines line by line. Removed parts are marked with ``-``, added ones
with ``+``. The service masks secrets in both versions before they arrive here. Plans and drift
reports use this module.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

import click

from stoker.kernel.logs.masking import MASK

_MOST_LINES = 20
_WIDEST = 50  # characters of a value beside another one
_WIDEST_LINE = 140  # characters of an item or line below the name
_BEFORE = 12  # of these, characters before the first difference
_ONLY_SECRETS = "changes only in secrets, which are masked"

Words = Callable[[str, str], str]  # Joins the texts of both versions.


def changed_to(old: str, new: str) -> str:
    """Describe a planned change."""
    return f"{old} -> {new}"


def instead_of(old: str, new: str) -> str:
    """Describe a live value that differs from the applied one."""
    return f"{new} instead of {old}"


def difference(name: str, old: Any, new: Any, words: Words = changed_to) -> list[str]:
    """Return the lines in which two versions of the value ``name`` differ."""
    lines = list(_lines(name, old, new, words))
    if len(lines) <= _MOST_LINES:
        return lines
    left = len(lines) - _MOST_LINES + 1
    return [*lines[: _MOST_LINES - 1], f"  ... and {left} more lines"]


def short(value: Any) -> str:
    """Return a value in JSON, cut to fit beside another."""
    return _cut(_text(value), 0, _WIDEST)


def _lines(name: str, old: Any, new: Any, words: Words) -> Iterator[str]:
    if old == new:
        secret = MASK in _text(old)
        yield f"{name}: {_ONLY_SECRETS if secret else f'{short(old)} is set again'}"
        return
    shown_old, shown_new = _without_none(old), _without_none(new)
    if shown_old == shown_new:  # Keys without a value are the only difference.
        yield f"{name}: {words(*_beside(_text(old), _text(new)))}"
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _of_maps(name, shown_old, shown_new, words)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(name, shown_old, shown_new, words)
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old.strip() + new.strip():
        yield f"{name}:"
        yield from _of_texts(old.splitlines(), new.splitlines())
    else:
        yield f"{name}: {words(*_beside(_text(shown_old), _text(shown_new)))}"


def _of_maps(
    name: str, old: Mapping[str, Any], new: Mapping[str, Any], words: Words
) -> Iterator[str]:
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key):
            yield from _lines(f"{name}.{key}", old.get(key), new.get(key), words)


def _of_lists(name: str, old: list[Any], new: list[Any], words: Words) -> Iterator[str]:
    added = list(new)
    removed = []
    for item in old:
        if item in added:
            added.remove(item)
        else:
            removed.append(item)
    if not removed and not added:
        yield f"{name}: {words('items', 'the same items in another order')}"
        return
    is_short = len(_text(old)) <= _WIDEST >= len(_text(new))
    if is_short:
        yield f"{name}: {words(_text(old), _text(new))}"
        return
    yield f"{name}:"
    yield from (_marked("-", _item(item)) for item in removed)
    yield from (_marked("+", _item(item)) for item in added)


def _of_texts(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        removed, added = old[start:end], new[new_start:new_end]
        if len(removed) == len(added):
            pairs = [_beside(*pair, _WIDEST_LINE) for pair in zip(removed, added, strict=True)]
            removed, added = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        yield from (_marked("-", line) for line in removed)
        yield from (_marked("+", line) for line in added)


def _marked(sign: str, text: str) -> str:
    line = f"  {sign} {_cut(text, 0, _WIDEST_LINE + len('...') * 2)}"
    return click.style(line, fg="green" if sign == "+" else "red")


def _item(item: Any) -> str:
    """Return an item of a list on one line; maps without braces."""
    if isinstance(item, Mapping) and item:
        return ", ".join(
            f"{key}: {value if isinstance(value, str) else _text(value)}"
            for key, value in item.items()
        )
    return _text(item)


def _text(value: Any) -> str:
    return "(none)" if value is None else json.dumps(value, ensure_ascii=False)


def _without_none(value: Any) -> Any:
    """Return the value without keys that have no value."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def _beside(old: str, new: str, widest: int = _WIDEST) -> tuple[str, str]:
    """Return both texts, cut around their first difference if they are long."""
    pairs = zip(old, new, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = max(same - _BEFORE, 0) if max(len(old), len(new)) > widest else 0
    return _cut(old, start, widest), _cut(new, start, widest)


def _cut(text: str, start: int, widest: int) -> str:
    begin = "..." if start else ""
    end = "..." if len(text) - start > widest else ""
    return f"{begin}{text[start : start + widest]}{end}"
