"""Parses the query of a list of stacks. Unknown keys are ignored, as clients expect."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import QueryParams

from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.paging import PAGE, page_of
from stoker.api.rest.requests.parameters import Flag, Parameter, Texts
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
# Characters; the longest tags are made by the CloudFormation API from a key and a value.
_LONGEST_TAG = 400
_SORT_ALIASES = {"name": "stack_name", "status": "stack_status"}
_SHOW_DELETED = Flag("show_deleted", "With deleted stacks.")
_SHOW_NESTED = Flag("show_nested", "With stacks that are inside others.")
_SHOW_HIDDEN = Flag("show_hidden", "With stacks that have a tag of hidden_stack_tags.")
_GLOBAL_TENANT = Flag("global_tenant", "Those of all projects; a policy of its own allows it.")


def _spellings(name: str, words: str) -> tuple[Texts, ...]:
    """Return a key in Heat's spelling, and in that of openstacksdk."""
    return tuple(Texts(each, words) for each in dict.fromkeys((name, name.replace("_", "-"))))


_TAGS = _spellings("tags", "Stacks with all these tags, which commas separate.")
_TAGS_ANY = _spellings("tags_any", "Stacks with one of these tags.")
_NOT_TAGS = _spellings("not_tags", "Stacks without one of these tags.")
_NOT_TAGS_ANY = _spellings("not_tags_any", "Stacks with none of these tags.")
STACK_QUERY: tuple[Parameter, ...] = (
    *PAGE, _SHOW_DELETED, _SHOW_NESTED, _SHOW_HIDDEN, _GLOBAL_TENANT,
    *_TAGS, *_TAGS_ANY, *_NOT_TAGS, *_NOT_TAGS_ANY,
    *(Texts(key, f"Stacks with this {field}; any of several.") for key, field in _FILTERS.items()),
)  # fmt: skip


def stack_query(query: QueryParams, hidden_tags: Sequence[str]) -> StackQuery:
    """Return the requested list. Raises RequestError (400) for values of the wrong shape.

    Stacks with one of ``hidden_tags`` are left out unless the query includes them.
    """
    show_hidden = _SHOW_HIDDEN.read(query)
    unwanted = () if show_hidden else tuple(hidden_tags)
    return StackQuery(
        page=page_of(query, _SORT_KEYS, _SORT_ALIASES),
        filters=_filters(query),
        tags=_tags(query, _TAGS),
        tags_any=_tags(query, _TAGS_ANY),
        not_tags=_tags(query, _NOT_TAGS),
        not_tags_any=(*_tags(query, _NOT_TAGS_ANY), *unwanted),
        show_deleted=_SHOW_DELETED.read(query),
        show_nested=_SHOW_NESTED.read(query),
        show_hidden=show_hidden,
        all_projects=_GLOBAL_TENANT.read(query),
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


def _tags(query: QueryParams, spellings: Sequence[Texts]) -> tuple[str, ...]:
    """Return the tags of a key in all its spellings."""
    tags = tuple(
        tag for key in spellings for text in key.read(query) for tag in text.split(",") if tag
    )
    if any(len(tag) > _LONGEST_TAG for tag in tags):
        raise bad_request(
            f"{spellings[0].name} names a tag that no stack has: one has at most {_LONGEST_TAG}"
            " characters."
        )
    if len(tags) > _MOST_TAGS:
        raise bad_request(
            f"{spellings[0].name} names {len(tags)} tags; it takes at most {_MOST_TAGS}."
        )
    return tags
