"""The user's credentials and Keystone URL, from the environment or a data directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stoker.cli.console.failures import InputError
from stoker.kernel.lazy import LazyModule
from stoker.kernel.values import replace

if TYPE_CHECKING:
    import yaml
else:
    yaml = LazyModule("yaml")

# clouds in the ``clouds.yaml`` of a data directory
CLOUD, ADMINISTRATOR = "stoker", "stoker-admin"


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user with a password, or a token."""

    auth_url: str
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    project_name: str = ""
    project_id: str = ""
    user_domain: str = "Default"
    project_domain: str = "Default"
    region: str | None = None
    verify: bool | str = True
    source: str = ""  # Origin, such as ``OS_CLOUD=prod``; empty for a data directory.

    def __str__(self) -> str:
        """Return cloud and project, without secrets."""
        user = f"{self.username or 'a token'}/{self.project_name or self.project_id}"
        return f"{self.auth_url} as {user}" + (f" ({self.source})" if self.source else "")

    def request(self) -> dict[str, Any]:
        """Return the body of a request for a token."""
        if self.token:
            identity: dict[str, Any] = {"methods": ["token"], "token": {"id": self.token}}
        else:
            user = {
                "name": self.username,
                "password": self.password,
                "domain": {"name": self.user_domain},
            }
            identity = {"methods": ["password"], "password": {"user": user}}
        project: dict[str, Any] = {"id": self.project_id}
        if not self.project_id:
            project = {"name": self.project_name, "domain": {"name": self.project_domain}}
        return {"auth": {"identity": identity, "scope": {"project": project}}}


def in_environment(environment: Mapping[str, str]) -> Credentials | None:
    """Return the credentials of ``OS_CLOUD`` or ``OS_AUTH_URL``; None without either.

    Raise :class:`InputError` for unusable ones.
    """
    if environment.get("OS_CLOUD"):
        return _named_cloud(environment["OS_CLOUD"], environment)
    if not environment.get("OS_AUTH_URL"):
        return None
    values = {
        key.removeprefix("OS_").lower(): value
        for key, value in environment.items()
        if key.startswith("OS_")
    }
    found = _credentials(values, values.get("region_name"), _verify(values), "the environment")
    return replace(found, source="OS_AUTH_URL")


def in_data_dir(data_dir: Path, cloud: str = CLOUD) -> Credentials | None:
    """Return the credentials in the ``clouds.yaml`` of a data directory, or None."""
    path = data_dir / "clouds.yaml"
    return _in_file(path, cloud) if path.is_file() else None


def _named_cloud(name: str, environment: Mapping[str, str]) -> Credentials:
    path = environment.get("OS_CLIENT_CONFIG_FILE")
    places = [Path(path)] if path else []
    places += [Path("clouds.yaml"), Path.home() / ".config/openstack/clouds.yaml"]
    places.append(Path("/etc/openstack/clouds.yaml"))
    for place in places:
        if place.is_file():
            return replace(_in_file(place, name), source=f"OS_CLOUD={name}")
    searched = ", ".join(str(place) for place in places)
    raise InputError(
        f'OS_CLOUD is "{name}", but there is no clouds.yaml: none of {searched} exists; make one'
        " of them, or unset OS_CLOUD to use the local cloud"
    )


def _in_file(path: Path, name: str) -> Credentials:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        cloud = content["clouds"][name]
        auth = {key: str(value) for key, value in cloud["auth"].items()}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise InputError(f'{path} has no cloud "{name}" with a section "auth"') from None
    settings = {key: str(value) for key, value in cloud.items() if isinstance(value, str | bool)}
    return _credentials(auth, cloud.get("region_name"), _verify(settings), str(path))


def _credentials(
    auth: Mapping[str, str], region: str | None, verify: bool | str, place: str
) -> Credentials:
    token = auth.get("token", "")
    known = bool(token) or ("username" in auth and "password" in auth)
    if "auth_url" not in auth or not known:
        raise InputError(f"{place} must give auth_url, and username and password or a token")
    if not auth.get("project_name") and not auth.get("project_id"):
        raise InputError(f"{place} must give project_name or project_id")
    return Credentials(
        auth_url=auth["auth_url"].rstrip("/"),
        username=auth.get("username", ""),
        password=auth.get("password", ""),
        token=token,
        project_name=auth.get("project_name", ""),
        project_id=auth.get("project_id", ""),
        user_domain=auth.get("user_domain_name", "Default"),
        project_domain=auth.get("project_domain_name", "Default"),
        region=region,
        verify=verify,
    )


def _verify(settings: Mapping[str, str]) -> bool | str:
    insecure = settings.get("insecure", "").lower() in ("1", "true", "yes")
    if insecure or settings.get("verify", "").lower() == "false":
        return False
    return settings.get("cacert") or True
