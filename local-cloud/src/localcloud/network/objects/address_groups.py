"""Address groups: lists of prefixes that rules name as their remote end."""

from localcloud.core.store import Document
from localcloud.network.errors import conflict
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.objects import security_groups
from localcloud.web.http import RequestContext

KIND = "address_group"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a group."""
    quotas.require(state, KIND, values["project_id"])
    return state.create(KIND, values)


def update(state: State, context: RequestContext, group: Document, changes: Document) -> Document:
    """Change a group; the rules that name it follow its addresses."""
    if "addresses" in changes:
        for rule in state.all("security_group_rule").find(remote_address_group_id=group["id"]):
            security_groups.affect(state, rule["security_group_id"])
    return state.update(KIND, group, changes)


def delete(state: State, context: RequestContext, group: Document) -> None:
    """Remove a group; raises ApiError while rules name it."""
    for rule in state.all("security_group_rule").find(remote_address_group_id=group["id"]):
        raise conflict("AddressGroupInUse", f"Rule {rule['id']} names address group {group['id']}.")
    state.delete(KIND, group)
