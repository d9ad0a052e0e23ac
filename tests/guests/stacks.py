"""Stacks with real servers, as a user of the command sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]
_SECONDS = 280


@dataclass(frozen=True)
class Stacks:
    """The stacks of a service."""

    data_dir: Path

    def deploy(self, template: Path | str, name: str, **parameters: str) -> dict[str, Any]:
        """Create or update a stack; its outputs once it is complete."""
        done = self.try_to_deploy(template, name, **parameters)
        assert done.returncode == 0, done.stdout + done.stderr + self.logs(name)
        return self.outputs(name)

    def outputs(self, name: str) -> dict[str, Any]:
        """The outputs of a stack."""
        found: dict[str, Any] = json.loads(self.run("status", name, "--json").stdout)["outputs"]
        return found

    def try_to_deploy(
        self, template: Path | str, name: str, **parameters: str
    ) -> subprocess.CompletedProcess[str]:
        """Create or update a stack, whatever comes of it."""
        given = [word for key in parameters for word in ("-P", f"{key}={parameters[key]}")]
        return self.run("deploy", str(_ROOT / template), "--name", name, "--yes", *given)

    def inside(self, name: str, script: str) -> str:
        """Return the output of a script in the server of a stack."""
        return self.run("exec", name, "--", "sh", "-c", script).stdout

    def logs(self, name: str) -> str:
        """Return the logs of the agents in the server of a stack."""
        return self.inside(name, "tail -n 50 /var/log/cfn-*.log /var/log/os-collect-config.log")

    def destroy(self, name: str) -> None:
        """Delete a stack."""
        assert self.run("destroy", name, "--yes").returncode == 0

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Stoker."""
        command = [sys.executable, "-m", "stoker", *words]
        head = words.index("--") if "--" in words else len(words)
        command[3 + head : 3 + head] = ["--data-dir", str(self.data_dir)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
