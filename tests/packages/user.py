"""A user's machine: an empty home, the system's programs, and an installer of applications."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 300
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class User:
    """Runs programs with nothing of this checkout in the environment."""

    def __init__(self, home: Path, packages: Path) -> None:
        self.home = home
        self._packages = packages
        settings = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "UV_", "SSL_"))}
        self.environment = {
            **settings,
            "HOME": str(home),
            "PATH": f"{home}/.local/bin:{SYSTEM_PATH}",
            "LANG": "C.UTF-8",
            "PIPX_HOME": str(home / ".local/pipx"),
            "PIPX_BIN_DIR": str(home / ".local/bin"),
            "UV_TOOL_DIR": str(home / ".local/uv"),
            "UV_TOOL_BIN_DIR": str(home / ".local/bin"),
        }

    def install_with_pipx(self, requirement: str) -> None:
        """Install with pipx, as ``pipx install`` does from an index that has these packages."""
        options = f"--find-links {self._packages}"
        command = [sys.executable, "-m", "pipx", "install", "--python", sys.executable]
        self.run(*command, "--pip-args", options, requirement)

    def install_with_uv(self, requirement: str) -> None:
        """Install with ``uv tool install``."""
        uv = str(Path(sys.executable).parent / "uv")
        command = [uv, "tool", "install", "--python", sys.executable]
        self.run(*command, "--find-links", str(self._packages), requirement)

    def run(self, *command: str, code: int = 0, **variables: str) -> str:
        """Run a program in the home directory; return its output. It has to end with the code."""
        done = subprocess.run(
            command,
            cwd=self.home,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == code, f"{' '.join(command)}\n{done.stdout}"
        return done.stdout

    @contextmanager
    def service(self, program: str, *options: str) -> Iterator[None]:
        """Run a service until the end of the block; it is ready when the block starts."""
        log = self.home / "service.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [program, *options],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            deadline = time.monotonic() + SECONDS
            while "ready http" not in log.read_text():
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait()
