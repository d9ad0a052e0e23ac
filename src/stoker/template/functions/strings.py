"""Functions on text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlunsplit

from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of
from stoker.template.functions.budget import Budget, check_parts, check_text
from stoker.template.functions.failure import (
    LEFT_OUT,
    bad_arguments,
    bad_value,
    check_form,
    check_keys,
    check_kind,
    known,
)
from stoker.template.functions.scope import Scope

# Kinds that may be unknown. A check for a union takes several times as long as one for a tuple.
_TEXT = (str, Unknown)
_MAP = (dict, Mapping, Unknown)


def as_json(value: Any) -> str:
    """Return data as JSON text. Keys are sorted, so that equal data gives equal text."""
    try:
        text = json.dumps(value, sort_keys=True)
    except (TypeError, ValueError) as error:
        bad_value(f"the value cannot be written as JSON: {error}")
    check_text(len(text))
    return text


def str_replace(arguments: Any, scope: Scope) -> Any:
    """Return a text with placeholders replaced; maps and lists are inserted as JSON."""
    return _replaced(*_replace_arguments(arguments, scope), scope)[0]


def str_replace_plain(arguments: Any, scope: Scope) -> Any:
    """Return a text with placeholders replaced by texts and numbers."""
    template, params = _replace_arguments(arguments, scope)
    for key, value in () if isinstance(params, Unknown) else params.items():
        if isinstance(value, list | dict):
            bad_value(f'"{key}" may be text or a number, not {kind_of(value)}', ("params", key))
    return _replaced(template, params, scope)[0]


def str_replace_strict(arguments: Any, scope: Scope) -> Any:
    """A text with its placeholders replaced. Each must occur in it."""
    return _replace_strictly(arguments, scope)[0]


def str_replace_vstrict(arguments: Any, scope: Scope) -> Any:
    """A text with its placeholders replaced. Each must occur in it, with a value."""
    text, params = _replace_strictly(arguments, scope)
    for key, value in params.items():
        if value is None or value in ("", [], {}):
            bad_value(f'the value of "{key}" is empty', ("params", key))
    return text


def _replace_strictly(arguments: Any, scope: Scope) -> tuple[Any, Mapping[str, Any]]:
    template, params = _replace_arguments(arguments, scope)
    text, unused = _replaced(template, params, scope)
    if unused:
        bad_value(f"not found in the template: {', '.join(sorted(unused))}", ("params",))
    return text, {} if isinstance(params, Unknown) else params


def _replace_arguments(arguments: Any, scope: Scope) -> tuple[Any, Any]:
    check_form(dict, arguments, "the arguments are a map")
    check_keys(arguments, ("template", "params"), ())
    check_form(dict, arguments["params"], "the parameters are a map", ("params",))
    template, params = scope.entry(arguments, "template"), scope.entry(arguments, "params")
    check_kind(_TEXT, template, "the template is text", ("template",))
    check_kind(_MAP, params, "the parameters are a map", ("params",))
    return template, params


def _replaced(template: Any, params: Any, scope: Scope) -> tuple[Any, list[str]]:
    """Return the text with every placeholder replaced, and the placeholders not found."""
    unknown = unknown_in([template, params])
    if unknown is not None:
        return unknown, []
    pairs = {}
    for key, value in params.items():
        check_kind(str, key, "a placeholder is text", ("params",))
        if not key:
            bad_value("a placeholder cannot be empty", ("params",))
        pairs[key] = as_text(value)
    return replace_words(template, pairs, scope.budget)


def as_text(value: Any) -> str:
    """Return a value as it appears inside text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return as_json(value)
    return str(value)


