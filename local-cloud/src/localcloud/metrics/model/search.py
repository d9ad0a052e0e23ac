"""Searches for resources: queries in JSON, and the same as one line of text."""

import operator
import re
from collections.abc import Callable, Container, Mapping
from typing import Any

from localcloud.core.store import Document
from localcloud.metrics.errors import invalid

Matches = Callable[[Document], bool]
_DEEPEST = 20
_MOST_TERMS = 500
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "lt": operator.lt, "<=": operator.le, "le": operator.le,
    ">": operator.gt, "gt": operator.gt, ">=": operator.ge, "ge": operator.ge,
}  # fmt: skip
_EQUAL = ("=", "==", "eq")
_UNEQUAL = ("!=", "ne")
# Prefixes of the fields that are metadata of servers.
_USERS = ("metadata.metering.", "metering.", "user_metadata.")


def search(query: Any, known: Container[str]) -> Matches:
    """Return whether a resource is one that a query in JSON means; raises BadRequestError.

    ``known`` are the names that resources of this type have.
    """
    return _Reader(known).read(query, 0)


class _Reader:
    def __init__(self, known: Container[str]) -> None:
        self._known = known
        self._terms = 0

    def read(self, query: Any, depth: int) -> Matches:
        self._terms += 1
        if depth > _DEEPEST or self._terms > _MOST_TERMS:
            raise invalid(f"a query has at most {_MOST_TERMS} terms, {_DEEPEST} deep")
        if query == {}:
            return lambda _: True
        if not isinstance(query, dict) or len(query) != 1:
            raise invalid("each term of a query is an object with one operator")
        ((word, content),) = query.items()
        if word == "not":
            inner = self.read(content, depth + 1)
            return lambda resource: not inner(resource)
        if word in ("and", "or"):
            if not isinstance(content, list):
                raise invalid(f"'{word}' takes a list")
            parts = [self.read(each, depth + 1) for each in content]
            joined = all if word == "and" else any
            return lambda resource: joined(part(resource) for part in parts)
        if not isinstance(content, dict) or len(content) != 1:
            raise invalid(f"'{str(word)[:50]}' takes an object with one attribute")
        ((name, value),) = content.items()
        return self._term(word, self._attribute(name), value)

    def _attribute(self, name: str) -> Callable[[Document], Any]:
        for prefix in _USERS:
            if name.startswith(prefix):
                key = name.removeprefix(prefix)
                return lambda resource: resource.get("user_metadata", {}).get(key)
        if name not in self._known:
            raise invalid(f"Resource type has no attribute {name[:100]}")
        return lambda resource: resource.get(name)

    def _term(self, word: str, attribute: Callable[[Document], Any], value: Any) -> Matches:
        if word in _EQUAL:
            return lambda resource: _same(attribute(resource), value)
        if word in _UNEQUAL:
            return lambda resource: not _same(attribute(resource), value)
        if word == "in":
            if not isinstance(value, list):
                raise invalid("'in' takes a list of values")
            return lambda resource: any(_same(attribute(resource), each) for each in value)
        if word == "like":
            parts = str(value).split("%")
            return lambda resource: _like(attribute(resource), parts)
        if word not in _ORDERS:
            raise invalid(f"'{str(word)[:50]}' is no operator")
        order = _ORDERS[word]
        return lambda resource: _ordered(order, attribute(resource), value)


def _same(found: Any, value: Any) -> bool:
    return bool(found == value) or (found is not None and str(found) == str(value))


def _ordered(order: Callable[[Any, Any], bool], found: Any, value: Any) -> bool:
    if found is None or value is None:
        return False
    try:
        return order(float(found), float(value))
    except (TypeError, ValueError):
        return order(str(found), str(value))


def _like(found: Any, parts: list[str]) -> bool:
    """Return whether a text has these parts in this order, the first and last at its ends."""
    text = "" if found is None else str(found)
    if len(parts) == 1:
        return text == parts[0]
    if not text.startswith(parts[0]) or not text[len(parts[0]) :].endswith(parts[-1]):
        return False
    place, end = len(parts[0]), len(text) - len(parts[-1])
    for part in parts[1:-1]:
        place = text.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>[()\[\],]|[<>=!]=|[<>=])"
    r"|(?P<word>[\w.:@*%+-]+))"
)


def from_line(line: str) -> Any:
    """Return the query in JSON that a line means, as ``a = 'b' and (c > 3 or not d like 'e%')``.

    Raises BadRequestError.
    """
    tokens, place = list[str](), 0
    line = line.strip()
    while place < len(line):
        found = _TOKEN.match(line, place)
        if found is None or len(tokens) > _MOST_TERMS:
            raise invalid(f"filter expression: not understood from '{line[place : place + 30]}'")
        tokens.append(found.group().strip())
        place = found.end()
    reader = _Line(tokens)
    query = reader.either(0)
    if reader.here:
        raise invalid(f"filter expression: '{reader.here}' is not expected")
    return query


class _Line:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0

    @property
    def here(self) -> str:
        """The token to be read; "" at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self) -> str:
        token = self.here
        if not token:
            raise invalid("filter expression: it ends too early")
        self._place += 1
        return token

    def either(self, depth: int) -> Any:
        """Read terms that are joined by ``or``."""
        return self._joined("or", lambda: self._joined("and", lambda: self._one(depth)))

    def _joined(self, name: str, part: Callable[[], Any]) -> Any:
        parts = [part()]
        while self.here.lower() == name:
            self._take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else {name: parts}

    def _one(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise invalid(f"filter expression: it is deeper than {_DEEPEST}")
        name = self._take()
        if name.lower() == "not":
            return {"not": self._one(depth + 1)}
        if name == "(":
            inner = self.either(depth + 1)
            if self._take() != ")":
                raise invalid("filter expression: a bracket is not closed")
            return inner
        word = self._take().lower()
        return {word: {name: self._values() if word == "in" else _value(self._take())}}

    def _values(self) -> list[Any]:
        if self._take() not in ("[", "("):
            raise invalid("filter expression: 'in' takes a list in brackets")
        found = []
        while (word := self._take()) not in ("]", ")"):
            if word != ",":
                found.append(_value(word))
        return found


def _value(token: str) -> Any:
    if token[0] in "'\"":
        return token[1:-1]
    try:
        return float(token)
    except ValueError:
        return None if token.lower() in ("none", "null") else token
