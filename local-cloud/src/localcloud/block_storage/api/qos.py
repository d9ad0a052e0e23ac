"""The API of QoS specs: kept, shown and associated with types. Nothing measures them out here."""

from typing import Any
from uuid import uuid4

from localcloud.block_storage.api import fields
from localcloud.block_storage.api.call import Call
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError
from localcloud.web.permissions import Access

_CONSUMERS = ("front-end", "back-end", "both")


def _found(call: Call) -> Document:
    key = call.argument("qos_id")
    found = call.state.qos.get(key)
    if found is None:
        raise NotFoundError(f"No such QoS spec {key}.")
    return found


def _view(found: Document) -> Document:
    return {name: found[name] for name in ("id", "name", "consumer", "specs")}


async def listed(call: Call) -> Document:
    """Return all QoS specs; narrowed by name there are none, as in Cinder."""
    every = [] if call.query("name") is not None else list(call.state.qos.values())[::-1]
    found, more = call.paged(every, "/qos-specs", "qos_specs")
    return {"qos_specs": [_view(each) for each in found], **more}


async def show(call: Call) -> Document:
    """Return one."""
    found = _found(call)
    return {"qos_specs": _view(found), "links": call.links(f"/qos-specs/{found['id']}")}


async def create(call: Call) -> Document:
    """Make QoS specs."""
    body = call.object("qos_specs")
    name, given = fields.name(body), _specs(body)
    consumer = str(given.pop("consumer", "back-end"))
    _check(consumer)
    if any(call.state.qos.find(name=name)):
        raise ConflictError(f"QoS Specs {name} already exists.")
    made = {"id": str(uuid4()), "name": name, "consumer": consumer, "specs": given}
    call.state.qos.put(made)
    return {"qos_specs": _view(made), "links": call.links(f"/qos-specs/{made['id']}")}


def _specs(body: dict[str, Any]) -> dict[str, str]:
    texts = {key: str(value) for key, value in body.items() if key != "name"}
    return fields.texts(texts, "qos_specs")


def _check(consumer: str) -> None:
    if consumer not in _CONSUMERS:
        raise BadRequestError(
            f"Invalid qos specs: Valid consumer of QoS specs are: {list(_CONSUMERS)}"
        )


async def change(call: Call) -> Document:
    """Add to QoS specs."""
    found, given = _found(call), _specs(call.object("qos_specs"))
    consumer = str(given.pop("consumer", found["consumer"]))
    _check(consumer)
    changed = {**found, "consumer": consumer, "specs": {**found["specs"], **given}}
    call.state.qos.put(changed)
    return call.body()


async def delete(call: Call) -> None:
    """Delete QoS specs."""
    found = _found(call)
    users = _types(call, found["id"])
    if users and not call.flag("force"):
        raise BadRequestError("Qos specs still in use.")
    for kind in users:
        call.state.change(call.state.types, kind["id"], qos_specs_id=None)
    call.state.qos.delete(found["id"])


async def delete_keys(call: Call) -> None:
    """Remove some of them."""
    found, keys = _found(call), call.body().get("keys")
    if not isinstance(keys, list):
        raise fields.refused("keys", keys, f"{keys!r} is not of type 'array'")
    missing = [key for key in keys if key not in found["specs"]]
    if missing:
        raise NotFoundError(f"QoS spec {found['id']} has no spec with key {missing[0]}.")
    specs = {key: value for key, value in found["specs"].items() if key not in keys}
    call.state.qos.put({**found, "specs": specs})


def _types(call: Call, qos_id: str) -> list[Document]:
    return [kind for kind in call.state.types.values() if kind["qos_specs_id"] == qos_id]


async def associations(call: Call) -> Document:
    """Return the types that have these QoS specs."""
    return {
        "qos_associations": [
            {"association_type": "volume_type", "name": kind["name"], "id": kind["id"]}
            for kind in _types(call, _found(call)["id"])
        ]
    }


def _type(call: Call) -> Document:
    key = call.query("vol_type_id")
    kind = call.state.types.get(key or "")
    if kind is None:
        raise NotFoundError(f"Volume type {key} could not be found.")
    return kind


async def associate(call: Call) -> None:
    """Give a type these QoS specs."""
    found, kind = _found(call), _type(call)
    if kind["qos_specs_id"] not in (None, found["id"]):
        raise BadRequestError(
            f"Type {kind['id']} is already associated with another qos specs: "
            f"{kind['qos_specs_id']}"
        )
    call.state.change(call.state.types, kind["id"], qos_specs_id=found["id"])


async def disassociate(call: Call) -> None:
    """Take these QoS specs away from a type."""
    found, kind = _found(call), _type(call)
    if kind["qos_specs_id"] == found["id"]:
        call.state.change(call.state.types, kind["id"], qos_specs_id=None)


async def disassociate_all(call: Call) -> None:
    """Take these QoS specs away from all types."""
    for kind in _types(call, _found(call)["id"]):
        call.state.change(call.state.types, kind["id"], qos_specs_id=None)


_QOS, _ADMIN = "/qos-specs/{qos_id}", Access.ADMIN
ENDPOINTS = (
    Endpoint("GET", "/qos-specs", listed, _ADMIN),
    Endpoint("POST", "/qos-specs", create, _ADMIN),
    Endpoint("GET", _QOS, show, _ADMIN),
    Endpoint("PUT", _QOS, change, _ADMIN),
    Endpoint("DELETE", _QOS, delete, _ADMIN, status=202),
    Endpoint("PUT", f"{_QOS}/delete_keys", delete_keys, _ADMIN, status=202),
    Endpoint("GET", f"{_QOS}/associations", associations, _ADMIN),
    Endpoint("GET", f"{_QOS}/associate", associate, _ADMIN, status=202),
    Endpoint("GET", f"{_QOS}/disassociate", disassociate, _ADMIN, status=202),
    Endpoint("GET", f"{_QOS}/disassociate_all", disassociate_all, _ADMIN, status=202),
)
