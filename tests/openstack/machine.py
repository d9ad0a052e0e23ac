"""OpenStack's own services on this machine: installed from PyPI, started and stopped one by one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_LAB = Path(__file__).parent / "lab" / "lab"
_PROGRAMS = ("apt-get", "bash", "curl", "ip", "openssl", "unshare")
_GIB = 2**30
_DISK = 6
_MEMORY = 6
AUTH_URL = "http://127.0.0.1:5000/v3"
REGION = "RegionOne"
PASSWORD = os.environ.get("LAB_PW", "labsecret")
FOLDER = Path(os.environ.get("LAB", "~/.cache/openstack-lab")).expanduser()


def missing() -> list[str]:
    """Return the missing parts of the machine, in words for users."""
    if sys.platform != "linux":
        return ["Linux"]
    found = [f"the program {name}" for name in _PROGRAMS if shutil.which(name) is None]
    if os.geteuid() != 0:
        found.append("root: packages are installed with apt-get, and networks are namespaces")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(FOLDER).free < _DISK * _GIB:
        found.append(f"{_DISK} GiB of free disk below {FOLDER} (LAB names another folder)")
    if os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") < _MEMORY * _GIB:
        found.append(f"{_MEMORY} GiB of memory")
    return found


def install(names: Sequence[str]) -> None:
    """Fetch the packages of services, except for those that are there already."""
    _lab("install", *names)


@contextmanager
def running(names: Sequence[str], kept: Sequence[str]) -> Iterator[None]:
    """Run these services; those that are ``kept`` stay for others."""
    if names:
        _lab("up", *names)
    try:
        yield
    finally:
        if others := [name for name in names if name not in kept]:
            _lab("down", *others)


def stop() -> None:
    """End all services."""
    _lab("down")


def release(name: str) -> str:
    """The installed release of a service, as ``23.0.0``."""
    folders = (FOLDER / "venv" / name).glob(f"lib/*/site-packages/{name}-*.dist-info")
    return next((each.name.split("-")[1] for each in folders), "?").removesuffix(".dist")


def _lab(*words: str) -> None:
    subprocess.run([str(_LAB), *words], check=True)
