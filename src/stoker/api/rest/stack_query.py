"""Reading the query of a list of stacks. Keys that mean nothing are ignored, as clients expect."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import QueryParams

from stoker.api.rest.faults import bad_request
from stoker.api.rest.paging import page_of
from stoker.api.rest.values import query_flag, several
from stoker.engine.model.requests import StackQuery

_FILTERS = {
    "id": "id",
    "status": "status",
    "name": "name",
    "action": "action",
    "tenant": "tenant",
    "tenant_id": "tenant",
    "username": "username",
    "owner_id": "owner_id",
    "stack_name": "name",
    "stack_action": "action",
    "stack_status": "status",
    "stack_status_reason": "stack_status_reason",
    "disable_rollback": "disable_rollback",
    "timeout_mins": "timeout_mins",
    "stack_owner": "username",
    "parent": "owner_id",
    "stack_user_project_id": "stack_user_project_id",
}
_ACTIONS = (
    "CREATE", "DELETE", "UPDATE", "ROLLBACK", "SUSPEND", "RESUME", "ADOPT", "SNAPSHOT", "CHECK",
    "RESTORE",
)  # fmt: skip
_SORT_KEYS = ("stack_name", "stack_status", "creation_time", "updated_time")
_MOST_TAGS = 100
_SORT_ALIASES = {"name": "stack_name", "status": "stack_status"}


def stack_query(query: QueryParams, hidden_tags: Sequence[str]) -> StackQuery:
    """The list that a query asks for; raises refusals (400) for values of the wrong shape.

    Stacks with one of ``hidden_tags`` are left out unless the query wants them.
    """
    show_hidden = query_flag(query, "show_hidden")
    unwanted = () if show_hidden else tuple(hidden_tags)
    return StackQuery(
        page=page_of(query, _SORT_KEYS, _SORT_ALIASES),
        filters=_filters(query),
        tags=_tags(query, "tags"),
        tags_any=_tags(query, "tags_any"),
        not_tags=_tags(query, "not_tags"),
        not_tags_any=(*_tags(query, "not_tags_any"), *unwanted),
        show_deleted=query_flag(query, "show_deleted"),
        show_nested=query_flag(query, "show_nested"),
        show_hidden=show_hidden,
        all_projects=query_flag(query, "global_tenant"),
    )


def _filters(query: QueryParams) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for key, value in query.multi_items():
        field = _FILTERS.get(key)
        if field == "status":
            action, _, status = value.upper().partition("_")
            if status and action in _ACTIONS:
                _keep(found, "action", action)
                _keep(found, "status", status)
            else:
                _keep(found, "status", value.upper())
        elif field is not None:
            _keep(found, field, value)
    return {field: tuple(values) for field, values in found.items()}


def _keep(found: dict[str, list[str]], field: str, value: str) -> None:
    values = found.setdefault(field, [])
    if value not in values:
        values.append(value)


def _tags(query: QueryParams, name: str) -> tuple[str, ...]:
    """The tags of a key, with underscores or hyphens in the key."""
    spellings = {name, name.replace("_", "-")}
    tags = tuple(
        tag
        for key in sorted(spellings)
        for text in several(query, key)
        for tag in text.split(",")
        if tag
    )
    if len(tags) > _MOST_TAGS:
        raise bad_request(f"{name} names {len(tags)} tags; it takes at most {_MOST_TAGS}.")
    return tags
