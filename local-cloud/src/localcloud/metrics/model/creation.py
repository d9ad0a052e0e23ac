"""Resources, metrics and types that clients make."""

import re
from typing import Any
from uuid import uuid4

from localcloud.core.store import Document
from localcloud.metrics.errors import invalid
from localcloud.metrics.model import archive_policies
from localcloud.metrics.model.server_resources import CREATOR
from localcloud.metrics.model.state import State, resource_id
from localcloud.web.http import BadRequestError, ConflictError, RequestContext

_MOST_RESOURCES = 1000
_MOST_METRICS = 2000  # that clients of one project may make
_LONGEST_NAME = 255
_ATTRIBUTE = re.compile(r"[a-zA-Z_][\w-]{0,254}")


def add_resource(state: State, who: RequestContext, kind: str, body: Document) -> Document:
    """Make a resource with its metrics; raises ApiError."""
    key = body.get("id")
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_NAME or "/" in key:
        raise invalid("required key not provided: id")
    made_id = resource_id(who, key)
    if made_id in state.resources or made_id in state.servers.resources():
        raise ConflictError(f"Resource {key} already exists")
    if sum(1 for _ in state.resources.find(owner=who.project_id)) >= _MOST_RESOURCES:
        raise BadRequestError(f"A project has at most {_MOST_RESOURCES} resources.")
    now = state.cloud.now()
    made = {
        "id": made_id,
        "original_resource_id": key,
        "type": kind,
        "creator": f"{who.user_id}:{who.project_id}",
        "owner": who.project_id,
        "started_at": now,
        "ended_at": None,
        "revision_start": now,
        "user_id": who.user_id,
        "project_id": who.project_id,
        **checked(state, kind, body),
    }
    metrics = body.get("metrics") or {}
    with state.cloud.store.transaction():
        state.resources.put(made)
        add_metrics(state, who, made, metrics)
    return made


def checked(state: State, kind: str, body: Document) -> Document:
    """Return the attributes in a request; raises BadRequestError."""
    allowed = (*state.attributes(kind), "user_id", "project_id", "started_at", "ended_at")
    given = {name: value for name, value in body.items() if name not in ("id", "metrics")}
    for name, value in given.items():
        if name not in allowed:
            raise invalid(f"extra keys not allowed: {name[:100]}")
        if not isinstance(value, str | int | float | bool | None) or len(str(value)) > 1024:
            raise invalid(f"{name} must be a text or number of at most 1024 characters")
    return given


def add_metrics(
    state: State, who: RequestContext, resource: Document, metrics: Any
) -> list[Document]:
    """Make metrics of a resource, by their names; raises ApiError."""
    if not isinstance(metrics, dict):
        raise invalid("metrics must be an object")
    have = state.metrics_of(resource)
    made = []
    for name, given in metrics.items():
        if name in have:
            raise ConflictError(f"Named metric {name} already exists")
        if isinstance(given, str):
            own = state.metric(who, given)
            if own["creator"] == CREATOR:
                raise invalid(f"metric {given} belongs to the cloud")
            state.metrics.put({**own, "name": name, "resource_id": resource["id"]})
            made.append({**own, "name": name})
        else:
            made.append(add_metric(state, who, {**(given or {}), "name": name}, resource["id"]))
    return made


def add_metric(
    state: State, who: RequestContext, body: Document, resource_id: str | None = None
) -> Document:
    """Make a metric; raises ApiError."""
    name, unit = body.get("name"), body.get("unit")
    for value in (name, unit):
        if value is not None and (not isinstance(value, str) or len(value) > _LONGEST_NAME):
            raise invalid("name and unit are texts of at most 255 characters")
    if name is not None and "/" in name:
        raise invalid("'/' is not supported in metric name")
    if sum(1 for _ in state.metrics.find(owner=who.project_id)) >= _MOST_METRICS:
        raise BadRequestError(f"A project has at most {_MOST_METRICS} metrics.")
    policy = body.get("archive_policy_name")
    if policy is None:
        policy = archive_policies.by_rule(state.all_rules(), name or "")
    known = {each["id"] for each in state.all_policies()}
    if policy not in known:
        raise BadRequestError(f"Archive policy {str(policy)[:100]} does not exist")
    made = {
        "id": str(uuid4()),
        "name": name,
        "unit": unit,
        "archive_policy_name": policy,
        "resource_id": resource_id,
        "creator": f"{who.user_id}:{who.project_id}",
        "owner": who.project_id,
    }
    state.metrics.put(made)
    return made


def check_type(state: State, body: Document) -> Document:
    """Return the resource type of a request; raises ApiError."""
    name, attributes = body.get("name"), body.get("attributes") or {}
    if not isinstance(name, str) or not _ATTRIBUTE.fullmatch(name):
        raise invalid("a resource type needs a name of letters, digits and underscores")
    if name in state.type_names():
        raise ConflictError(f"Resource type {name} already exists")
    if not isinstance(attributes, dict) or len(attributes) > 100:
        raise invalid("attributes must be an object of at most 100")
    if not all(_ATTRIBUTE.fullmatch(key) for key in attributes):
        raise invalid("names of attributes have letters, digits and underscores")
    return {"id": name, "attributes": attributes}


def named(metrics: Any, have: Document) -> Document:
    """Return those of some metrics that a resource does not have yet; raises BadRequestError."""
    if not isinstance(metrics, dict):
        raise invalid("metrics must be an object")
    return {name: given for name, given in metrics.items() if name not in have}
