"""Types of volumes: who may use them, and which one a new volume has."""

from localcloud.block_storage.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import NotFoundError, RequestContext

# The name of the type that volumes have which ask for none; every cloud has it.
DEFAULT_TYPE = "__DEFAULT__"
_SHARED = "<is> true"


def bootstrap(state: State) -> None:
    """Make the default type, where there is no type of that name."""
    if not any(state.types.find(name=DEFAULT_TYPE)):
        state.types.put(
            {
                "id": "5f1c7d2a-0f51-4b6e-9d0e-7a8f2f5b8a10",
                "name": DEFAULT_TYPE,
                "description": "Default Volume Type",
                "is_public": True,
                "extra_specs": {},
                "qos_specs_id": None,
                "encryption": None,
                "projects": [],
                "created_at": state.now(),
                "updated_at": None,
            }
        )


def sees(who: RequestContext, kind: Document) -> bool:
    """Return whether the caller may use a type."""
    return bool(who.is_admin or kind["is_public"] or who.project_id in kind["projects"])


def find(state: State, who: RequestContext, type_id: str) -> Document:
    """Return a type by its id; raises NotFoundError."""
    kind = state.types.get(type_id)
    if kind is None or not sees(who, kind):
        raise NotFoundError(f"Volume type {type_id} could not be found.")
    return kind


def named(state: State, who: RequestContext, name: str) -> Document:
    """Return a type by its id or name; raises NotFoundError."""
    kind = state.types.get(name) or next(state.types.find(name=name), None)
    if kind is None or not sees(who, kind):
        raise NotFoundError(f"Volume type with name {name} could not be found.")
    return kind


def chosen(state: State, who: RequestContext, name: str | None) -> Document | None:
    """Return the type of a new volume that asks for this one, or for none."""
    if name:
        return named(state, who, name)
    return next(state.types.find(name=DEFAULT_TYPE), None)


def is_shared(kind: Document | None) -> bool:
    """Return whether volumes of a type can be attached to several servers."""
    specs = {} if kind is None else kind["extra_specs"]
    return str(specs.get("multiattach", "")).lower() == _SHARED


def in_use(state: State, type_id: str) -> bool:
    """Return whether volumes or snapshots of a type exist."""
    return any(
        found["volume_type_id"] == type_id
        for collection in (state.volumes, state.snapshots)
        for found in collection.values()
    )
