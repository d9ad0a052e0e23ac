"""Address groups: lists of prefixes that rules name as their remote end."""

from typing import Any

from localcloud.http import RequestContext
from localcloud.network import checks, quotas, security_groups
from localcloud.network.errors import conflict, invalid, malformed
from localcloud.network.state import State
from localcloud.network.visibility import is_shared, require_owner
from localcloud.store import Document

KIND = "address_group"
_prefixes = checks.list_of(checks.prefix)


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a group."""
    quotas.require(state, KIND, values["project_id"])
    return state.create(KIND, values)


def update(state: State, context: RequestContext, group: Document, changes: Document) -> Document:
    """Change name or description of a group."""
    require_owner(context, group, "update_address_group")
    return state.update(KIND, group, changes)


def delete(state: State, context: RequestContext, group: Document) -> None:
    """Remove a group; raises ApiError while rules name it."""
    require_owner(context, group, "delete_address_group")
    for rule in state.all("security_group_rule").find(remote_address_group_id=group["id"]):
        raise conflict("AddressGroupInUse", f"Rule {rule['id']} names address group {group['id']}.")
    state.delete(KIND, group)


def view(state: State, context: RequestContext, group: Document) -> Document:
    """Return what the API shows beyond the document."""
    return {"shared": is_shared(state, KIND, group, context.project_id)}


def _named(body: Any) -> list[str]:
    if not isinstance(body, dict) or "addresses" not in body:
        raise malformed("The body must have 'addresses'.")
    try:
        found: list[str] = _prefixes(body["addresses"])
    except ValueError as error:
        raise invalid(f"Invalid value for addresses: {error}.") from None
    return found


def _put(state: State, group: Document, addresses: list[str]) -> Document:
    changed = state.update(KIND, group, {"addresses": addresses})
    for rule in state.all("security_group_rule").find(remote_address_group_id=group["id"]):
        security_groups.affect(state, rule["security_group_id"])
    return changed


def add_addresses(state: State, context: RequestContext, group: Document, body: Any) -> Document:
    """Add the prefixes of a body to a group."""
    require_owner(context, group, "update_address_group")
    return _put(state, group, list(dict.fromkeys([*group["addresses"], *_named(body)])))


def remove_addresses(state: State, context: RequestContext, group: Document, body: Any) -> Document:
    """Take the prefixes of a body out of a group."""
    require_owner(context, group, "update_address_group")
    gone = _named(body)
    return _put(state, group, [one for one in group["addresses"] if one not in gone])
