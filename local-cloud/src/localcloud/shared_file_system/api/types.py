"""The API of share types: extra specs, and which projects may use those that are not public."""

from typing import Any

from localcloud.core.store import Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call
from localcloud.shared_file_system.model import share_types
from localcloud.shared_file_system.model.state import missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError, ForbiddenError
from localcloud.web.permissions import Access

_PUBLIC, _PUBLIC_ONCE = "share_type_access:is_public", "os-share-type-access:is_public"
_REQUIRED = share_types.SERVERS
_MOST_SPECS = 128


def _public_name(call: Call) -> str:
    return _PUBLIC if call.version.since(7) else _PUBLIC_ONCE


def _view(call: Call, kind: Document) -> Document:
    specs: Document = dict(kind["extra_specs"])
    if not call.context.is_admin:
        shown = (share_types.SERVERS, share_types.SNAPSHOTS, *share_types.CAPABILITIES)
        specs = {name: specs[name] for name in shown if name in specs}
        for name, minor in share_types.CAPABILITIES.items():
            if call.version.since(minor):
                specs.setdefault(name, False)
    view: Document = {
        "id": kind["id"],
        "name": kind["name"],
        "extra_specs": specs,
        "required_extra_specs": {_REQUIRED: kind["extra_specs"][_REQUIRED]},
        _public_name(call): kind["is_public"],
    }
    if call.version.since(41):
        view["description"] = kind["description"]
    if call.version.since(46):
        view["is_default"] = kind["name"] == share_types.DEFAULT
    return view


def _single(call: Call, kind: Document) -> Document:
    view = _view(call, kind)
    return {"volume_type": view, "share_type": view}


async def listed(call: Call) -> Document:
    """Return the types that the caller may use."""
    known = [kind for kind in call.state.types.values() if share_types.sees(call.context, kind)]
    public = call.optional_flag("is_public")
    if public is not None:
        known = [kind for kind in known if kind["is_public"] is public]
    elif call.context.is_admin and call.query("is_public") is None:
        project = call.context.project_id
        known = [kind for kind in known if kind["is_public"] or project in kind["projects"]]
    views = [_view(call, kind) for kind in call.having(known, "extra_specs")]
    return {"volume_types": views, "share_types": views}


async def show(call: Call, kind: Document) -> Document:
    """Return one type, by id or name."""
    return _single(call, kind)


async def default(call: Call) -> Document:
    """Return the type of shares that ask for none."""
    return _single(call, share_types.find(call.state, call.context, share_types.DEFAULT))


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value.strip()) <= fields.LONGEST:
        raise BadRequestError("Type name or description is not valid.")
    return value.strip()


def _description(value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) > fields.LONGEST):
        raise BadRequestError("Type name or description is not valid.")
    return value