def replace_words(text: str, pairs: Mapping[str, str], budget: Budget) -> tuple[str, list[str]]:
    """Replace words, longer ones first, never inside an inserted text; return also the unused ones.

    Inserted texts are not searched. Raises :class:`FunctionError` over the budget.
    """
    unused = []
    places: list[tuple[int, str]] = []
    budget.search(len(text) * len(pairs))
    left = text
    size = len(text)
    for word in sorted(pairs, key=len, reverse=True):
        count = left.count(word)
        if not count:
            unused.append(word)
            continue
        size += count * (len(pairs[word]) - len(word))
        check_text(size)
        budget.spend(count)
        position = left.find(word)
        while position >= 0:
            places.append((position, word))
            position = left.find(word, position + len(word))
        # Mask found words, so that a shorter word is not found inside a longer one.
        left = left.replace(word, _TAKEN * len(word))
    pieces: list[str] = []
    end = 0
    for position, word in sorted(places):
        pieces += (text[end:position], pairs[word])
        end = position + len(word)
    return "".join([*pieces, text[end:]]), unused


# Placeholder for a replaced character. It is half a surrogate pair, which no text of a document
# has.
_TAKEN = "\ud800"


def bounded(delimiter: str, parts: list[str]) -> str:
    """Join texts. Raises :class:`FunctionError` if the result would be too large."""
    check_text(sum(map(len, parts)) + len(delimiter) * max(len(parts) - 1, 0))
    return delimiter.join(parts)


def list_join(arguments: Any, scope: Scope) -> Any:
    """Return the entries of lists joined to a text; maps and lists are joined as JSON."""
    if not isinstance(arguments, list) or len(arguments) < 2:
        bad_arguments("the arguments are [delimiter, list, ...]")
    values = scope.resolve(arguments)
    if not values:
        bad_arguments(f"the arguments are [delimiter, list, ...], {LEFT_OUT}")
    delimiter, *lists = values
    return _joined(delimiter, [entries or [] for entries in lists], _json_item)


def list_join_plain(arguments: Any, scope: Scope) -> Any:
    """Return the entries of a list, all of them text, joined to a text."""
    delimiter, *lists = scope.exactly(2, arguments, "[delimiter, list]")
    return _joined(delimiter, lists, _plain_item)


def _joined(delimiter: Any, lists: list[Any], text_of: Any) -> Any:
    known([delimiter, lists])
    check_kind(str, delimiter, "the delimiter is text", (0,))
    parts: list[str] = []
    for position, entries in enumerate(lists, 1):
        if entries is None:
            continue
        check_kind(list, entries, "only lists can be joined", (position,))
        parts.extend(text_of(entry, (position, index)) for index, entry in enumerate(entries))
    return bounded(delimiter, parts)


def _plain_item(value: Any, path: tuple[int, int]) -> Any:
    if value is None:
        return ""
    check_kind(str, value, "only text can be joined", path)
    return value


def _json_item(value: Any, path: tuple[int, int]) -> str:
    if value is None:
        return ""
    check_kind(str | list | dict, value, "only text, lists and maps can be joined", path)
    return as_text(value)


def str_split(arguments: Any, scope: Scope) -> Any:
    """Return the parts of a text, or one part. A null delimiter splits at white space."""
    if isinstance(arguments, str | dict) and not scope.is_call(arguments):
        bad_arguments("the arguments are [delimiter, text, index]")
    values = known(scope.resolve(arguments))
    if not isinstance(values, list) or len(values) < 2:
        bad_value("the arguments are [delimiter, text, index]")
    delimiter, text = values[:2]
    if text is None:
        return None
    check_kind(str, text, "only text can be split", (1,))
    parts = text.split() if delimiter is None else split(delimiter, text)
    if len(values) == 2:
        return parts
    index = as_number(values[2], "the index", (2,))
    if not -len(parts) <= index < len(parts):
        bad_value(f"there are {len(parts)} parts: the index is at most {len(parts) - 1}", (2,))
    return parts[index]


