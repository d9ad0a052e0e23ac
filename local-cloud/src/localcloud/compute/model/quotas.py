"""Quotas: how much each project may have, and how much it has."""

from localcloud.compute.model.state import State
from localcloud.web.http import QuotaExceededError

UNLIMITED = -1
# Limits of a project without own ones; `ram` in MiB. They are wide enough for stacks of a thousand
# servers, because a server here costs only the memory of its processes.
DEFAULTS = {
    "instances": 2000,
    "cores": 8000,
    "ram": 4096000,
    "metadata_items": 128,
    "injected_files": 5,
    "injected_file_content_bytes": 10240,
    "injected_file_path_bytes": 255,
    "key_pairs": 1000,
    "server_groups": 1000,
    "server_group_members": 1000,
    "fixed_ips": UNLIMITED,
    "floating_ips": UNLIMITED,
    "security_groups": UNLIMITED,
    "security_group_rules": UNLIMITED,
}
# The project whose limits are those of all that have none of their own.
DEFAULT_CLASS = "class:default"


def defaults(state: State) -> dict[str, int]:
    """Return the limits of projects that have none of their own."""
    return {**DEFAULTS, **_own(state, DEFAULT_CLASS)}


def limits(state: State, project_id: str) -> dict[str, int]:
    """Return the limits of a project."""
    return {**defaults(state), **_own(state, project_id)}


def _own(state: State, key: str) -> dict[str, int]:
    document = state.quotas.get(key)
    return {} if document is None else dict(document["limits"])


def change(state: State, project_id: str, changes: dict[str, int]) -> None:
    """Set limits of a project."""
    state.quotas.put({"id": project_id, "limits": {**_own(state, project_id), **changes}})


def usage(state: State, project_id: str) -> dict[str, int]:
    """Return the usage of a project for each limit. Key pairs are counted by user, not here."""
    servers = list(state.in_project(project_id))
    return {
        **dict.fromkeys(DEFAULTS, 0),
        "instances": len(servers),
        "cores": sum(s["flavor"]["vcpus"] for s in servers),
        "ram": sum(s["flavor"]["ram"] for s in servers),
        "server_groups": len(list(state.groups.find(project_id=project_id))),
    }


def _over(state: State, project_id: str, requested: dict[str, int]) -> list[str]:
    allowed = limits(state, project_id)
    used = usage(state, project_id)
    return [
        name
        for name, more in requested.items()
        if more > 0 and allowed[name] != UNLIMITED and used[name] + more > allowed[name]
    ]


def allows(state: State, project_id: str, requested: dict[str, int]) -> bool:
    """Return whether the project may have that much more."""
    return not _over(state, project_id, requested)


def check(state: State, project_id: str, requested: dict[str, int]) -> None:
    """Raise :class:`QuotaExceededError` where the project may not have that much more."""
    over = _over(state, project_id, requested)
    if over:
        sources = (requested, usage(state, project_id), limits(state, project_id))
        amounts, had, most = (", ".join(str(source[n]) for n in over) for source in sources)
        raise QuotaExceededError(
            f"Quota exceeded for {', '.join(over)}: Requested {amounts}, "
            f"but already used {had} of {most} {', '.join(over)}"
        )


def check_keypairs(state: State, project_id: str | None, user_id: str) -> None:
    """Raise :class:`QuotaExceededError` where the user has all the key pairs allowed."""
    most = limits(state, project_id or "")["key_pairs"]
    if most != UNLIMITED and sum(1 for _ in state.keypairs.find(user_id=user_id)) >= most:
        raise QuotaExceededError(f"Quota exceeded, too many key pairs: the limit is {most}.")


def check_metadata(state: State, project_id: str, items: int) -> None:
    """Raise :class:`QuotaExceededError` for more metadata items than a server may have."""
    most = limits(state, project_id)["metadata_items"]
    if most != UNLIMITED and items > most:
        raise QuotaExceededError(f"Maximum number of metadata items exceeds {most}")
