"""The stack user as which a server logs in to the cloud."""

from __future__ import annotations

from typing import Any

from stoker.clouds.credentials import UserPassword
from stoker.resources.shared.storage.temp_url import endpoint
from stoker.schema.resource_type import Call


def user(call: Call) -> dict[str, Any]:
    """Return credentials and endpoint for a server, in the terms of os-collect-config."""
    return {
        "user_id": call.data.get("user_id"),
        "password": call.data.get("password"),
        "auth_url": _auth_url(call),
        "project_id": call.data.get("project_id") or call.stack.user_project_id,
        "region_name": call.stack.region,
    }


def login(call: Call) -> UserPassword | None:
    """Return the stack user's credentials for the cloud connection, or None without a user."""
    known = user(call)
    if not known["user_id"]:
        return None
    return UserPassword(known["user_id"], known["password"], known["project_id"])


def _auth_url(call: Call) -> str:
    address = endpoint(call, "identity").rstrip("/")
    return address if address.endswith("/v3") else f"{address}/v3"
