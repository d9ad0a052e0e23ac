"""Handles names of the DNS service, which stores them in lower case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_lower_name(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request body with the name in lower case."""
    return {**body, "name": str(body["name"]).lower()}


def as_given(live: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """Return live properties with the given name, if only the case differs."""
    name = live.get("name")
    same = isinstance(given, str) and isinstance(name, str) and name.lower() == given.lower()
    return {**live, "name": given} if same else dict(live)
