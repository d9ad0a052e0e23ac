"""Pages of lists, with tokens for the next page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from stoker.api.cloudwatch.call import Call
from stoker.api.next_tokens import place_in, token_of
from stoker.kernel.errors import INVALID_NEXT_TOKEN, ValidationError

Item = TypeVar("Item")


def paged(
    name: str, found: Sequence[Item], call: Call, most: int
) -> tuple[Sequence[Item], dict[str, Any]]:
    """Return the requested page of ``found``, and the token of the next one.

    A token has the number of the first entry of a page. Rejects one of another action or project
    (400).
    """
    project, token = call.caller.project_id, call.input.text("NextToken")
    place = place_in(token, project, name) if token else "0"
    if place is None:
        message = (
            f'"{token:.100}" is not a NextToken that {name} gave this project; leave it out to'
            " begin with the first ones."
        )
        raise ValidationError(message, INVALID_NEXT_TOKEN)
    begin, size = int(place), call.input.whole("MaxRecords", 1, most) or most
    rest = begin + size
    more = {"NextToken": token_of(str(rest), project, name)} if rest < len(found) else {}
    return found[begin:rest], more
