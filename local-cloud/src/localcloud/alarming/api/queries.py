"""Queries for alarms and for entries of their history."""

import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from localcloud.alarming.errors import invalid
from localcloud.core.store import Document
from localcloud.metrics.model.search import search
from localcloud.web.http import BadRequestError

_MOST = 1000
_OTHER_NAMES = {"project": "project_id", "user": "user_id"}


def simple(request: Request, documents: Sequence[Document]) -> list[Document]:
    """Return those that meet the conditions ``q.field``, ``q.op`` and ``q.value``."""
    query = request.query_params
    fields, operators = query.getlist("q.field"), query.getlist("q.op")
    values = query.getlist("q.value")
    if len(values) != len(fields):
        raise invalid("q", fields, "Each q.field needs a q.value.")
    terms: list[Document] = []
    for number, (name, value) in enumerate(zip(fields, values, strict=True)):
        word = operators[number] if number < len(operators) else "eq"
        typed = {"true": True, "false": False}.get(value.lower(), value)
        terms.append({word or "eq": {_OTHER_NAMES.get(name, name): typed}})
    return found({"and": terms}, documents)


def found(query: Any, documents: Sequence[Document]) -> list[Document]:
    """Return those that a query in JSON means; raises BadRequestError."""
    if not documents:
        return []
    known = {name for document in documents for name in document}
    matches = search(query, known)
    return [document for document in documents if matches(document)]


def page(request: Request, documents: list[Document]) -> list[Document]:
    """Return the part of a list that a request asks for."""
    query = request.query_params
    orders = [term.split(":")[:2] for term in query.getlist("sort")]
    ordered = sort(documents, [(each[0], each[-1] if len(each) > 1 else "asc") for each in orders])
    marker = query.get("marker")
    if marker is not None:
        ids = [each.get("event_id") or each["alarm_id"] for each in ordered]
        if marker not in ids:
            raise BadRequestError(f"The marker '{marker[:100]}' is not in the list.")
        ordered = ordered[ids.index(marker) + 1 :]
    return ordered[: limit(query.get("limit"))]


def sort(documents: list[Document], orders: Sequence[tuple[str, str]]) -> list[Document]:
    """Return documents in order of fields, each ascending or descending."""
    ordered = list(documents)
    for name, direction in reversed(orders):
        ordered.sort(key=lambda each: str(each.get(name, "")), reverse=direction == "desc")
    return ordered


def limit(given: Any) -> int:
    """Return how many are asked for; raises BadRequestError."""
    if given is None:
        return _MOST
    if not str(given).isdecimal() or not int(str(given)[:9]):
        raise invalid("limit", given, "A positive number is expected.")
    return min(int(str(given)[:9]), _MOST)


def complex_query(given: Document, documents: list[Document]) -> list[Document]:
    """Return the documents that match a body with filter, orderby and limit; raises
    BadRequestError.
    """
    try:
        query = json.loads(given.get("filter") or "{}")
        orders = json.loads(given.get("orderby") or "[]")
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid("filter", given.get("filter"), "A text with JSON is expected.") from error
    if not isinstance(orders, list) or not all(isinstance(each, dict) for each in orders):
        raise invalid("orderby", orders, "A list of objects is expected.")
    chosen = found(query, documents)
    pairs = [(str(k), str(v)) for each in orders[:10] for k, v in each.items()]
    return sort(chosen, pairs)[: limit(given.get("limit"))]
