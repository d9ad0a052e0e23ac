"""Parts of lists: how many at once, and where the next part begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from stoker.api.cloudwatch.members import Members
from stoker.kernel.errors import INVALID_NEXT_TOKEN, Invalid

Item = TypeVar("Item")


def paged(
    name: str, found: Sequence[Item], members: Members, most: int
) -> tuple[Sequence[Item], dict[str, Any]]:
    """The part of ``found`` that is asked for, and what tells of the next one.

    ``NextToken`` is the number of the first one of a part.
    """
    token = members.text("NextToken") or "0"
    if not token.isascii() or not token.isdigit() or len(token) > len(str(len(found))):
        raise Invalid(f'"{token:.100}" is no NextToken that {name} has given.', INVALID_NEXT_TOKEN)
    begin, size = int(token), members.whole("MaxRecords", 1, most) or most
    rest = {"NextToken": str(begin + size)} if begin + size < len(found) else {}
    return found[begin : begin + size], rest
