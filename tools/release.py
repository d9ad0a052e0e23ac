"""``python -m tools.release [DIRECTORY]``: builds everything that a release publishes.

Wheels and source distributions are built twice, and have to be the same bytes. The bill of
materials (CycloneDX) lists the packages of a new environment with the wheels and all extras.
``SHA256SUMS`` has the digests of all files, and is signed with GnuPG if ``STOKER_RELEASE_KEY``
names a key. Nothing is uploaded. docs/develop/releasing.md has the steps around this.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path

from tools import console, packages
from tools.packages import ROOT

EXTRAS = "local,postgresql,notifications,takeover,otel,lsp"
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """The release cannot be built; the text says why."""


def release(directory: Path) -> list[Path]:
    """Build all files of a release into an empty directory, and return them."""
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise ReleaseError(f"{directory} is not empty: remove it, or name another")
    built = packages.build(directory)
    with tempfile.TemporaryDirectory() as second:
        packages.build(Path(second))
        require_same(built, Path(second))
    bill = directory / f"stoker-{version()}.cdx.json"
    write_bill(directory, bill)
    files = [*built, bill]
    sums = directory / SUMS
    sums.write_text("".join(f"{digest(path)}  {path.name}\n" for path in sorted(files)))
    key = os.environ.get("STOKER_RELEASE_KEY")
    signature = [sign(sums, key)] if key else []
    return [*files, sums, *signature]


def require_same(built: Iterable[Path], second: Path) -> None:
    """Raise ReleaseError if a file of a second build, in its directory, differs."""
    for path in built:
        if digest(second / path.name) != digest(path):
            raise ReleaseError(f"{path.name} is not reproducible: a second build differs")


def write_bill(wheels: Path, bill: Path) -> None:
    """Write the bill of materials of an environment that has the wheels with all extras."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        python = environment / "bin/python"
        _run(sys.executable, "-m", "venv", str(environment))
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run(*install, "--find-links", str(wheels), f"stoker[{EXTRAS}]=={version()}")
        _run(*install[:3], "uninstall", "--quiet", "--yes", "pip")
        program = str(Path(sys.executable).parent / "cyclonedx-py")
        options = ["--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON"]
        project = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "application"]
        _run(program, "environment", *options, *project, "-o", str(bill), str(python))


def sign(file: Path, key: str) -> Path:
    """Sign a file with GnuPG, and return the detached signature."""
    signature = file.with_name(f"{file.name}.asc")
    options = ["--batch", "--yes", "--armor", "--local-user", key]
    _run("gpg", *options, "--output", str(signature), "--detach-sign", str(file))
    return signature


def version() -> str:
    """Return the version of the release; both projects have to have the same."""
    found = set()
    for project in packages.PROJECTS:
        with (project / "pyproject.toml").open("rb") as file:
            found.add(tomllib.load(file)["project"]["version"])
    if len(found) != 1:
        raise ReleaseError(f"the projects have different versions: {', '.join(sorted(found))}")
    return str(found.pop())


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(*command: str) -> None:
    done = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stdout}")


def main() -> int:
    """Build and list the files. Return the exit code."""
    directory = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist" / version()
    console.main([])
    if not console.is_current():
        print("release: the page of the console is not built", file=sys.stderr)
        return 1
    try:
        for path in release(directory):
            print(path)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    if not os.environ.get("STOKER_RELEASE_KEY"):
        print("release: not signed, because STOKER_RELEASE_KEY names no key", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
