"""Lists in pages: each answer has some entries, and a token for those that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from stoker.engine.model.requests import Page

Item = TypeVar("Item")
PAGE = 100
"""Entries of one answer."""


def asked(parameters: Mapping[str, str], *, descending: bool | None = None) -> Page:
    """The page of a list that a request asks for, with one more entry: whether any follows."""
    return Page(limit=PAGE + 1, marker=parameters.get("NextToken"), descending=descending)


def cut(
    found: Sequence[Item], marker: Callable[[Item], str]
) -> tuple[Sequence[Item], dict[str, Any]]:
    """The entries of an answer, and the token where more follow: the marker of the last entry."""
    if len(found) <= PAGE:
        return found, {}
    shown = found[:PAGE]
    return shown, {"NextToken": marker(shown[-1])}


def cut_sorted(
    found: Sequence[Item], marker: Callable[[Item], str], parameters: Mapping[str, str]
) -> tuple[Sequence[Item], dict[str, Any]]:
    """The same of a whole list, in the order of its markers."""
    after = parameters.get("NextToken")
    whole = sorted(found, key=marker)
    rest = [item for item in whole if after is None or marker(item) > after]
    return cut(rest[: PAGE + 1], marker)
