"""Messages to users about work that failed after its response."""

from localcloud.core.store import Document
from localcloud.shared_file_system.model.state import State

_KEPT = 200  # messages of a project; the oldest go
_DAYS = 30
ACTIONS = {
    "001": "allocate host",
    "002": "create",
    "008": "extend",
    "009": "shrink",
    "010": "update access rules",
}
DETAILS = {
    "001": "An unknown error occurred.",
    "003": "Driver does not expect share-network to be provided with current configuration.",
    "004": (
        "Could not find an existing share server or allocate one on the share network provided. "
        "You may use a different share network, or verify the network details in the share network "
        "and retry your request. If this doesn't work, contact your administrator to troubleshoot "
        "issues with your network."
    ),
    "008": (
        "No storage could be allocated for this share request, Capabilities filter didn't succeed."
    ),
    "018": (
        "Share Driver refused to shrink the share. The size to be shrunk is smaller than the "
        "current used space. The share status has been set to available. Please select a size "
        "greater than the current used space."
    ),
    "021": (
        "Failed to grant access to client. The access level or type may be unsupported. You may "
        "try again with a different access level or access type."
    ),
}


def add_message(state: State, subject: Document, action: str, detail: str) -> None:
    """Keep a message about a share for its project."""
    known = list(state.messages.find(project_id=subject["project_id"]))
    for old in known[: max(0, len(known) - _KEPT + 1)]:
        state.messages.delete(old["id"])
    state.messages.put(
        {
            "id": state.new_id(),
            "project_id": subject["project_id"],
            "action_id": action,
            "detail_id": detail,
            "resource_type": "SHARE",
            "resource_id": subject["id"],
            "request_id": subject.get("request_id", ""),
            "created_at": state.now(),
            "expires_at": state.later(days=_DAYS),
        }
    )
