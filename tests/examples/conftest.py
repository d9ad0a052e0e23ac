"""Machines for an example: their user and their installed programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.source import SOURCES

ROOT = Path(__file__).parents[2]
USER = 54321  # an ordinary user that no machine has
SITUATIONS = ("as it is", "ordinary user", "without uidmap", "without subordinate ids")
_PREPARE = """
set -e
ip link set lo up
for pair in "$@"; do
    shift
    [ "$pair" = -- ] && break
    mount --bind "${pair%%=*}" "${pair#*=}"
done
exec "$@"
"""


@dataclass(frozen=True)
class Machine:
    """A machine of one kind, in its own namespaces: its ports and files are private."""

    command: tuple[str, ...]
    environment: dict[str, str]
    directory: Path

    def run(self, script: str, timeout: float = 150) -> subprocess.CompletedProcess[str]:
        """Run a shell script; ``$stoker`` is the command, ``$dir`` a directory to write to."""
        done = subprocess.run(
            [*self.command, "sh", "-c", script],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        if done.returncode:
            logs = [path.read_text() for path in sorted(self.directory.rglob("*.log"))]
            done.stderr += "".join(log[-5000:] for log in logs)
        return done


def _environment(python: str, directory: Path) -> dict[str, str]:
    places = [*map(str, SOURCES), *(place for place in sys.path if "site-packages" in place)]
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": os.pathsep.join(places),
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "stoker": f"{python} -m stoker",
        "python": python,
        "dir": str(directory),
    }


def _python_of_everybody() -> str:
    """A Python of our version that every user may start; ours may lie in a home directory."""
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for candidate in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        become = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
        # By a shell: setpriv itself still has root's right to go anywhere.
        check = [*become, "sh", "-c", f"exec {candidate} -c ''"]
        if subprocess.run(check, capture_output=True, check=False).returncode == 0:
            return candidate
    pytest.skip(f"no {name} that other users may start: this one is {sys.executable}")


def _binds(situation: str, directory: Path) -> list[str]:
    """Return the mounts of the machine: pairs of source and target."""
    accounts = directory / "passwd"
    line = f"somebody:x:{USER}:{USER}::{directory}:/bin/sh\n"
    accounts.write_text(Path("/etc/passwd").read_text() + line)
    binds = [f"{accounts}=/etc/passwd"]
    given = "" if situation == "without subordinate ids" else f"somebody:{USER * 4}:65536\n"
    for name in ("subuid", "subgid"):
        if Path("/etc", name).exists():
            (directory / name).write_text(given)
            binds.append(f"{directory / name}=/etc/{name}")
        elif given:
            pytest.skip(f"this machine has no /etc/{name}, in whose place one could be put")
    tools = [place for name in ("newuidmap", "newgidmap") if (place := shutil.which(name))]
    if situation == "ordinary user" and len(tools) < 2:
        pytest.skip("newuidmap and newgidmap (package uidmap) are not installed")
    if situation == "without uidmap":
        nothing = directory / "nothing"
        nothing.touch(0o644)
        binds += [f"{nothing}={place}" for place in tools]
    return binds


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory that every user may go to."""
    made = Path(tempfile.mkdtemp(dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def machine(request: pytest.FixtureRequest, directory: Path) -> Machine:
    """The machine of the situation that the test is about."""
    situation = request.param
    isolated = ["unshare", "-n", "-m"] if os.geteuid() == 0 else []
    if situation == "as it is":
        prefix = [*isolated, "sh", "-c", _PREPARE, "sh", "--"] if isolated else []
        return Machine(tuple(prefix), _environment(sys.executable, directory), directory)
    if os.geteuid() != 0:
        pytest.skip("root alone can be other users")
    python = _python_of_everybody()
    binds = _binds(situation, directory)
    os.chown(directory, USER, USER)
    become = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
    prefix = [*isolated, "sh", "-c", _PREPARE, "sh", *binds, "--", *become]
    return Machine(tuple(prefix), _environment(python, directory), directory)


def outputs(text: str) -> dict[str, str]:
    """Return the outputs of a stack from the text of ``stoker status --json``."""
    found: dict[str, str] = json.loads(text)["outputs"]
    return found
