"""A running cloud without servers, the ``openstack`` command and openstacksdk."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openstack as openstacksdk
import pytest

from cloud_testing.shell import Shell

Run = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def cloud_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run ``localcloud serve`` and return its data directory."""
    data_dir = tmp_path_factory.mktemp("cloud")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "localcloud", "serve", "--no-servers"]
    options = ["--data-dir", str(data_dir), "--port", str(port), "--parent", str(os.getpid())]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready ")
        yield data_dir
        process.terminate()


@pytest.fixture(scope="module")
def environment_of(cloud_dir: Path) -> Callable[[str], dict[str, str]]:
    """Return the OS_* variables of a user."""
    credentials = json.loads((cloud_dir / "cloud" / "credentials.json").read_text())

    def environment(user: str) -> dict[str, str]:
        entry = credentials["users"][user]
        return {
            "OS_AUTH_URL": credentials["auth_url"],
            "OS_IDENTITY_API_VERSION": "3",
            "OS_REGION_NAME": credentials["region"],
            "OS_USERNAME": user,
            "OS_PASSWORD": entry["password"],
            "OS_USER_DOMAIN_ID": entry["domain"],
            "OS_PROJECT_NAME": entry["project"],
            "OS_PROJECT_DOMAIN_ID": entry["domain"],
        }

    return environment


@pytest.fixture(scope="module")
def shells(
    environment_of: Callable[[str], dict[str, str]],
) -> Iterator[Callable[[str], Shell]]:
    """The shell of a user."""
    found: dict[str, Shell] = {}
    with ExitStack() as closing:

        def shell_of(user: str) -> Shell:
            if user not in found:
                found[user] = Shell({**os.environ, **environment_of(user)})
                closing.callback(found[user].close)
            return found[user]

        yield shell_of


@pytest.fixture
def openstack(shells: Callable[[str], Shell]) -> Run:
    """Run commands one after the other; return the output of each."""

    def run(*commands: str, user: str = "demo", plain: bool = False) -> list[Any]:
        shell = shells(user)
        answers = []
        for command in commands:
            prints = not plain and {"list", "show", "create"} & set(command.split())
            answers.append(_parsed(shell.run(f"{command} -f json" if prints else command)))
        return answers

    return run


def _parsed(text: str) -> Any:
    """Return the JSON in the output, or the output."""
    text = text.strip()
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.fixture
def demo(environment_of: Callable[[str], dict[str, str]]) -> Iterator[Any]:
    options = environment_of("demo")
    connection = openstacksdk.connect(
        auth_url=options["OS_AUTH_URL"],
        username=options["OS_USERNAME"],
        password=options["OS_PASSWORD"],
        user_domain_id=options["OS_USER_DOMAIN_ID"],
        project_name=options["OS_PROJECT_NAME"],
        project_domain_id=options["OS_PROJECT_DOMAIN_ID"],
        region_name=options["OS_REGION_NAME"],
        load_yaml_config=False,
        load_envvars=False,
    )
    yield connection
    connection.close()
