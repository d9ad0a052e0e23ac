"""The API of volume types: extra specs, encryption, and who may use them."""

from typing import Any
from uuid import uuid4

from localcloud.block_storage.api import fields
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.api.views import moment
from localcloud.block_storage.model import volume_types
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError
from localcloud.web.permissions import Access

_IDS = ("volume_type_id", "encryption_id")
_ENCRYPTION = ("provider", "control_location", "cipher", "key_size")


def _view(call: Call, kind: Document) -> Document:
    shown = kind["extra_specs"]
    if not call.context.is_admin:
        public = ("multiattach", "RESKEY:availability_zones", "replication_enabled")
        shown = {key: value for key, value in shown.items() if key in public}
    return {
        "id": kind["id"],
        "name": kind["name"],
        "description": kind["description"],
        "is_public": kind["is_public"],
        "os-volume-type-access:is_public": kind["is_public"],
        "extra_specs": shown,
    }


async def listed(call: Call) -> Document:
    """Return the types that the caller may use."""
    asked = call.query("is_public")
    found = [kind for kind in call.state.types.values() if volume_types.sees(call.context, kind)]
    if call.context.is_admin:
        if asked is None or asked.lower() in {"true", "1"}:
            found = [kind for kind in found if kind["is_public"]]
        elif asked.lower() in {"false", "0"}:
            found = [kind for kind in found if not kind["is_public"]]
    chosen, more = call.paged(found[::-1], "/types", "volume_types")
    return {"volume_types": [_view(call, kind) for kind in chosen], **more}


async def show(call: Call, kind: Document) -> Document:
    """Return one type."""
    view = _view(call, kind)
    if call.context.is_admin:
        view["qos_specs_id"] = kind["qos_specs_id"]
    return {"volume_type": view}


async def default(call: Call) -> Document:
    """Return the type of volumes that ask for none."""
    kind = volume_types.chosen(call.state, call.context, None)
    if kind is None:
        raise NotFoundError("Default volume type can not be found.")
    return {"volume_type": _view(call, kind)}


async def create(call: Call) -> Document:
    """Make a type."""
    names = ("name", "description", "extra_specs", "os-volume-type-access:is_public")
    body = call.object("volume_type", names)
    name = fields.name(body)
    if any(call.state.types.find(name=name)):
        raise ConflictError(f"Volume Type {name} already exists.")
    kind: Document = {
        "id": str(uuid4()),
        "name": name,
        "description": fields.text(body, "description"),
        "is_public": fields.boolean(body, "os-volume-type-access:is_public", True),
        "extra_specs": fields.texts(body.get("extra_specs"), "extra_specs"),
        "qos_specs_id": None,
        "encryption": None,
        "projects": [],
        "created_at": call.state.now(),
        "updated_at": None,
    }
    call.state.types.put(kind)
    return {"volume_type": _view(call, kind)}


async def change(call: Call, kind: Document) -> Document:
    """Change name, description or visibility of a type."""
    body = call.object("volume_type", ("name", "description", "is_public"))
    if not body:
        raise BadRequestError(
            "Specify volume type name, description, is_public or a combination thereof."
        )
    changes: dict[str, Any] = {}
    if body.get("name") is not None:
        changes["name"] = fields.name(body)
        namesakes = call.state.types.find(name=changes["name"])
        if any(each["id"] != kind["id"] for each in namesakes):
            raise ConflictError(f"Volume Type {changes['name']} already exists.")
    if "description" in body:
        changes["description"] = fields.text(body, "description")
    if body.get("is_public") is not None:
        changes["is_public"] = fields.boolean(body, "is_public", True)
    return {"volume_type": _view(call, _saved(call, kind, **changes))}


def _saved(call: Call, kind: Document, **changes: Any) -> Document:
    return call.state.change(call.state.types, kind["id"], **changes) or kind


async def delete(call: Call, kind: Document) -> None:
    """Delete a type that no volume has."""
    if volume_types.in_use(call.state, kind["id"]):
        raise BadRequestError("Target volume type is still in use.")
    if kind["name"] == volume_types.DEFAULT_TYPE:
        raise BadRequestError(
            f"The volume type {kind['id']} is the only volume type and cannot be deleted."
        )
    call.state.types.delete(kind["id"])


async def specs(call: Call, kind: Document) -> Document:
    """Return the extra specs of a type."""
    return {"extra_specs": _view(call, kind)["extra_specs"]}


async def add_specs(call: Call, kind: Document) -> Document:
    """Add extra specs to a type."""
    given = fields.texts(call.body().get("extra_specs"), "extra_specs")
    _saved(call, kind, extra_specs={**kind["extra_specs"], **given})
    return {"extra_specs": given}


async def spec(call: Call, kind: Document) -> Document:
    """Return one extra spec."""
    key = _known(call, kind)
    return {key: kind["extra_specs"][key]}


async def set_spec(call: Call, kind: Document) -> Document:
    """Set one extra spec."""
    given, key = fields.texts(call.body(), "extra_specs"), call.argument("key")
    if list(given) != [key]:
        raise BadRequestError("Request body and URI mismatch")
    _saved(call, kind, extra_specs={**kind["extra_specs"], **given})
    return given


async def delete_spec(call: Call, kind: Document) -> None:
    """Remove one extra spec."""
    key = _known(call, kind)
    specs = {name: value for name, value in kind["extra_specs"].items() if name != key}
    _saved(call, kind, extra_specs=specs)


