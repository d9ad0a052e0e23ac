"""Filters and order of lists of secrets."""

import operator
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from fnmatch import translate
from urllib.parse import unquote_plus

from starlette.datastructures import QueryParams

from localcloud.core.store import Document
from localcloud.web.http import BadRequestError

_FIELDS = (
    "algorithm", "bit_length", "created", "expiration", "mode", "name", "secret_type", "status",
    "updated",
)  # fmt: skip
_LIKE = {"alg": "algorithm", "mode": "mode", "name": "name"}
_COMPARED = {"gte": operator.ge, "gt": operator.gt, "lte": operator.le, "lt": operator.lt}


def chosen(secrets: Iterable[Document], query: QueryParams) -> list[Document]:
    """Return the secrets that the query asks for; raises BadRequestError."""
    found = list(secrets)
    for name, field in _LIKE.items():
        if query.get(name):
            pattern = _like(unquote_plus(query[name]))
            found = [each for each in found if pattern.fullmatch(each[field] or "")]
    bits = query.get("bits", "")
    if bits.isdecimal() and int(bits) > 0:
        found = [each for each in found if each["bit_length"] == int(bits)]
    if query.get("secret_type"):
        found = [each for each in found if each["secret_type"] == query["secret_type"]]
    for name in ("created", "updated", "expiration"):
        if query.get(name):
            limits = _limits(query[name])
            found = [each for each in found if _within(each[name], limits)]
    for field, descends in reversed(_sorting(query.get("sort", ""))):
        found.sort(key=lambda each: (each[field] is not None, each[field]), reverse=descends)
    return found


def _like(text: str) -> re.Pattern[str]:
    """Return a pattern for SQL's LIKE that runs in linear time."""
    wild = {"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"}
    return re.compile(translate("".join(wild.get(c, c) for c in text)), re.IGNORECASE)


def _within(moment: str | None, limits: Mapping[str, str]) -> bool:
    if moment is None:
        return False
    return all(_COMPARED.get(name, operator.eq)(moment, limit) for name, limit in limits.items())


def _limits(text: str) -> dict[str, str]:
    """Return the limits of a time, by ``gt``, ``gte``, ``lt``, ``lte`` or ``eq``."""
    limits: dict[str, str] = {}
    for term in text.split(","):
        name, colon, moment = term.partition(":")
        if not colon or name not in _COMPARED:
            name, moment = "eq", term
        if name in limits or {name[:2], f"{name[:2]}e"} & limits.keys():
            raise _wrong()
        try:
            limit = datetime.fromisoformat(moment)
            limit = limit.astimezone(UTC) if limit.tzinfo else limit
        except (ValueError, OverflowError) as error:
            raise _wrong() from error
        limits[name] = limit.replace(tzinfo=None).isoformat(timespec="seconds")
    return limits


def _sorting(text: str) -> list[tuple[str, bool]]:
    """Return the fields to sort by, and whether they descend."""
    pairs = [term.partition(":") for term in text.split(",") if text]
    fields = [field for field, _, _ in pairs]
    if any(f not in _FIELDS for f in fields) or len(set(fields)) < len(fields):
        raise _wrong()
    if any(direction not in ("asc", "desc") for _, colon, direction in pairs if colon):
        raise _wrong()
    return [(field, direction == "desc") for field, _, direction in pairs]


def _wrong() -> BadRequestError:
    return BadRequestError("URI provided invalid query string parameters.")