def as_number(value: Any, subject: str, path: tuple[int, ...]) -> int:
    """Return a whole number, which may be given as text."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        bad_value(f"{subject} is a number, not {kind_of(value)}", path)


def split(delimiter: Any, text: str) -> list[str]:
    """Return a text split at a delimiter."""
    check_kind(str, delimiter, "the delimiter is text", (0,))
    if not delimiter:
        bad_value("the delimiter cannot be empty", (0,))
    check_parts(text.count(delimiter) + 1)
    return text.split(delimiter)


# Algorithms with digests of fixed length.
DIGESTS = frozenset(name for name in hashlib.algorithms_available if not name.startswith("shake"))


def digest(arguments: Any, scope: Scope) -> Any:
    """Return the hexadecimal digest of a text."""
    values = known(scope.resolve(arguments))
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        bad_value("the arguments are [algorithm, text]")
    if len(values) != 2:
        bad_value(f"the arguments are [algorithm, text], not {len(values)} values")
    algorithm, text = values
    if algorithm.lower() not in DIGESTS:
        bad_value(f'"{algorithm}" is not one of {", ".join(sorted(DIGESTS))}', (0,))
    try:
        octets = text.encode("latin-1")
    except UnicodeEncodeError as error:
        bad_value(f'"{text[error.start]}" is not a Latin-1 character', (1,))
    try:
        return hashlib.new(algorithm.lower(), octets, usedforsecurity=False).hexdigest()
    except ValueError as error:
        bad_value(f'"{algorithm}" cannot be used on this machine: {error}', (0,))


_URL_PARTS = ("scheme", "username", "password", "host", "port", "path", "query", "fragment")


def make_url(arguments: Any, scope: Scope) -> Any:
    """Return a URL made of its parts."""
    check_form(dict, arguments, "the arguments are a map")
    for key in arguments:
        if key not in _URL_PARTS:
            bad_arguments(f"the parts of a URL are {', '.join(_URL_PARTS)}", (key,))
    _check_url_shape(arguments, scope)
    parts = known(scope.resolve(arguments))
    url = _url(parts)
    scope.budget.spend(len(url) // 4)  # Quoting four characters takes as long as one value.
    return url


def _check_url_shape(arguments: Mapping[str, Any], scope: Scope) -> None:
    for key, value in arguments.items():
        if scope.is_call(value):
            continue
        if key == "query":
            check_form(dict, value, "the query is a map", (key,))
        elif key == "port":
            _port(value, bad_arguments)
        elif not isinstance(value, str):
            bad_arguments(f"this part is text, not {kind_of(value)}", (key,))


def _port(value: Any, refuse: Any) -> int:
    try:
        port = int(value)
    except (TypeError, ValueError, OverflowError):
        port = 0
    if not 1 <= port <= 65535:
        refuse(f"a port is a number from 1 to 65535, not {as_json(value)}", ("port",))
    return port


def _url(parts: Mapping[str, Any]) -> str:
    for key, value in parts.items():
        if key != "query" and isinstance(value, list | dict):
            bad_value(f"this part is text, not {kind_of(value)}", (key,))
    scheme = as_text(parts.get("scheme"))
    if ":" in scheme:
        bad_value('a scheme has no ":"', ("scheme",))
    query = parts.get("query") or {}
    check_kind(Mapping, query, "the query is a map", ("query",))
    return urlunsplit(
        (
            scheme,
            _authority(parts),
            quote(as_text(parts.get("path"))),
            urlencode(query).replace("%2F", "/"),
            quote(as_text(parts.get("fragment"))),
        )
    )


def _authority(parts: Mapping[str, Any]) -> str:
    text = ""
    username, password = as_text(parts.get("username")), as_text(parts.get("password"))
    if username or password:
        text = quote(username, "")
        if password:
            text += f":{quote(password, '')}"
        text += "@"
    host = as_text(parts.get("host"))
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    host = quote(host, ":")
    text += f"[{host}]" if ":" in host else host
    port = parts.get("port")
    return text if port in (None, "") else f"{text}:{_port(port, bad_value)}"
