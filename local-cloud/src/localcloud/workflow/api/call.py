"""Parsers of requests to the workflow API, and lists of its responses."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.core.store import Document
from localcloud.web.api_request import ApiRequest
from localcloud.web.http import (
    Answer,
    BadRequestError,
    boolean,
    context,
    read_body,
    respond,
)
from localcloud.workflow import PREFIX

Show = Callable[[Document], dict[str, Any]]
_PAGE = 1_000
_NO_FILTERS = frozenset(
    {"limit", "marker", "sort_keys", "sort_dirs", "fields", "all_projects", "include_output"}
)


class Call(ApiRequest, frozen=True):
    """A request of the workflow API."""

    @property
    def project(self) -> str:
        """The project of the caller."""
        return self.context.require_project()

    def query(self, key: str, default: str = "") -> str:
        """Return a parameter of the query string."""
        return self.request.query_params.get(key, default)

    def flag(self, key: str) -> bool:
        """Return a boolean parameter of the query string; false if it is missing."""
        return boolean(self.query(key, "false"))

    def text(self) -> str:
        """Return the body as text; raises BadRequestError."""
        try:
            return self.content.decode()
        except UnicodeDecodeError as error:
            raise BadRequestError("The request body is no text in UTF-8.") from error

    def fields(self, kind: str, known: Iterable[str]) -> dict[str, Any]:
        """Return the JSON object of the body.

        Raises BadRequestError for an unknown field.
        """
        given = self.body()
        if unknown := sorted(given.keys() - set(known)):
            raise BadRequestError(f"Unknown attribute for argument {kind}: {unknown[0][:100]}")
        return given


Handler = Callable[[Call], Any]


def routed(method: str, path: str, handler: Handler, status: int | None = None) -> Route:
    """Return the route of a handler."""

    async def handle(request: Request) -> Response:
        call = Call(request, context(request), await read_body(request))
        answer: Answer = handler(call)
        if not isinstance(answer, Response | Mapping | None):
            answer = await answer
        return respond(answer, status)

    return Route(path, handle, methods=[method])


def json_map(kind: str, given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a field that is a map, or a map as JSON text; raises BadRequestError."""
    value = given.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value else {}
        except ValueError as error:
            detail = f"Invalid input for field/attribute {kind}. Value: '{value[:200]}'. {error}"
            raise BadRequestError(detail) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequestError(f"JsonType field value must be a dictionary [actual={value!r:.200}]")
    return value


def text_field(given: Mapping[str, Any], name: str, most: int = 255) -> str:
    """Return a text field; raises BadRequestError."""
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > most:
        detail = f"Value: '{str(value)[:100]}'. A text of at most {most} characters is expected."
        raise BadRequestError(f"Invalid input for field/attribute {name}. {detail}")
    return value


def listed(
    call: Call, name: str, documents: Iterable[Document], show: Show, hidden: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a page of documents as a list response; raises BadRequestError.

    Fields in ``hidden`` are only shown on request.
    """
    items = [show(each) for each in documents]
    known = list(show_fields(items))
    fields = [each for each in call.query("fields").split(",") if each]
    if items and (odd := [each for each in fields if each not in known]):
        detail = f"[{', '.join(odd)[:100]}], please choose from [{', '.join(known)}]"
        raise BadRequestError(f"Some fields do not exist  {detail}")
    items = _filtered(call, items, known)
    items = _sorted(call, items, known)
    page, more = _page(call, items)
    if fields:
        page = [{key: value for key, value in each.items() if key in fields} for each in page]
    elif hidden and not call.flag("include_output"):
        page = [{k: v for k, v in each.items() if k not in hidden} for each in page]
    answer: dict[str, Any] = {name: page}
    if more:
        marked = {**call.request.query_params, "marker": page[-1].get("id", "")}
        at = call.request.url
        url = f"{at.scheme}://{at.netloc}{PREFIX}{at.path}"
        answer["next"] = f"{url}?{urlencode(marked, safe=',')}"
    return answer


def show_fields(items: Sequence[Mapping[str, Any]]) -> dict[str, None]:
    """Return the names of the items' fields, in order."""
    return dict.fromkeys(key for each in items for key in each)


def _filtered(
    call: Call, items: list[dict[str, Any]], known: Sequence[str]
) -> list[dict[str, Any]]:
    for key, value in call.request.query_params.items():
        if key in _NO_FILTERS or not items:
            continue
        if key not in known:
            raise BadRequestError(f'Unknown argument: "{key[:100]}"')
        verb, colon, rest = value.partition(":")
        if colon and verb in _COMPARE:
            items = [each for each in items if _COMPARE[verb](str(each[key] or ""), rest)]
        else:
            expected = "" if value == "null" else value
            items = [each for each in items if _text(each[key]) == expected]
    return items


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


_COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "eq": lambda found, given: found == given,
    "neq": lambda found, given: found != given,
    "gt": lambda found, given: found > given,
    "gte": lambda found, given: found >= given,
    "lt": lambda found, given: found < given,
    "lte": lambda found, given: found <= given,
    "has": lambda found, given: given in found,
    "in": lambda found, given: found in given.split(","),
    "nin": lambda found, given: found not in given.split(","),
}


def _sorted(call: Call, items: list[dict[str, Any]], known: Sequence[str]) -> list[dict[str, Any]]:
    keys = [each for each in call.query("sort_keys").split(",") if each]
    directions = [each for each in call.query("sort_dirs").split(",") if each]
    for number, key in reversed(list(enumerate(keys))):
        direction = directions[number] if number < len(directions) else "asc"
        if items and key not in known:
            raise BadRequestError(f"Sort key supplied is invalid: {key[:100]}")
        if direction not in ("asc", "desc"):
            raise BadRequestError(
                f"Unknown sort direction, must be 'asc' or 'desc': {direction[:100]}"
            )
        items = sorted(items, key=lambda each: str(each[key] or ""), reverse=direction == "desc")
    return items


def _page(call: Call, items: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], bool]:
    if marker := call.query("marker"):
        ids = [each.get("id") for each in items]
        if marker not in ids:
            raise BadRequestError(f"The marker '{marker[:100]}' could not be found.")
        items = items[ids.index(marker) + 1 :]
    given = call.query("limit")
    if given and not given.isdecimal():
        raise BadRequestError("Limit must be positive.")
    limit = min(int(given), _PAGE) if given and int(given) else _PAGE
    return items[:limit], len(items) > limit