def _specs(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadRequestError("Malformed request body")
    known = {str(key): str(item) for key, item in value.items()}
    for key, item in known.items():
        if not 0 < len(key) <= fields.LONGEST or len(item) > fields.LONGEST:
            raise BadRequestError(f"Invalid extra_spec: {key[: fields.LONGEST]}: {item[:40]}")
    if len(known) > _MOST_SPECS:
        raise BadRequestError(f"A share type can have {_MOST_SPECS} extra specs.")
    return known


def _check_free(call: Call, name: str, type_id: str | None = None) -> None:
    if any(kind["id"] != type_id for kind in call.state.types.find(name=name)):
        raise ConflictError(f"Share Type {name} already exists.")


async def create(call: Call) -> Document:
    """Make a type."""
    body = call.body()
    given = body.get("share_type", body.get("volume_type"))
    given = fields.wrapped({"share_type": given}, "share_type")
    specs = _specs(given.get("extra_specs") or {})
    if _REQUIRED not in specs:
        raise BadRequestError(
            f"Invalid extra_spec: Required extra specs '{_REQUIRED}' not specified."
        )
    if specs[_REQUIRED].strip().lower() not in (
        "true",
        "false",
        "1",
        "0",
        "<is> true",
        "<is> false",
    ):
        raise BadRequestError(
            f"Invalid extra_spec: Value of required extra_spec {_REQUIRED} is not valid."
        )
    share_types.check(specs)
    if not call.version.since(24):
        specs.setdefault(share_types.SNAPSHOTS, "True")
    name = _name(given.get("name"))
    _check_free(call, name)
    kind: Document = {
        "id": call.state.new_id(),
        "name": name,
        "description": _description(given.get("description")) if call.version.since(41) else None,
        "is_public": fields.flag(given, _public_name(call), True),
        "extra_specs": specs,
        "projects": [],
        "created_at": call.state.now(),
        "updated_at": None,
    }
    call.state.types.put(kind)
    return _single(call, kind)


async def change(call: Call, kind: Document) -> Document:
    """Change name, description or who may use a type."""
    given = call.object("share_type")
    changes: Document = {}
    if given.get("name") is not None:
        changes["name"] = _name(given["name"])
        _check_free(call, changes["name"], kind["id"])
    if "description" in given:
        changes["description"] = _description(given["description"])
    if _PUBLIC in given:
        changes["is_public"] = fields.flag(given, _PUBLIC, True)
    if not changes:
        raise BadRequestError(
            f"Specify share type name, description, {_PUBLIC} or a combination thereof."
        )
    return _single(call, _saved(call, kind, **changes))


def _saved(call: Call, kind: Document, **changes: Any) -> Document:
    return call.state.change(call.state.types, kind["id"], **changes) or kind


async def delete(call: Call, kind: Document) -> None:
    """Delete a type that no share has."""
    if share_types.in_use(call.state, kind["id"]):
        raise BadRequestError("Target share type is still in use.")
    call.state.types.delete(kind["id"])


async def specs(call: Call, kind: Document) -> Document:
    """Return the extra specs of a type."""
    return {"extra_specs": kind["extra_specs"]}


async def add_specs(call: Call, kind: Document) -> Document:
    """Add extra specs to a type."""
    given = _specs(call.body().get("extra_specs"))
    share_types.check(given)
    _saved(call, kind, extra_specs=_specs({**kind["extra_specs"], **given}))
    return {"extra_specs": given}


async def spec(call: Call, kind: Document) -> Document:
    """Return one extra spec."""
    key = _known(call, kind)
    return {key: kind["extra_specs"][key]}


async def set_spec(call: Call, kind: Document) -> Document:
    """Set one extra spec."""
    given, key = _specs(call.body()), call.argument("key")
    if list(given) != [key]:
        raise BadRequestError("Request body and URI mismatch")
    share_types.check(given)
    _saved(call, kind, extra_specs=_specs({**kind["extra_specs"], **given}))
    return given


async def delete_spec(call: Call, kind: Document) -> None:
    """Remove one extra spec."""
    key = _known(call, kind)
    if key == _REQUIRED or (key == share_types.SNAPSHOTS and not call.version.since(24)):
        raise ForbiddenError(f"Extra spec '{key}' can't be deleted.")
    left = {name: value for name, value in kind["extra_specs"].items() if name != key}
    _saved(call, kind, extra_specs=left)


def _known(call: Call, kind: Document) -> str:
    key = call.argument("key")
    if key not in kind["extra_specs"]:
        raise missing(f"Share Type {kind['id']} has no extra specs with key {key}.")
    return key


async def access(call: Call, kind: Document) -> Document:
    """Return the projects that may use a private type."""
    if kind["is_public"]:
        raise missing("Access list not available for public share types.")
    return {
        "share_type_access": [
            {"share_type_id": kind["id"], "project_id": project} for project in kind["projects"]
        ]
    }


async def act(call: Call, kind: Document) -> None:
    """Let a project use a private type, or no longer."""
    name, given = call.action()
    project = given.get("project")
    if not isinstance(project, str) or not 0 < len(project) <= fields.LONGEST:
        raise BadRequestError("Invalid input received: project must be given.")
    if name == "addProjectAccess":
        if kind["is_public"]:
            raise ConflictError("Type access modification is not applicable to public share type.")
        if project in kind["projects"]:
            raise ConflictError(
                f"Share type access for {kind['id']} / {project} combination already exists."
            )
        _saved(call, kind, projects=[*kind["projects"], project])
    elif name == "removeProjectAccess":
        if project not in kind["projects"]:
            raise missing(f"Share type access not found for {kind['id']} / {project} combination.")
        _saved(call, kind, projects=[each for each in kind["projects"] if each != project])
    else:
        raise BadRequestError(f"There is no such action: {name}")


_TYPES, _ONE, _SPECS = "/types", "/types/{type_id}", "/types/{type_id}/extra_specs"
_ADMIN = Access.ADMIN
ENDPOINTS = (
    Endpoint("GET", _TYPES, listed),
    Endpoint("GET", f"{_TYPES}/default", default),
    Endpoint("POST", _TYPES, create, _ADMIN),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change, _ADMIN, first=50),
    Endpoint("DELETE", _ONE, delete, _ADMIN, status=202),
    Endpoint("GET", _SPECS, specs, _ADMIN),
    Endpoint("POST", _SPECS, add_specs, _ADMIN),
    Endpoint("GET", f"{_SPECS}/{{key}}", spec, _ADMIN),
    Endpoint("PUT", f"{_SPECS}/{{key}}", set_spec, _ADMIN),
    Endpoint("DELETE", f"{_SPECS}/{{key}}", delete_spec, _ADMIN, status=202),
    Endpoint("GET", f"{_ONE}/share_type_access", access, _ADMIN, first=7),
    Endpoint("GET", f"{_ONE}/os-share-type-access", access, _ADMIN, last=6),
    Endpoint("POST", f"{_ONE}/action", act, _ADMIN, status=202),
)
