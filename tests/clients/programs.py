"""Programs of others that are too large to be installed with the tests: fetched when wanted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stoker-clients"
_SECONDS = 900


def installed(name: str, *packages: str) -> Path:
    """The ``bin`` of an environment with these packages, made once and kept in the cache.

    Skips the test, with pip's words, where pip cannot get them.
    """
    place = CACHE / name
    done, wanted = place / "installed", "\n".join(packages)
    if not done.exists() or done.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        ended = subprocess.run(pip, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if ended.returncode != 0:
            pytest.skip(f"pip cannot get {', '.join(packages)} here:\n{ended.stderr[-500:]}")
        done.write_text(wanted)
    return place / "bin"
