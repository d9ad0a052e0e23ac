"""Settings of a local cloud that its operator can choose."""

import json
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

# Names that templates use: a new cloud has its built-in image under each of them.
IMAGE_NAMES = (
    "cirros", "cirros-0.6.2-x86_64-disk", "cirros-0.6.3-x86_64-disk", "debian", "debian-12",
    "ubuntu", "ubuntu-22.04", "ubuntu-24.04", "fedora", "fedora-41", "centos", "centos-stream-9",
)  # fmt: skip


EXECUTION_SOCKET = "exec.sock"  # in the directory of a cloud that runs


@dataclass(frozen=True)
class ForeignService:
    """A service that runs elsewhere and appears in the catalog."""

    type: str
    url: str  # may contain `%(project_id)s`


@dataclass(frozen=True)
class Settings:
    """The options of ``localcloud serve``."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 35357
    region: str = "RegionOne"
    # Where floating addresses lie: within the loopback range of the host, which needs no route.
    floating_cidr: str = "127.24.4.0/24"
    foreign_services: tuple[ForeignService, ...] = ()
    image_names: tuple[str, ...] = ()  # further names of the built-in image
    # Whence images may be imported besides the Internet: names, `.domain`, addresses, ranges.
    image_hosts: tuple[str, ...] = ()
    token_seconds: int = 3600
    # Bytes that one object of the object store may have; Swift has this default.
    object_bytes: int = (5 << 30) + 2
    # Where servers cannot be isolated, user data runs with the rights of this user.
    without_isolation: bool = False
    ec2_auth_seconds: int = 900  # how long after its timestamp an EC2 signature is accepted

    @property
    def url(self) -> str:
        """The root URL of the cloud, without a trailing slash."""
        reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104
        host = f"[{reached}]" if ":" in reached else reached
        return f"http://{host}:{self.port}"

    @property
    def addresses(self) -> tuple[tuple[str, int], ...]:
        """Address and port of the cloud and of each foreign service that is named by address."""
        urls = [self.url, *(service.url for service in self.foreign_services)]
        return tuple(dict.fromkeys(found for url in urls if (found := _address(url))))

    def is_foreign_service(self, url: str) -> bool:
        """Return whether an HTTP URL names the address and port of a foreign service."""
        known = {_origin(service.url) for service in self.foreign_services}
        return _origin(url) in known

    @property
    def cloud_dir(self) -> Path:
        """The directory of the database, the credentials file, images and disks."""
        return self.data_dir / "cloud"


def auth_url_of(data_dir: Path) -> str:
    """Return the URL of the cloud of a data directory for tokens, or "" if it was never ready."""
    try:
        content = (data_dir / "cloud" / "credentials.json").read_text(encoding="utf-8")
    except OSError:
        return ""
    return str(json.loads(content)["auth_url"])


def port_of(data_dir: Path) -> int | None:
    """The port at which the cloud of a data directory was served last."""
    return urlsplit(auth_url_of(data_dir)).port


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port
    except ValueError:
        return None


def _address(url: str) -> tuple[str, int] | None:
    parts = urlsplit(url)
    host = "127.0.0.1" if parts.hostname == "localhost" else parts.hostname or ""
    try:
        return str(ip_address(host)), parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
