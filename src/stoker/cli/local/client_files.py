"""Writes files for OpenStack clients: ``clouds.yaml`` and ``openrc``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write_client_files(data_dir: Path, credentials: Mapping[str, Any]) -> None:
    """Write both files, readable only by their owner.

    ``clouds.yaml`` has one cloud for each ordinary user (``stoker`` for the first, ``demo``, and
    ``stoker-admin``); ``openrc`` is for the first.
    """
    users = credentials["users"]
    clouds = {
        "stoker": _cloud(credentials, "demo", users["demo"]),
        "stoker-admin": _cloud(credentials, "admin", users["admin"]),
    }
    _write(data_dir / "clouds.yaml", yaml.safe_dump({"clouds": clouds}, sort_keys=False))
    auth = clouds["stoker"]["auth"]
    exports = {
        "OS_IDENTITY_API_VERSION": "3",
        "OS_REGION_NAME": credentials.get("region") or "RegionOne",
        **{f"OS_{key.upper()}": value for key, value in auth.items()},
    }
    lines = [f"export {key}={shlex.quote(str(value))}" for key, value in exports.items()]
    _write(data_dir / "openrc", "\n".join([*lines, ""]))


def _cloud(credentials: Mapping[str, Any], name: str, user: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "auth": {
            "auth_url": credentials["auth_url"],
            "username": name,
            "password": user["password"],
            "project_name": user["project"],
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        },
        "region_name": credentials.get("region") or "RegionOne",
        "identity_api_version": "3",
    }


def _write(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
