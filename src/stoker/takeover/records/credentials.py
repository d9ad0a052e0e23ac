"""Credentials of stacks, from ``user_creds``: trusts, or passwords of users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import TrustRecord
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption


def credentials_of(row: Row | None, project_id: str, decryption: Decryption) -> dict[str, Any]:
    """Return the credentials of a stack in Stoker's form; empty if it has none."""
    if row is None:
        return {}
    place = f"user_creds {row['id']}"
    method = row["decrypt_method"]
    user_id = row["trustor_user_id"]
    if row["trust_id"]:
        trust_id = _plain(row["trust_id"], method, f"{place}, column trust_id", decryption)
        return {"trust_id": trust_id, "project_id": project_id, "trustor_user_id": user_id}
    if row["password"]:
        password = _plain(row["password"], method, f"{place}, column password", decryption)
        # Heat stores the name of the user; Keystone accepts it beside the id.
        known = {"user_id": user_id} if user_id else {"username": row["username"]}
        return {**known, "password": password, "project_id": project_id}
    return {}


def trust_of(credentials: Mapping[str, Any]) -> TrustRecord | None:
    """Return the record of the trust in credentials.

    Roles and trustee are those of Heat's trust, which its database does not name. They stay empty,
    so that a new stack gets a trust of its own.
    """
    if not credentials.get("trust_id") or not credentials.get("trustor_user_id"):
        return None
    return TrustRecord(
        trust_id=credentials["trust_id"],
        project_id=credentials["project_id"],
        user_id=credentials["trustor_user_id"],
        trustee_id="",
        roles=(),
    )


def _plain(value: str, method: str | None, place: str, decryption: Decryption) -> str:
    return decryption.text(method, value, place) if method else value
