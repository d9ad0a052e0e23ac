"""``python -m tools.packages [DIRECTORY]`` builds the wheels and source distributions.

They go to ``dist/``. The page of the console is built first, because the wheel contains it. All
times in the archives are the one of the last commit (``SOURCE_DATE_EPOCH``), so that a second build
of the same commit gives the same bytes. The build tools are those of ``make setup``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools import console

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = (ROOT, ROOT / "local-cloud")


def build(directory: Path) -> list[Path]:
    """Build all packages into a directory, and return them."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": source_date()}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(directory)]
    for project in PROJECTS:
        done = subprocess.run(
            [*command, str(project)],
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise SystemExit(f"packages: {project} cannot be built:\n{done.stdout}")
    return sorted([*directory.glob("stoker*.whl"), *directory.glob("stoker*.tar.gz")])


def source_date() -> str:
    """Return the time of the last commit in seconds, unless the environment has one."""
    found = os.environ.get("SOURCE_DATE_EPOCH")
    if found:
        return found
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def main() -> int:
    """Build, check and list the packages. Return the exit code."""
    directory = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist"
    console.main([])
    if not console.is_current():
        print("packages: not built, because the wheel would have no console", file=sys.stderr)
        return 1
    built = build(directory)
    for path in built:
        print(f"{path.stat().st_size / 1e6:6.2f} MB  {path}")
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *built], check=False
    )
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
