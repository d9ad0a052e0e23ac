"""Handles names of the DNS service, which stores them in lower case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_lower_name(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request body with the name in lower case."""
    return {**body, "name": str(body["name"]).lower()}


def as_specified(live: Mapping[str, Any], specified: Any) -> dict[str, Any]:
    """Return live properties with the given name, if only the case differs."""
    name = live.get("name")
    same = (
        isinstance(specified, str) and isinstance(name, str) and name.lower() == specified.lower()
    )
    return {**live, "name": specified} if same else dict(live)
