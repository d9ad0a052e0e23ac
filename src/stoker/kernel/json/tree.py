"""Trees of plain data, as in JSON: maps, lists and scalar values.

Users write such data and functions multiply it, so each walk is a loop without recursion, and stops
at a limit. The loops check for ``dict`` and ``list``, because a check for ``Mapping`` takes ten
times as long.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import Any

_ANY = sys.maxsize
_BYTES_OF_VALUE = 5
_LONG_TEXT = 65_536
_LEAVES = frozenset((type(None), bool, int, float))


class TooLargeError(Exception):
    """A tree has more values than the limit of the walk."""


def levels(tree: Any, most: int = _ANY, *, keys: bool = False) -> Iterator[list[Any]]:
    """Yield the values of a tree, level by level, with the keys of maps if wanted.

    A value in several places counts in each. Raises :class:`TooLargeError` beyond ``most`` values.
    """
    level = [tree]
    while level:
        most -= len(level)
        if most < 0:
            raise TooLargeError
        yield level
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                members: Collection[Any] = item.values()
            elif isinstance(item, (list, tuple)):  # a check for a union takes twice as long
                members = item
            else:
                continue
            if len(below) + len(members) > most:
                raise TooLargeError
            below.extend(members)
            if keys and isinstance(item, dict):
                below.extend(item)
        level = below


def is_deeper(tree: Any, most: int) -> bool:
    """Return whether lists and maps are nested in each other more than ``most`` times."""
    for depth, level in enumerate(levels(tree)):
        if depth >= most and any(isinstance(item, dict | list) for item in level):
            return True
    return False


def weigh(
    tree: Any, values: int = _ANY, octets: int = _ANY, *, keys: bool = False
) -> tuple[int, int, int]:
    """Return the number of values in a tree, of lists and maps among them, and of octets of texts.

    Keys of maps count if wanted. The octets are those in memory. The walk stops when there are more
    values or octets than the limits; the result then exceeds them.
    """
    if type(tree) is str:  # most values are texts, and a walk would take four times as long
        return 1, 0, len(tree) if tree.isascii() else 4 * len(tree)
    counted, containers, weight = 1, 0, 0
    pending: list[Iterable[Any]] = [(tree,)]
    while pending:
        for item in pending.pop():
            kind = type(item)
            if kind in _LEAVES:
                continue
            if kind is str or isinstance(item, str):
                weight += len(item) if item.isascii() else 4 * len(item)
                continue
            if kind is dict or isinstance(item, dict):
                counted += len(item)
                pending.append(item.values())
                if keys:
                    counted += len(item)
                    pending.append(item)
            elif isinstance(item, (list, tuple)):
                counted += len(item)
                pending.append(item)
            else:
                continue
            containers += 1
            if counted > values:
                return counted, containers, weight
        if weight > octets:
            return counted, containers, weight
    return counted, containers, weight


def marshalled(tree: Any) -> bytes | None:
    """Return the marshal format of a tree: equal bytes for trees that are :func:`same`, no others.

    None for values that it does not have: subclasses of texts and maps, other classes, and trees
    that are too deep. Version 2 writes a text once for each occurrence.
    """
    try:
        return marshal.dumps(tree, 2)
    except ValueError:
        return None


def estimated_bytes(tree: Any) -> int:
    """Return the estimated bytes of a tree: texts in UTF-8, about five for any other value.

    This is the length of its marshal format, which takes a third of the time of :func:`weigh`, and
    at 8 MB less than 90 ms. Version 2 writes a text once for each occurrence. Long texts that a map
    contains directly are not written: a text of 8 MB would take 17 ms, and its memory again.
    """
    if isinstance(tree, dict):
        for item in tree.values():
            if type(item) is str and len(item) > _LONG_TEXT:
                return _estimated_with_long_texts(tree)
    try:
        return len(marshal.dumps(tree, 2))
    except ValueError:
        counted, _, octets = weigh(tree, keys=True)
        return octets + _BYTES_OF_VALUE * counted


def _estimated_with_long_texts(tree: dict[Any, Any]) -> int:
    is_long = {key: type(item) is str and len(item) > _LONG_TEXT for key, item in tree.items()}
    rest = {key: "" if is_long[key] else item for key, item in tree.items()}
    return estimated_bytes(rest) + sum(_utf8_bytes(tree[key]) for key in tree if is_long[key])


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def exceeds(tree: Any, values: int, octets: int) -> bool:
    """Return whether a tree has more values, or more octets of texts, than the limits."""
    counted, _, weight = weigh(tree, values, octets)
    return counted > values or weight > octets


def replaced(tree: Any, leaf: Callable[[Any], Any], *, keys: bool = False) -> Any:
    """Return the tree with ``leaf`` applied to each scalar, and to each key if wanted."""
    if isinstance(tree, Mapping):
        return {
            leaf(key) if keys else key: replaced(item, leaf, keys=keys)
            for key, item in tree.items()
        }
    if isinstance(tree, list | tuple):
        return [replaced(item, leaf, keys=keys) for item in tree]
    return leaf(tree)


def same(one: Any, other: Any) -> bool:
    """Return whether two trees are equal, with equal types of values and keys in the same order.

    Python treats 1, 1.0 and True as equal, but functions of templates do not.
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return repr(one) == repr(other)
    return bool(one == other)


def same_by_marshal(one: Any, other: Any) -> bool:
    """Return whether two trees are :func:`same`, in a tenth of the time if they have many values.

    Each tree is written in the marshal format, so this needs their memory again.
    """
    if one is other:
        return True
    written = marshalled(one)
    return same(one, other) if written is None else written == marshalled(other)


def frozen(tree: Any) -> Hashable:
    """Return a key of a tree for sets, equal only for equal trees."""
    if isinstance(tree, list):
        return (list, *map(frozen, tree))
    if isinstance(tree, Mapping):
        return (dict, frozenset((key, frozen(item)) for key, item in tree.items()))
    leaf: Hashable = tree
    return leaf
