"""The options of ``stoker serve``."""

from __future__ import annotations

import socket
from pathlib import Path

from msgspec import Struct

from stoker.config.files import NO_FILES, ConfigFiles
from stoker.server.roles import ProcessRole

DEFAULT_API_PORT = 8004
DEFAULT_CFN_PORT = 8000
DEFAULT_CLOUDWATCH_PORT = 8003


class Listeners(Struct, frozen=True):
    """The addresses of the service."""

    api: socket.socket
    cfn: socket.socket
    cloudwatch: socket.socket


def port_of(listener: socket.socket) -> int:
    """Return the port of a listener."""
    port: int = listener.getsockname()[1]
    return port


class ServeOptions(Struct, frozen=True):
    """The options on the command line."""

    data_dir: Path
    host: str = "127.0.0.1"
    cfn_host: str = "127.0.0.1"
    cloudwatch_host: str = "127.0.0.1"
    port: int | None = None  # None for the default, 0 for a free one; also for the next ports
    cfn_port: int | None = None
    cloudwatch_port: int | None = None
    cloud_port: int | None = None
    local_cloud: bool = True
    without_isolation: bool = False  # Run user data even if servers cannot be isolated.
    engines: int = 0  # Additional engine processes; with 0, this process drives the stacks.
    part: ProcessRole = ProcessRole.WHOLE
    parent: int | None = None  # Exit when this process exits.
    # No request from before this time is in progress in the cloud, which another process runs.
    cloud_since: float | None = None
    database: str | None = None  # URL; None for the one in configuration files
    config: ConfigFiles = NO_FILES
    verify: bool = False  # compute incremental results in full as well, and compare them


def url_of(host: str, port: int) -> str:
    """Return the root URL of the API at a port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
