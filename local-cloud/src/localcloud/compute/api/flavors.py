"""The API of flavors, their extra specs and the projects that may use private ones."""

import re
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import fields as values
from localcloud.compute.model.flavors import create, visible
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError, boolean, fields
from localcloud.web.permissions import Access

_SPEC_KEY = re.compile(r"[a-zA-Z0-9-_:. ]{1,255}")
_FLAVOR_ID = re.compile(r"[a-zA-Z0-9. _-]{1,255}")


def _view(call: Call, flavor: Document) -> Document:
    view: Document = {
        "id": flavor["id"],
        "name": flavor["name"],
        "ram": flavor["ram"],
        "disk": flavor["disk"],
        "vcpus": flavor["vcpus"],
        # Before 2.75, a flavor without swap has an empty string here.
        "swap": flavor["swap"] or (0 if call.version.since(75) else ""),
        "OS-FLV-EXT-DATA:ephemeral": flavor["ephemeral"],
        "OS-FLV-DISABLED:disabled": False,
        "os-flavor-access:is_public": flavor["is_public"],
        "rxtx_factor": flavor["rxtx_factor"],
        "links": call.links(f"/flavors/{flavor['id']}"),
    }
    if call.version.since(55):
        view["description"] = flavor["description"]
    if call.version.since(61):
        view["extra_specs"] = flavor["extra_specs"]
    return view


def _requested(call: Call) -> list[Document]:
    flavors = [f for f in call.state.flavors.values() if visible(f, call.context)]
    asked = call.query("is_public")
    # Only administrators can filter by `is_public`; Nova ignores the filter of other users.
    if not call.context.is_admin:
        pass
    elif asked is None:
        flavors = [f for f in flavors if f["is_public"]]
    # With `none`, the list has public and private flavors.
    elif asked.lower() != "none":
        flavors = [f for f in flavors if f["is_public"] == boolean(asked)]
    for key, field in (("minRam", "ram"), ("minDisk", "disk")):
        least = call.query(key)
        if least is not None:
            if not least.isdecimal():
                raise BadRequestError(f"Invalid {key} filter [{least}].")
            flavors = [f for f in flavors if f[field] >= int(least)]
    return sorted(flavors, key=lambda f: str(f["id"]))


async def list_flavors(call: Call) -> Document:
    """Return the ids and names of the flavors."""
    flavors, more = call.paged(_requested(call), "flavors_links", "/flavors")
    names = ("id", "name", "links", "description")
    return {"flavors": [fields(_view(call, f), names) for f in flavors], **more}


async def list_detailed(call: Call) -> Document:
    """Return the flavors as a whole."""
    flavors, more = call.paged(_requested(call), "flavors_links", "/flavors/detail")
    return {"flavors": [_view(call, f) for f in flavors], **more}


async def show_flavor(call: Call, flavor: Document) -> Document:
    """Return one flavor."""
    return {"flavor": _view(call, flavor)}


async def create_flavor(call: Call) -> Document:
    """Make a flavor."""
    body = call.object("flavor")
    key = body.get("id")
    if key is not None and not _FLAVOR_ID.fullmatch(str(key)):
        raise BadRequestError("Invalid input for 'id': it has characters that are not allowed.")
    document: dict[str, Any] = {
        "name": values.name(body),
        "ram": values.integer(body, "ram", least=1),
        "vcpus": values.integer(body, "vcpus", least=1),
        "disk": values.integer(body, "disk", 0),
        "ephemeral": values.integer(body, "OS-FLV-EXT-DATA:ephemeral", 0),
        "swap": values.integer({"swap": body.get("swap") or 0}, "swap"),
        "rxtx_factor": _factor(body.get("rxtx_factor", 1.0)),
        "is_public": values.boolean(body, "os-flavor-access:is_public", True),
    }
    if call.version.since(55):
        document["description"] = values.optional_text(body, "description", 65535)
    if not document["is_public"]:
        document["access"] = [call.context.require_project()]
    flavor = create(call.state, None if key in {None, "auto"} else str(key).strip(), document)
    return {"flavor": _view(call, flavor)}


def _factor(value: Any) -> float:
    try:
        factor = float(value)
    except (TypeError, ValueError):
        raise BadRequestError("Invalid input for 'rxtx_factor': it must be a number.") from None
    if not 0 < factor < 1e38:
        raise BadRequestError("Invalid input for 'rxtx_factor': it must be greater than 0.")
    return factor


async def update_flavor(call: Call, flavor: Document) -> Document:
    """Change the description, which is all that can change."""
    body = call.object("flavor")
    values.allowed(body, {"description"}, "flavor")
    changed = {**flavor, "description": values.optional_text(body, "description", 65535)}
    call.state.flavors.put(changed)
    return {"flavor": _view(call, changed)}


