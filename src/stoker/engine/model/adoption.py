"""What goes from stack to stack with the objects of an abandoned one, and what never does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OWN = ("user_id", "project_id", "access")
_CREDENTIALS = frozenset(
    {*_OWN, "username", "password", "secret", "token", "alarm_url", "signed_url"}
)


def without_credentials(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a type keeps of an object, but for the user by which servers call back, and its keys.

    Those belong to the service, which rules their domain: who names the user of others must not be
    able to have it removed.
    """
    if not any(name in data for name in _OWN):
        return dict(data)
    return {name: value for name, value in data.items() if name not in _CREDENTIALS}
