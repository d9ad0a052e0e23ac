"""Quotas of load balancing, and the usage of projects."""

from localcloud.load_balancer.errors import over_quota
from localcloud.load_balancer.model.kinds import LOAD_BALANCER, PARTS, Kind
from localcloud.load_balancer.model.state import State

UNLIMITED = -1
# Bounds that a test suite does not meet, and a mistake in a loop does.
DEFAULTS = {str(kind.quota): UNLIMITED for kind in (LOAD_BALANCER, *PARTS)} | {
    "load_balancer": 100,
    "member": 5000,
}


def limits(state: State, project: str) -> dict[str, int]:
    """Return the limits of a project; -1 is for none."""
    own = state.quotas.get(project) or {}
    return {name: own.get(name, default) for name, default in DEFAULTS.items()}


def require(state: State, kind: Kind, project: str, more: int = 1) -> None:
    """Raise the API's 403 if the quota of a project has no room for this number of objects."""
    limit = limits(state, project)[str(kind.quota)]
    if limit == UNLIMITED or more <= 0:
        return
    present = sum(1 for _ in state.of(kind).find(project_id=project))
    if present + more > limit:
        raise over_quota(kind.words)