async def delete_flavor(call: Call, flavor: Document) -> None:
    """Forget a flavor; servers that have it keep their sizes."""
    call.state.flavors.delete(flavor["id"])


async def list_access(call: Call, flavor: Document) -> Document:
    """Return the projects that may use a private flavor."""
    if flavor["is_public"]:
        raise NotFoundError("Access list not available for public flavors.")
    return {"flavor_access": _access_view(flavor)}


def _access_view(flavor: Document) -> list[Document]:
    return [{"flavor_id": flavor["id"], "tenant_id": p} for p in flavor["access"]]


async def act_on_flavor(call: Call, flavor: Document) -> Document:
    """Add or remove a project that may use a private flavor."""
    action, arguments = call.action("The body of a flavor must have exactly one action.")
    if not isinstance(arguments, dict) or action not in {"addTenantAccess", "removeTenantAccess"}:
        raise BadRequestError(f"There is no such flavor action: {action}")
    project = values.text(arguments, "tenant")
    if flavor["is_public"]:
        raise ConflictError("The access of a public flavor cannot be changed.")
    access = list(flavor["access"])
    if action == "addTenantAccess":
        if project in access:
            raise ConflictError(f"Flavor access already exists for project {project}.")
        access.append(project)
    elif project in access:
        access.remove(project)
    else:
        raise NotFoundError(f"Flavor access not found for project {project}.")
    changed = {**flavor, "access": access}
    call.state.flavors.put(changed)
    return {"flavor_access": _access_view(changed)}


async def list_specs(call: Call, flavor: Document) -> Document:
    """Return the extra specs."""
    return {"extra_specs": flavor["extra_specs"]}


async def create_specs(call: Call, flavor: Document) -> Document:
    """Add extra specs."""
    specs = _specs(call.object("extra_specs"))
    _put_specs(call, flavor, {**flavor["extra_specs"], **specs})
    return {"extra_specs": specs}


def _specs(body: dict[str, Any]) -> dict[str, str]:
    for key, value in body.items():
        if not _SPEC_KEY.fullmatch(key) or not isinstance(value, str | int | float):
            raise BadRequestError(f"Invalid input for 'extra_specs': '{key[:64]}' is not allowed.")
    return {k: str(v)[:255] for k, v in body.items()}


def _put_specs(call: Call, flavor: Document, specs: dict[str, str]) -> None:
    call.state.flavors.put({**flavor, "extra_specs": specs})


def _spec(flavor: Document, key: str) -> str:
    if key not in flavor["extra_specs"]:
        raise NotFoundError(f"Flavor {flavor['id']} has no extra specs with key {key}.")
    return str(flavor["extra_specs"][key])


async def show_spec(call: Call, flavor: Document) -> Document:
    """Return one extra spec."""
    key = call.argument("key")
    return {key: _spec(flavor, key)}


async def update_spec(call: Call, flavor: Document) -> Document:
    """Set one extra spec."""
    key = call.argument("key")
    specs = _specs(call.body())
    if set(specs) != {key}:
        raise BadRequestError("The body must have the key of the path and nothing else.")
    _put_specs(call, flavor, {**flavor["extra_specs"], **specs})
    return dict(specs)


async def delete_spec(call: Call, flavor: Document) -> None:
    """Remove one extra spec."""
    key = call.argument("key")
    _spec(flavor, key)
    _put_specs(call, flavor, {k: v for k, v in flavor["extra_specs"].items() if k != key})


_ADMIN = Access.ADMIN
ENDPOINTS = (
    Endpoint("GET", "/flavors", list_flavors),
    Endpoint("POST", "/flavors", create_flavor, _ADMIN),
    Endpoint("GET", "/flavors/detail", list_detailed),
    Endpoint("GET", "/flavors/{flavor_id}", show_flavor),
    Endpoint("PUT", "/flavors/{flavor_id}", update_flavor, _ADMIN, first=55),
    Endpoint("DELETE", "/flavors/{flavor_id}", delete_flavor, _ADMIN, status=202),
    Endpoint("POST", "/flavors/{flavor_id}/action", act_on_flavor, _ADMIN),
    Endpoint("GET", "/flavors/{flavor_id}/os-flavor-access", list_access, _ADMIN),
    Endpoint("GET", "/flavors/{flavor_id}/os-extra_specs", list_specs),
    Endpoint("POST", "/flavors/{flavor_id}/os-extra_specs", create_specs, _ADMIN),
    Endpoint("GET", "/flavors/{flavor_id}/os-extra_specs/{key}", show_spec),
    Endpoint("PUT", "/flavors/{flavor_id}/os-extra_specs/{key}", update_spec, _ADMIN),
    Endpoint(
        "DELETE", "/flavors/{flavor_id}/os-extra_specs/{key}", delete_spec, _ADMIN, status=200
    ),
)
