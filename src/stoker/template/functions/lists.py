"""Functions on lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from stoker.kernel.json.tree import frozen, replaced, weigh
from stoker.schema.unknown import Unknown
from stoker.template.functions.budget import MAX_TEXT, check_text
from stoker.template.functions.failure import (
    UnknownValueError,
    bad_arguments,
    bad_value,
    check_form,
    check_keys,
    check_kind,
    failed,
    known,
)
from stoker.template.functions.scope import Scope


def list_concat(arguments: Any, scope: Scope) -> Any:
    """Return lists, one after the other; null lists are left out."""
    words = "the arguments are a list of lists", "only lists can be put together"
    return [entry for part in parts_of(arguments, scope, list, *words) for entry in part]


def parts_of(arguments: Any, scope: Scope, kind: Any, form: str, each: str) -> list[Any]:
    """Return the lists or maps to combine, without null ones."""
    parts = scope.resolve(arguments)
    if isinstance(parts, Unknown):
        raise UnknownValueError(parts)
    check_kind(list, parts, form)
    for position, part in enumerate(parts):
        check_kind(kind | Unknown | None, part, each, (position,))
    known([part for part in parts if isinstance(part, Unknown)])
    return [part for part in parts if part is not None]


def list_concat_unique(arguments: Any, scope: Scope) -> Any:
    """Return lists, one after the other, with only the first of equal entries."""
    return unique(known(list_concat(arguments, scope)))


def unique(entries: Iterable[Any]) -> list[Any]:
    """Return the entries in order, with only the first of equal ones."""
    found: dict[Hashable, Any] = {}
    for entry in entries:
        found.setdefault(frozen(entry), entry)
    return list(found.values())


def filter_(arguments: Any, scope: Scope) -> Any:
    """Return a list without the given values."""
    check_form(list, arguments, "the arguments are [values, list]")
    if len(arguments) != 2:
        bad_arguments(f"the arguments are [values, list], not {len(arguments)} values")
    values, entries = known(scope.exactly(2, arguments, "[values, list]"))
    if not entries:
        return entries
    check_kind(list, entries, "only a list can be filtered", (1,))
    if not values:
        return entries
    check_kind(list, values, "the values to leave out are a list", (0,))
    unwanted = set(map(frozen, values))
    return [entry for entry in entries if frozen(entry) not in unwanted]


def repeat(arguments: Any, scope: Scope) -> Any:
    """Return a template filled for values of lists or maps, in all combinations or in step."""
    _check_repeat(arguments)
    permutations = arguments.get("permutations", True)
    check_form(bool, permutations, "this is written as true or false", ("permutations",))
    return _repeat(arguments, scope, _values_or_keys)


def repeat_combined(arguments: Any, scope: Scope) -> Any:
    """The values of a template for every combination of entries of lists or maps."""
    _check_repeat(arguments)
    return _repeat(_combined(arguments), scope, _values_or_keys)


def repeat_lists(arguments: Any, scope: Scope) -> Any:
    """The values of a template for every combination of entries of lists."""
    _check_repeat(arguments)
    return _repeat(_combined(arguments), scope, _values)


def _combined(arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: arguments[key] for key in ("template", "for_each")}


def _check_repeat(arguments: Any) -> None:
    check_form(dict, arguments, "the arguments are a map")
    check_keys(arguments, ("template", "for_each"), ("permutations",))
    check_form(dict, arguments["for_each"], "this is a map", ("for_each",))


Values = Callable[[Any, str], list[Any]]


def _values(value: Any, key: str) -> Any:
    if value is None:
        return []
    check_kind(list, value, "only a list can be repeated over", ("for_each", key))
    return value


def _values_or_keys(value: Any, key: str) -> list[Any]:
    return list(value) if isinstance(value, Mapping) else _values(value, key)


def _repeat(arguments: dict[str, Any], scope: Scope, values_of: Values) -> Any:
    for_each = scope.entry(arguments, "for_each")
    template = scope.entry(arguments, "template")
    known(for_each)
    check_kind(Mapping, for_each, "this is a map", ("for_each",))
    if not for_each:
        bad_value("there is nothing to repeat over: the map is empty", ("for_each",))
    words = list(for_each)
    lists = [values_of(for_each[word], word) for word in words]
    if arguments.get("permutations", True):
        count = math.prod(map(len, lists))
        rows: Iterable[tuple[Any, ...]] = itertools.product(*lists)
    else:
        lengths = {len(for_each[word]) for word in words if for_each[word] is not None}
        if len(lengths) > 1:
            bad_value("without permutations all lists must have the same length", ("for_each",))
        count = min(map(len, lists))
        rows = zip(*lists, strict=False)
    # Refuse too many repetitions before the first. The budget would notice only after much work.
    values, _, octets = weigh(template)
    most = max(scope.budget.values, 0) // ((1 + values + octets // 32) * len(words))
    if count > most:
        message = f"there would be {count} repetitions; at most {most} are allowed here"
        advice = "repeat a smaller template, or over shorter lists"
        raise failed("too-large", message, suggestion=advice)
    result = []
    for row in rows:
        filled = _filled(template, words, row)
        scope.budget.count(filled)
        result.append(filled)
    return result


def _filled(template: Any, words: list[str], row: tuple[Any, ...]) -> Any:
    def fill(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        for word, value in zip(words, row, strict=True):
            check_kind(str, value, f'only text can be put in place of "{word}"', ("for_each", word))
            # Counting a word costs as much as replacing it. Most texts are far too short for it.
            if len(text) * len(value) > MAX_TEXT:
                check_text(len(text) + text.count(word) * (len(value) - len(word)))
            text = text.replace(word, value)
        return text

    return replaced(template, fill, keys=True)
