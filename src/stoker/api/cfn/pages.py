"""Lists in pages: each response has some entries, and a token for the next ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from stoker.api.cfn.call import Call
from stoker.api.next_tokens import place_in, token_of
from stoker.engine.model.requests import Page
from stoker.kernel.errors import VALUE_ERROR, ValidationError

Item = TypeVar("Item")
PAGE = 100  # entries of one answer
_NEXT = "NextToken"
_WHICH = (
    "Action",
    "StackName",
    "ChangeSetName",
    "ExportName",
    "StackRefactorId",
)  # parameters that identify the list


def requested_page(call: Call, *, descending: bool | None = None) -> Page:
    """Return the requested page of a list, with one more entry to know whether any follows.

    Rejects a token of another list (400).
    """
    return Page(limit=PAGE + 1, marker=last_shown(call), descending=descending)


def last_shown(call: Call) -> str | None:
    """Return the marker of the entry before the page; None for the first page.

    Rejects a token of another list (400).
    """
    token = call.parameters.get(_NEXT)
    if not token:
        return None
    marker = place_in(token, *_list(call))
    if marker is None:
        message = (
            f'{_NEXT} "{token:.100}" is none that {call.parameters["Action"]} has given for these'
            " parameters and this project; leave it out to begin with the first page."
        )
        raise ValidationError(message, VALUE_ERROR)
    return marker


def cut(
    call: Call, found: Sequence[Item], marker: Callable[[Item], str]
) -> tuple[Sequence[Item], dict[str, Any]]:
    """Return the entries of a page, and the token of the next page if there is one.

    The token has the marker of the last entry.
    """
    if len(found) <= PAGE:
        return found, {}
    shown = found[:PAGE]
    return shown, {_NEXT: token_of(marker(shown[-1]), *_list(call))}


def cut_sorted(
    call: Call, found: Sequence[Item], marker: Callable[[Item], str]
) -> tuple[Sequence[Item], dict[str, Any]]:
    """Return one page of a complete list, in the order of its markers."""
    after = last_shown(call)
    whole = sorted(found, key=marker)
    rest = [item for item in whole if after is None or marker(item) > after]
    return cut(call, rest[: PAGE + 1], marker)


def _list(call: Call) -> tuple[str, ...]:
    return call.caller.project_id, *(call.parameters.get(name, "") for name in _WHICH)
