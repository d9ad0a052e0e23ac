"""The ``openstack`` command in its interactive mode."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Shell:
    """One interactive ``openstack`` process: its start costs more than most commands."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [Path(sys.executable).parent / "openstack"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environment, "PYTHONUNBUFFERED": "1"},
            text=True,
            bufsize=1,
        )
        self._commands = 0

    def run(self, command: str) -> str:
        """Return the output of a command, errors included."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands += 1
        mark = f"service mark{self._commands} not found"
        self._process.stdin.write(f"{command}\ncatalog show mark{self._commands}\n")
        self._process.stdin.flush()
        printed = []
        for line in self._process.stdout:
            if mark in line:
                return "".join(printed)
            printed.append(line)
        raise AssertionError(f"{command}: the client has ended: {''.join(printed)}")

    def data(self, command: str) -> Any:
        """Return the JSON output of a command."""
        printed = self.run(f"{command} -f json")
        try:
            return json.loads(printed)
        except ValueError:
            raise AssertionError(f"{command}: {printed}") from None

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()
