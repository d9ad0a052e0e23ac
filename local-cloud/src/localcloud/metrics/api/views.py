"""Resources and metrics as answers have them, and pages of them."""

from collections.abc import Sequence
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse

from localcloud.core.store import Document
from localcloud.metrics.errors import invalid
from localcloud.metrics.model import archive_policies
from localcloud.metrics.model.state import State

_PAGE = 1000
_OWN = frozenset({"owner", "user_metadata", "port_id"})


def creator(document: Document) -> Document:
    """Return the creator of an object, in each of the forms that responses have."""
    user, _, project = document["creator"].partition(":")
    return {
        "creator": document["creator"],
        "created_by_user_id": user,
        "created_by_project_id": project,
    }


def resource(state: State, document: Document) -> Document:
    """Return a resource with the ids of its metrics."""
    empty = dict.fromkeys(state.attributes(document["type"]))
    shown = {name: value for name, value in document.items() if name not in _OWN}
    metrics = {name: metric["id"] for name, metric in state.metrics_of(document).items()}
    return {**empty, "revision_end": None, **shown, **creator(document), "metrics": metrics}


def metric(state: State, document: Document) -> Document:
    """Return a metric as lists have it."""
    policy = state.policy(document["archive_policy_name"])
    return {
        **{name: document[name] for name in ("id", "name", "unit", "resource_id")},
        **creator(document),
        "archive_policy": archive_policies.shown(policy),
    }


def new_metric(document: Document) -> Document:
    """Return a metric as the answer to its creation has it."""
    names = ("id", "name", "unit", "resource_id", "archive_policy_name")
    return {**{name: document[name] for name in names}, **creator(document)}


def page(request: Request, items: Sequence[Document]) -> JSONResponse:
    """Return the part of a list that is asked for, and the address of the next."""
    query = request.query_params
    ordered = list(items)
    for term in reversed(query.getlist("sort")):
        key, _, direction = term.partition(":")
        ordered.sort(key=lambda each: str(each.get(key) or ""), reverse="desc" in direction)
    marker = query.get("marker")
    if marker is not None:
        ids = [each["id"] for each in ordered]
        if marker not in ids:
            raise invalid(f"the marker '{marker[:100]}' is not in the list")
        ordered = ordered[ids.index(marker) + 1 :]
    limit = _limit(query.get("limit"))
    headers = {}
    if len(ordered) > limit:
        rest = [(k, v) for k, v in query.multi_items() if k not in ("marker", "limit")]
        after = urlencode([*rest, ("limit", limit), ("marker", ordered[limit - 1]["id"])])
        headers["Link"] = f'<{request.url.path.removeprefix("/")}?{after}>; rel="next"'
    return JSONResponse(ordered[:limit], headers=headers)


def _limit(text: str | None) -> int:
    if text is None:
        return _PAGE
    if not text.isdecimal() or not int(text[:9]):
        raise invalid("limit must be a positive number")
    return min(int(text[:9]), _PAGE)
