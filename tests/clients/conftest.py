"""A running ``stoker serve``, and the public clients of OpenStack that talk to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cloud_testing.shell import Shell
from tests.recovery.service import Service

BIN = Path(sys.executable).parent


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("clients") / "data")
    running.start()
    yield running
    running.stop()


def environment(service: Service, cloud: str) -> dict[str, str]:
    """The environment in which the clients find the service."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
    config = {"OS_CLIENT_CONFIG_FILE": str(service.data_dir / "clouds.yaml"), "OS_CLOUD": cloud}
    return {**kept, **config, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}


@pytest.fixture(scope="package")
def shells(service: Service) -> Iterator[Callable[[str], Shell]]:
    """The shell of a user: ``stoker`` or ``stoker-admin``."""
    found: dict[str, Shell] = {}
    with ExitStack() as closing:

        def shell_of(cloud: str) -> Shell:
            if cloud not in found:
                found[cloud] = Shell(environment(service, cloud))
                closing.callback(found[cloud].close)
            return found[cloud]

        yield shell_of


@pytest.fixture
def shell(shells: Callable[[str], Shell]) -> Shell:
    return shells("stoker")


@pytest.fixture
def admin(shells: Callable[[str], Shell]) -> Shell:
    return shells("stoker-admin")


def openstack(service: Service, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command in a process of its own: for its exit code and its error output."""
    return subprocess.run(
        [BIN / "openstack", *words],
        env=environment(service, "stoker"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="package")
def keys(shells: Callable[[str], Shell]) -> dict[str, str]:
    """The address in the catalog, and a key of the user, as boto3 takes them."""
    shell = shells("stoker")
    made = shell.data("ec2 credentials create")
    endpoints = shell.data("catalog show cloudformation")["endpoints"]
    [endpoint] = [each for each in endpoints if each["interface"] == "public"]
    return {
        "endpoint_url": endpoint["url"],
        "aws_access_key_id": made["access"],
        "aws_secret_access_key": made["secret"],
        "region_name": endpoint["region"],
    }
