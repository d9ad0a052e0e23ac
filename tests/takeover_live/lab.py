"""A real Heat on this machine, with the local cloud; ``lab/heat`` installs, starts and stops it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_PROGRAM = Path(__file__).parent / "lab" / "heat"
_PROGRAMS = ("apt-get", "bash", "setpriv")
_VARIABLE = re.compile(r"^export (\w+)=(.*)$", re.MULTILINE)
FOLDER = Path(os.environ.get("HEAT_LAB", "/var/tmp/heat-lab"))
API_PORT = int(os.environ.get("HEAT_API_PORT", "9804"))
CFN_PORT = int(os.environ.get("HEAT_CFN_PORT", "9800"))
CLOUD_PORT = int(os.environ.get("HEAT_CLOUD_PORT", "9835"))
API_URL = f"http://127.0.0.1:{API_PORT}"
CLOUD_URL = f"http://127.0.0.1:{CLOUD_PORT}"
CLOUD_DATA = FOLDER / "data" / "cloud"


def missing() -> list[str]:
    """Return the missing parts of the machine, in words for users."""
    if sys.platform != "linux":
        return ["Linux"]
    found = [f"the program {name}" for name in _PROGRAMS if shutil.which(name) is None]
    if os.geteuid() != 0:
        found.append("root: packages are installed with apt-get")
    return found


def run(command: str, **variables: str) -> str:
    """Run a command of ``lab/heat``; return its output."""
    return subprocess.run(
        [str(_PROGRAM), command],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()


def variables(user: str) -> Mapping[str, str]:
    """Return the variables for the clients of a user of the cloud."""
    return dict(_VARIABLE.findall((FOLDER / f"{user}.rc").read_text()))


def make_image() -> None:
    """Make the image with the agents of servers, unless it is there."""
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        **variables("demo"),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "STOKER_DATA_DIR": str(CLOUD_DATA),
    }
    script = "openstack image show agents >/dev/null 2>&1 || examples/agents/prepare >&2"
    subprocess.run(["sh", "-c", script], env=environment, check=True)


def run_in_server(server_id: str, *words: str) -> str:
    """Run a command in a server of the cloud; return its output."""
    return subprocess.run(
        [sys.executable, "-m", "stoker", "exec", server_id, "--", *words],
        env={**os.environ, **variables("demo"), "STOKER_DATA_DIR": str(CLOUD_DATA)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
