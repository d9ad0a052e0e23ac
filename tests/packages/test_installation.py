"""Installations by users: pipx, uv, and every Python of this machine.

The packages of others come from the index that pip is configured for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.release import EXTRAS

from tests.packages.user import User

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
HELLO = str(ROOT / "examples/hello.yaml")
FREE_PORTS = ("--port", "0", "--cfn-port", "0", "--cloudwatch-port", "0", "--cloud-port", "0")


def pythons() -> list[Path]:
    """Return the interpreters of this machine that have the name of a supported version."""
    folders = [Path(sys.base_prefix, "bin"), Path("/usr/bin"), Path("/usr/local/bin")]
    folders += (Path.home() / ".pyenv/versions").glob("*/bin")
    names = {path.resolve() for folder in folders for path in folder.glob("python3.*")}
    return sorted(path for path in names if re.fullmatch(r"python3\.1[1-9]", path.name))


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


@pytest.mark.parametrize("python", pythons(), ids=str)
def test_python_runs_all_extras(python: Path, packages: Path, tmp_path: Path) -> None:
    if subprocess.run([python, "-c", "import ensurepip"], check=False).returncode:
        pytest.skip(f"{python} cannot make virtual environments")
    user = User(tmp_path, packages)
    user.run(str(python), "-m", "venv", "venv")
    pip = ("venv/bin/python", "-m", "pip", "install", "--quiet", "--find-links", str(packages))
    user.run(*pip, f"stoker[{EXTRAS}]")
    stoker = str(tmp_path / "venv/bin/stoker")
    user.run("venv/bin/python", "-m", "pip", "check")
    data = ("--data-dir", str(tmp_path / "data"))
    with user.service(stoker, "serve", *data, *FREE_PORTS):
        deploys_and_destroys(user, stoker, *data)
