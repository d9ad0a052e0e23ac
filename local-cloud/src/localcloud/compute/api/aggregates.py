"""The API of aggregates: sets of hosts, which may be availability zones."""

from typing import Any

from localcloud.compute.api.call import Call, always
from localcloud.compute.model import fields, hosts
from localcloud.core.clock import micro
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError
from localcloud.web.permissions import Access


def _view(call: Call, aggregate: Document) -> Document:
    view = {
        "id": int(aggregate["id"]),
        "name": aggregate["name"],
        "availability_zone": aggregate["metadata"].get("availability_zone"),
        "hosts": aggregate["hosts"],
        "metadata": aggregate["metadata"],
        "created_at": micro(aggregate["created_at"]),
        "updated_at": micro(aggregate["updated_at"]),
        "deleted": False,
        "deleted_at": None,
    }
    return {**view, "uuid": aggregate["uuid"]} if call.version.since(41) else view


def _put(call: Call, aggregate: Document, **changes: Any) -> Document:
    changed = {**aggregate, **changes, "updated_at": call.state.now()}
    call.state.aggregates.put(changed)
    return {"aggregate": _view(call, changed)}


def _require_free_name(call: Call, name: str, own: str | None = None) -> None:
    for other in call.state.aggregates.values():
        if other["name"] == name and other["id"] != own:
            raise ConflictError(f"Aggregate {name} already exists.")


def _zone(body: dict[str, Any], metadata: dict[str, str]) -> dict[str, str]:
    if "availability_zone" not in body:
        return metadata
    zone = fields.optional_text(body, "availability_zone")
    rest = {k: v for k, v in metadata.items() if k != "availability_zone"}
    return {**rest, "availability_zone": zone} if zone else rest


async def list_aggregates(call: Call) -> Document:
    """Return the aggregates."""
    return {"aggregates": [_view(call, a) for a in call.state.aggregates.values()]}


async def create_aggregate(call: Call) -> Document:
    """Make an aggregate."""
    body = call.object("aggregate")
    name = fields.name(body)
    _require_free_name(call, name)
    number = call.state.next_number("aggregate")
    aggregate: Document = {
        "id": str(number),
        "uuid": hosts.uuid_of(f"aggregate/{number}"),
        "name": name,
        "metadata": _zone(body, {}),
        "hosts": [],
        "created_at": call.state.now(),
        "updated_at": None,
    }
    call.state.aggregates.put(aggregate)
    view = _view(call, aggregate)
    # Nova's response to a creation has neither of these members.
    del view["hosts"], view["metadata"]
    return {"aggregate": view}


async def show_aggregate(call: Call, aggregate: Document) -> Document:
    """Return one aggregate."""
    return {"aggregate": _view(call, aggregate)}


async def update_aggregate(call: Call, aggregate: Document) -> Document:
    """Change name or availability zone."""
    body = call.object("aggregate")
    fields.allowed(body, {"name", "availability_zone"}, "aggregate")
    name = fields.name(body) if "name" in body else aggregate["name"]
    _require_free_name(call, name, aggregate["id"])
    if not body.get("availability_zone", True):
        raise BadRequestError(f"Aggregate {name} does not support empty named availability zone.")
    return _put(call, aggregate, name=name, metadata=_zone(body, aggregate["metadata"]))


async def delete_aggregate(call: Call, aggregate: Document) -> None:
    """Forget an aggregate without hosts."""
    if aggregate["hosts"]:
        raise BadRequestError(f"Cannot remove aggregate {aggregate['id']}: it has hosts.")
    call.state.aggregates.delete(aggregate["id"])


async def act_on_aggregate(call: Call, aggregate: Document) -> Document:
    """Add or remove a host, or set metadata."""
    action, arguments = call.action("The body of an aggregate must have exactly one action.")
    if not isinstance(arguments, dict):
        raise BadRequestError(f"Invalid input for '{action}': it must be an object.")
    if action == "set_metadata":
        return _put(call, aggregate, metadata=_merged(aggregate, arguments))
    host = fields.text(arguments, "host")
    if action == "add_host":
        if host not in hosts.HOSTS:
            raise NotFoundError(f"Compute host {host} could not be found.")
        if host in aggregate["hosts"]:
            raise ConflictError(f"Aggregate {aggregate['id']} already has host {host}.")
        return _put(call, aggregate, hosts=[*aggregate["hosts"], host])
    if action == "remove_host":
        if host not in aggregate["hosts"]:
            raise NotFoundError(f"Aggregate {aggregate['id']} has no host {host}.")
        return _put(call, aggregate, hosts=[h for h in aggregate["hosts"] if h != host])
    raise BadRequestError(f"There is no such aggregate action: {action[:64]}")


def _merged(aggregate: Document, arguments: dict[str, Any]) -> dict[str, str]:
    given = fields.mapping(arguments, "metadata")
    # The API prescribes that null removes a key, and that other keys stay.
    removed = {k for k, v in given.items() if v is None}
    added = fields.metadata({k: v for k, v in given.items() if v is not None})
    remaining = {k: v for k, v in aggregate["metadata"].items() if k not in removed}
    return {**remaining, **added}


_ADMIN = Access.ADMIN
_ONE = "/os-aggregates/{aggregate_id}"
ENDPOINTS = (
    Endpoint("GET", "/os-aggregates", list_aggregates, _ADMIN),
    Endpoint("POST", "/os-aggregates", create_aggregate, _ADMIN),
    Endpoint("GET", _ONE, show_aggregate, _ADMIN),
    Endpoint("PUT", _ONE, update_aggregate, _ADMIN),
    Endpoint("DELETE", _ONE, delete_aggregate, _ADMIN, status=200),
    Endpoint("POST", f"{_ONE}/action", act_on_aggregate, _ADMIN),
    # Images need not be cached on request: all are at hand.
    Endpoint("POST", f"{_ONE}/images", always(None), _ADMIN, first=81, status=202),
)
