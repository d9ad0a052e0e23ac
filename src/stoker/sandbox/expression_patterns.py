"""The regular expressions of yaql, with the patterns that templates have elsewhere.

The library's own functions of these names compile with another package; these take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import regex
from msgspec import Struct
from yaql.language import yaqltypes

from stoker.sandbox.patterns import compiled


class Pattern(Struct, frozen=True):
    """A compiled pattern, as expressions see it."""

    of: Any

    def search(self, text: str) -> Any:
        """The first match, or None."""
        return self.of.search(text)


def make(
    pattern: str, ignore_case: bool = False, multi_line: bool = False, dot_all: bool = False
) -> Pattern:
    """A pattern with flags."""
    flags = 0
    for is_set, flag in (
        (ignore_case, regex.IGNORECASE),
        (multi_line, regex.MULTILINE),
        (dot_all, regex.DOTALL),
    ):
        flags |= int(flag) if is_set else 0
    return Pattern(compiled(pattern, flags))


def matches(regexp: Pattern, string: str) -> bool:
    """Return whether the pattern is found in the text."""
    return regexp.search(string) is not None


def matches_text(string: str, regexp: str) -> bool:
    """Return whether the pattern is found in the text."""
    return make(regexp).search(string) is not None


def search(context: Any, regexp: Pattern, string: str, selector: Any = None) -> Any:
    """Return the first match, or the selector's value for it; None without one."""
    match = regexp.search(string)
    return None if match is None else _selected(context, match, selector)


def search_all(context: Any, regexp: Pattern, string: str, selector: Any = None) -> Iterator[Any]:
    """Return all matches, or the selector's value for each."""
    for match in regexp.of.finditer(string):
        yield _selected(context, match, selector)


def _selected(context: Any, match: Any, selector: Any) -> Any:
    return match.group() if selector is None else selector(_published(context, match))


def _published(context: Any, match: Any) -> Any:
    """A context in which ``$1`` is the match, ``$2`` its first group, ``$name`` a named one."""
    inner = context.create_child_context()
    for number in range(match.re.groups + 1):
        inner[f"${number + 1}"] = _part(match, number)
    for name in match.re.groupindex:
        inner[f"${name}"] = _part(match, name)
    return inner


def _part(match: Any, group: int | str) -> dict[str, Any]:
    return {"value": match.group(group), "start": match.start(group), "end": match.end(group)}


def split(regexp: Pattern, string: str, max_split: int = 0) -> list[str]:
    """The text split at the matches."""
    return list(regexp.of.split(string, max_split))


def replace(regexp: Pattern, string: str, repl: str, count: int = 0) -> str:
    """The text with the matches replaced."""
    return str(regexp.of.sub(repl, string, count))


def replace_by(context: Any, regexp: Pattern, string: str, repl: Any, count: int = 0) -> str:
    """Return the text with the matches replaced by the values of an expression for them."""

    def replacement(match: Any) -> str:
        return str(repl(_published(context, match)))

    return str(regexp.of.sub(replacement, string, count))


def replace_text_by(context: Any, string: str, regexp: Pattern, repl: Any, count: int = 0) -> str:
    """Act as :func:`replace_by`, on a text."""
    return replace_by(context, regexp, string, repl, count)


def escape_regex(string: str) -> str:
    """The text with everything escaped that means something in a pattern."""
    return str(regex.escape(string))


def is_regex(value: Any) -> bool:
    """Return whether a value is a pattern."""
    return isinstance(value, Pattern)


_METHODS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("matches", matches),
    ("matches", matches_text),
    ("search", search),
    ("searchAll", search_all),
    ("split", split),
    ("split", lambda string, regexp, max_split=0: split(regexp, string, max_split)),
    ("replace", replace),
    ("replace", lambda string, regexp, repl, count=0: replace(regexp, string, repl, count)),
    ("replaceBy", replace_by),
    ("replaceBy", replace_text_by),
)
_FUNCTIONS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("regex", make),
    ("#operator_=~", lambda string, regexp: matches(regexp, string)),
    ("#operator_=~", lambda string, pattern: matches_text(string, pattern)),
    ("#operator_!~", lambda string, regexp: not matches(regexp, string)),
    ("#operator_!~", lambda string, pattern: not matches_text(string, pattern)),
    ("escapeRegex", escape_regex),
    ("isRegex", is_regex),
)


def register(context: Any) -> None:
    """Add the functions to a context that has no regular expressions."""
    for name, function in _METHODS:
        kinds = dict(_KINDS)
        if function in (replace_by, replace_text_by):
            kinds["repl"] = yaqltypes.Lambda(with_context=True)
        if function is matches_text:
            kinds["regexp"] = yaqltypes.String()
        context.register_function(
            function, name=name, function=False, method=True, parameter_type_func=kinds.__getitem__
        )
    for name, function in _FUNCTIONS:
        context.register_function(function, name=name, parameter_type_func=_KINDS.__getitem__)


_KINDS: dict[str, Any] = {
    "context": yaqltypes.Context(),
    "regexp": yaqltypes.PythonType(Pattern, False),
    "string": yaqltypes.String(),
    "pattern": yaqltypes.String(),
    "ignore_case": yaqltypes.PythonType(bool),
    "multi_line": yaqltypes.PythonType(bool),
    "dot_all": yaqltypes.PythonType(bool),
    "max_split": yaqltypes.Integer(),
    "count": yaqltypes.Integer(),
    "repl": yaqltypes.String(),
    "selector": yaqltypes.Lambda(with_context=True),
    "value": yaqltypes.PythonType(object),
}
