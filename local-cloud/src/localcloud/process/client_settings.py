"""Settings for OpenStack clients of this cloud: shell variables, or a ``clouds.yaml``."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_USERS = {"localcloud": "demo", "localcloud-admin": "admin"}


class NoCloudError(Exception):
    """There is no cloud, or no such user. The text contains the remedy."""


def as_exports(data_dir: Path, user: str) -> str:
    """Commands of a shell that make its clients this user. Raises :class:`NoCloudError`."""
    clouds = _clouds(data_dir)
    if user not in clouds:
        raise NoCloudError(f"the cloud has no user {user}; choose one of {', '.join(clouds)}")
    cloud = clouds[user]
    variables = {
        "OS_IDENTITY_API_VERSION": cloud["identity_api_version"],
        "OS_REGION_NAME": cloud["region_name"],
        **{f"OS_{name.upper()}": value for name, value in cloud["auth"].items()},
    }
    lines = [f"export {name}={shlex.quote(str(value))}" for name, value in variables.items()]
    # These would count for more than the others.
    return "\n".join(["unset OS_CLOUD OS_TOKEN", *lines, ""])


def as_clouds_yaml(data_dir: Path) -> str:
    """Return the content of a ``clouds.yaml`` for one user. Raises :class:`NoCloudError`."""
    known = _clouds(data_dir)
    clouds = {name: known[user] for name, user in _USERS.items()}
    return json.dumps({"clouds": clouds}, indent=2) + "\n"  # JSON is YAML too


def _clouds(data_dir: Path) -> Mapping[str, Any]:
    path = data_dir / "cloud" / "clouds.yaml"
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["clouds"]
    except OSError:
        raise NoCloudError(f'there is no cloud in {data_dir}; "localcloud up" makes one') from None
    return found
