"""Share types: their visibility, their capabilities, and the type of a new share."""

from collections.abc import Mapping

from localcloud.core.store import Document
from localcloud.shared_file_system.model.state import State, missing
from localcloud.web.http import BadRequestError, RequestContext

DEFAULT = "default"  # the name of the type of shares that ask for none
SERVERS = "driver_handles_share_servers"
SNAPSHOTS = "snapshot_support"
# What a type may promise besides snapshots, and the minor version that shows it.
CAPABILITIES = {
    "create_share_from_snapshot_support": 24,
    "revert_to_snapshot_support": 27,
    "mount_snapshot_support": 32,
    "snapshot_inherit_share_access_support": 99,
}
_BOOLEANS = (SERVERS, SNAPSHOTS, *CAPABILITIES)
_TRUE = frozenset({"true", "1", "t", "yes", "y", "on", "<is> true"})
_FALSE = frozenset({"false", "0", "f", "no", "n", "off", "<is> false"})
# What else the back ends have, by the names under which types ask for it.
_OFFERED = {
    "share_backend_name": frozenset({"local", "servers"}),
    "storage_protocol": frozenset({"NFS_CIFS_CEPHFS"}),
    "vendor_name": frozenset({"localcloud"}),
    "thin_provisioning": frozenset({"true", "<is> true"}),
    "availability_zones": frozenset({"nova"}),
}


def bootstrap(state: State) -> None:
    """Make the types that a new cloud has: one for each back end."""
    if len(state.types):
        return
    traits = dict.fromkeys((SNAPSHOTS, *list(CAPABILITIES)[:3]), "True")
    for name, servers, type_id in (
        (DEFAULT, "False", "0a8f3c52-6c0b-4d4e-9d6b-0f3f6a1c7e01"),
        ("dhss_true", "True", "0a8f3c52-6c0b-4d4e-9d6b-0f3f6a1c7e02"),
    ):
        state.types.put(
            {
                "id": type_id,
                "name": name,
                "description": None,
                "is_public": True,
                "extra_specs": {SERVERS: servers, **traits},
                "projects": [],
                "created_at": state.now(),
                "updated_at": None,
            }
        )


def sees(who: RequestContext, kind: Document) -> bool:
    """Return whether the caller may use a type."""
    return bool(who.is_admin or kind["is_public"] or who.project_id in kind["projects"])


def find(state: State, who: RequestContext, name: str) -> Document:
    """Return a type by its id or name, ``default`` for the default one; raises NotFoundError."""
    kind = state.types.get(name) or next(state.types.find(name=name), None)
    if kind is None or not sees(who, kind):
        raise missing("Share type not found.")
    return kind


def truth(specs: Mapping[str, str], name: str) -> bool:
    """Return whether a type promises something."""
    return str(specs.get(name, "")).strip().lower() in _TRUE


def check(specs: Mapping[str, str]) -> None:
    """Raise BadRequestError for values that these extra specs cannot have."""
    for name in _BOOLEANS:
        if name in specs and specs[name].strip().lower() not in _TRUE | _FALSE:
            raise BadRequestError(f"Invalid extra_spec: {name}: {specs[name]}")


def is_served(specs: Mapping[str, str]) -> bool:
    """Return whether a back end fits a type; the scheduler ignores scoped specs."""
    for name, value in specs.items():
        if name in _BOOLEANS or ":" in name:
            continue
        if name not in _OFFERED or str(value).lower() not in {o.lower() for o in _OFFERED[name]}:
            return False
    return True


def in_use(state: State, type_id: str) -> bool:
    """Return whether shares of a type exist."""
    return any(share["share_type_id"] == type_id for share in state.shares.values())
