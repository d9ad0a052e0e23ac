"""Flavors: the sizes that servers have, who may use them, and the ones that every cloud has."""

from typing import Any
from uuid import uuid4

from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError, RequestContext

# Id, name, memory in MiB, processors, disk in GiB.
_FIRST = (
    ("42", "m1.nano", 64, 1, 1),
    ("1", "m1.tiny", 256, 1, 1),
    ("2", "m1.small", 512, 1, 10),
    ("3", "m1.medium", 1024, 2, 20),
    ("4", "m1.large", 2048, 4, 40),
    ("5", "m1.xlarge", 4096, 8, 80),
    ("84", "m1.micro", 128, 1, 1),
    ("c1", "cirros256", 256, 1, 1),
    ("d1", "ds512M", 512, 1, 5),
    ("d2", "ds1G", 1024, 1, 10),
    ("d3", "ds2G", 2048, 2, 10),
    ("d4", "ds4G", 4096, 4, 20),
)


def bootstrap(state: State) -> None:
    """Make the first flavors in a cloud that never had any."""
    if state.next_number("flavor_bootstrap") > 1:
        return
    for key, name, ram, vcpus, disk in _FIRST:
        state.flavors.put(_document(key, {"name": name, "ram": ram, "vcpus": vcpus, "disk": disk}))


def _document(key: str, values: dict[str, Any]) -> Document:
    defaults: Document = {
        "description": None,
        "ephemeral": 0,
        "swap": 0,
        "rxtx_factor": 1.0,
        "is_public": True,
        "extra_specs": {},
        "access": [],
    }
    return {"id": key, **defaults, **values}


def visible(flavor: Document, context: RequestContext) -> bool:
    """Return whether the caller may use and see the flavor."""
    return bool(flavor["is_public"] or context.is_admin or context.project_id in flavor["access"])


def find(state: State, context: RequestContext, key: str) -> Document:
    """Return a flavor by id; raises :class:`NotFoundError`, also for flavors of others."""
    flavor = state.flavors.get(key)
    if flavor is None or not visible(flavor, context):
        raise NotFoundError(f"Flavor {key} could not be found.")
    return flavor


def chosen(state: State, context: RequestContext, key: str) -> Document:
    """Return the flavor that a body names; raises :class:`BadRequestError` for an unknown one."""
    try:
        return find(state, context, key)
    except NotFoundError as error:
        raise BadRequestError(error.message) from error


def create(state: State, key: str | None, values: dict[str, Any]) -> Document:
    """Make a flavor; ids and names are unique."""
    flavor = _document(key or str(uuid4()), values)
    if flavor["id"] in state.flavors:
        raise ConflictError(f"Flavor with ID {flavor['id']} already exists.")
    if next(state.flavors.find(name=flavor["name"]), None) is not None:
        raise ConflictError(f"Flavor with name {flavor['name']} already exists.")
    state.flavors.put(flavor)
    return flavor


def embedded(flavor: Document) -> Document:
    """Return the copy of its flavor that a server keeps, because the flavor may be deleted."""
    fields = ("id", "name", "ram", "vcpus", "disk", "ephemeral", "swap")
    return {**{k: flavor[k] for k in fields}, "extra_specs": dict(flavor["extra_specs"])}