def _known(call: Call, kind: Document) -> str:
    key = call.argument("key")
    if key not in kind["extra_specs"]:
        raise NotFoundError(f"Volume Type {kind['id']} has no extra specs with key {key}.")
    return key


async def encryption(call: Call, kind: Document) -> Document:
    """Return the encryption of volumes of a type; nothing if they are not encrypted."""
    settings = kind["encryption"]
    return {**settings, "created_at": moment(settings["created_at"])} if settings else {}


async def add_encryption(call: Call, kind: Document) -> Document:
    """Say how volumes of a type are to be encrypted."""
    body = call.object("encryption", _ENCRYPTION)
    if kind["encryption"] is not None:
        raise BadRequestError(f"Volume type encryption for type {kind['id']} already exists.")
    made = _encrypted(call, kind, body, {})
    return {"encryption": {name: made[name] for name in (*_IDS, *_ENCRYPTION)}}


async def set_encryption(call: Call, kind: Document) -> Document:
    """Change how volumes of a type are to be encrypted."""
    body, before = call.object("encryption", _ENCRYPTION), _encryption(call, kind)
    _encrypted(call, kind, body, before)
    return {"encryption": body}


def _encrypted(call: Call, kind: Document, body: Document, before: Document) -> Document:
    if volume_types.in_use(call.state, kind["id"]):
        raise BadRequestError("Cannot create encryption specs. Volume type in use.")
    settings = {**before, **body}
    fields.required(settings, "provider", "encryption")
    place = settings.get("control_location")
    if place not in {"front-end", "back-end"}:
        raise fields.refused(
            "control_location", place, f"'{place}' is not one of ['front-end', 'back-end']"
        )
    size = settings.get("key_size")
    made = {
        "volume_type_id": kind["id"],
        "encryption_id": before.get("encryption_id") or str(uuid4()),
        "provider": fields.text(settings, "provider"),
        "control_location": place,
        "cipher": fields.text(settings, "cipher"),
        "key_size": None if size is None else fields.number(size, "key_size"),
        "created_at": before.get("created_at") or call.state.now(),
        "updated_at": None,
        "deleted": False,
        "deleted_at": None,
    }
    _saved(call, kind, encryption=made)
    return made


def _encryption(call: Call, kind: Document) -> Document:
    encryption_id, found = call.argument("encryption_id"), kind["encryption"]
    if found is None or encryption_id not in {found["encryption_id"], "provider"}:
        raise NotFoundError(f"Volume type encryption for type {kind['id']} does not exist.")
    return dict(found)


async def delete_encryption(call: Call, kind: Document) -> None:
    """Have new volumes of a type not encrypted any more."""
    _encryption(call, kind)
    if volume_types.in_use(call.state, kind["id"]):
        raise BadRequestError("Cannot delete encryption specs. Volume type in use.")
    _saved(call, kind, encryption=None)


async def access(call: Call, kind: Document) -> Document:
    """Return the projects that may use a private type."""
    if kind["is_public"]:
        raise NotFoundError("Access list not available for public volume types.")
    return {
        "volume_type_access": [
            {"volume_type_id": kind["id"], "project_id": project} for project in kind["projects"]
        ]
    }


async def act(call: Call, kind: Document) -> None:
    """Let a project use a private type, or no longer."""
    name, given = call.action()
    project = str(fields.required(fields.mapping(given, name), "project", name))
    if name == "addProjectAccess":
        if kind["is_public"]:
            raise BadRequestError(
                "Invalid volume type: Type access modification is not applicable to public volume "
                "type."
            )
        if project in kind["projects"]:
            raise ConflictError(
                f"Volume type access for {kind['id']} / {project} combination already exists."
            )
        _saved(call, kind, projects=[*kind["projects"], project])
    elif name == "removeProjectAccess":
        if project not in kind["projects"]:
            raise NotFoundError(
                f"Volume type access not found for {kind['id']} / {project} combination."
            )
        _saved(call, kind, projects=[each for each in kind["projects"] if each != project])
    else:
        raise BadRequestError(f"There is no such action: {name}")


_TYPE, _SPECS = "/types/{type_id}", "/types/{type_id}/extra_specs"
_ADMIN = Access.ADMIN
ENDPOINTS = (
    Endpoint("GET", "/types", listed),
    Endpoint("GET", "/types/default", default),
    Endpoint("POST", "/types", create, _ADMIN),
    Endpoint("GET", _TYPE, show),
    Endpoint("PUT", _TYPE, change, _ADMIN),
    Endpoint("DELETE", _TYPE, delete, _ADMIN, status=202),
    Endpoint("GET", _SPECS, specs),
    Endpoint("POST", _SPECS, add_specs, _ADMIN),
    Endpoint("GET", f"{_SPECS}/{{key}}", spec),
    Endpoint("PUT", f"{_SPECS}/{{key}}", set_spec, _ADMIN),
    Endpoint("DELETE", f"{_SPECS}/{{key}}", delete_spec, _ADMIN, status=202),
    Endpoint("GET", f"{_TYPE}/encryption", encryption, _ADMIN),
    Endpoint("POST", f"{_TYPE}/encryption", add_encryption, _ADMIN),
    Endpoint("PUT", f"{_TYPE}/encryption/{{encryption_id}}", set_encryption, _ADMIN),
    Endpoint("DELETE", f"{_TYPE}/encryption/{{encryption_id}}", delete_encryption, _ADMIN,
             status=202),
    Endpoint("GET", f"{_TYPE}/os-volume-type-access", access, _ADMIN),
    Endpoint("POST", f"{_TYPE}/action", act, _ADMIN, status=202),
)  # fmt: skip
