"""Installations by users: pipx, uv, and every Python of this machine.

The packages of others come from the index that pip is configured for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools.release import EXTRAS

from tests.packages.user import User

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
HELLO = str(ROOT / "examples/hello.yaml")
FREE_PORTS = ("--port", "0", "--cfn-port", "0", "--cloudwatch-port", "0", "--cloud-port", "0")


def pythons() -> dict[str, str]:
    """Return the supported interpreters of this machine, by version."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += [Path("/usr/bin"), *(Path.home() / ".pyenv/versions").glob("*/bin")]
    names = [path for folder in folders for path in folder.glob("python3*")]
    found: dict[str, str] = {}
    for path in names:
        if re.fullmatch(r"python3(\.\d+)?", path.name):
            code = "import ensurepip, platform, sys; print(platform.python_version())"
            done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
            version = done.stdout.strip()
            if done.returncode == 0 and tuple(map(int, version.split(".")[:2])) >= (3, 11):
                found.setdefault(version, str(path))
    return found


def deploys_and_destroys(user: User, stoker: str, *service: str, **variables: str) -> None:
    """Deploy the example, ask for its output, and delete it."""
    said = user.run(stoker, "deploy", HELLO, "--yes", *service, **variables)
    assert "CREATE_COMPLETE" in said
    lines = user.run(stoker, "output", "hello", "url", *service, **variables).splitlines()
    assert lines[-1].startswith("http://")
    user.run(stoker, "destroy", "hello", "--yes", *service, **variables)


def test_pipx_installs_a_client_of_a_remote_service(packages: Path, tmp_path: Path) -> None:
    machine, operator = User(tmp_path / "client", packages), User(tmp_path / "server", packages)
    for user in (machine, operator):
        user.home.mkdir()
    machine.install_with_pipx("stoker")
    assert re.fullmatch(r"stoker, version \d+\.\d+\.\d+\n", machine.run("stoker", "--version"))
    assert machine.run("stoker", "validate", HELLO) == f"{HELLO}: OK\n"
    said = machine.run("stoker", "serve", code=1)
    assert said.endswith('pipx install --force "stoker[local]" adds it\n')
    operator.install_with_uv("stoker[local]")
    stoker = shutil.which("stoker", path=operator.environment["PATH"])
    assert stoker is not None
    assert operator.home in Path(stoker).parents
    with operator.service(stoker, "serve", "--data-dir", str(operator.home / "data"), *FREE_PORTS):
        clouds = str(operator.home / "data/clouds.yaml")
        variables = {"OS_CLIENT_CONFIG_FILE": clouds, "OS_CLOUD": "stoker"}
        deploys_and_destroys(machine, "stoker", **variables)


@pytest.mark.parametrize("version", sorted(pythons()))
def test_python_runs_all_extras(version: str, packages: Path, tmp_path: Path) -> None:
    user = User(tmp_path, packages)
    user.run(pythons()[version], "-m", "venv", "venv")
    pip = ("venv/bin/python", "-m", "pip", "install", "--quiet", "--find-links", str(packages))
    user.run(*pip, f"stoker[{EXTRAS}]")
    stoker = str(tmp_path / "venv/bin/stoker")
    user.run("venv/bin/python", "-m", "pip", "check")
    data = ("--data-dir", str(tmp_path / "data"))
    with user.service(stoker, "serve", *data, *FREE_PORTS):
        deploys_and_destroys(user, stoker, *data)
