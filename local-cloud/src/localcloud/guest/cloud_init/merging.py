"""Merges several cloud-config documents into one, as cloud-init's mergers do."""

import re
from typing import Any

DEFAULT = "dict(replace)+list()+str()"

_MERGER = re.compile(r"(\w+)\s*\(([^)]*)\)")
Mergers = dict[str, frozenset[str]]


def mergers(how: Any) -> Mergers:
    """The options by type, from text such as ``list(append)+dict(no_replace,recurse_list)``.

    Also takes the list form ``[{name: list, settings: [append]}]``.
    """
    if isinstance(how, list):
        pairs = [
            (str(entry.get("name")), [str(option) for option in entry.get("settings") or ()])
            for entry in how
            if isinstance(entry, dict)
        ]
    else:
        pairs = [(name, options.split(",")) for name, options in _MERGER.findall(str(how))]
    return {name: frozenset(option.strip() for option in options) for name, options in pairs}


def merge(base: Any, other: Any, by: Mergers) -> Any:
    """``other`` merged onto ``base``."""
    if isinstance(base, dict) and isinstance(other, dict):
        return _merge_dicts(base, other, by)
    if isinstance(base, list) and isinstance(other, list):
        return _merge_lists(base, other, by.get("list", frozenset()))
    if isinstance(base, str) and isinstance(other, str):
        return base + other if "append" in by.get("str", ()) else base
    return base


def _recurses(value: Any, options: frozenset[str]) -> bool:
    return (
        (isinstance(value, dict) and "recurse_dict" in options)
        or (isinstance(value, list) and bool({"recurse_list", "recurse_array"} & options))
        or (isinstance(value, str) and "recurse_str" in options)
    )


def _merge_dicts(base: dict[Any, Any], other: dict[Any, Any], by: Mergers) -> dict[Any, Any]:
    options = by.get("dict", frozenset())
    merged = dict(base)
    for key, value in other.items():
        if key not in merged:
            merged[key] = value
        elif _recurses(merged[key], options):
            merged[key] = merge(merged[key], value, by)
        elif "replace" in options:
            merged[key] = value
    return merged


def _merge_lists(base: list[Any], other: list[Any], options: frozenset[str]) -> list[Any]:
    if "append" in options:
        return [*base, *other]
    if "prepend" in options:
        return [*other, *base]
    return list(other) if "replace" in options else list(base)
