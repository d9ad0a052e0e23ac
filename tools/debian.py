"""``python -m tools.debian [DIRECTORY]``: builds the Debian package of the service.

The package has a virtual environment of Debian's Python in ``/usr/lib/stoker``, with the wheels of
this checkout and their libraries; it fits the Debian or Ubuntu release on which it is built. The
other files are in ``deploy/debian`` and ``deploy/systemd``. Needs ``dpkg-deb`` and Debian's Python
with the module venv.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from stoker.cli.main import COMMANDS
from tools import packages
from tools.packages import ROOT
from tools.release import version

SOURCES = ROOT / "deploy/debian"
PYTHON = "/usr/bin/python3"
EXTRAS = "postgresql,notifications,takeover,otel"
_HOME = Path("usr/lib/stoker")  # of the virtual environment
_PROGRAMS = ("stoker", "heat-manage")
_SCRIPTS = ("postinst", "prerm", "postrm")


def build(directory: Path, wheels: Path) -> Path:
    """Build the package into a directory, and return it."""
    architecture = _output("dpkg", "--print-architecture")
    target = directory / f"stoker_{version()}-1_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir(mode=0o755)
        install_environment(root, wheels)
        install_files(root)
        write_control(root, architecture)
        normalize(root)
        environment = {**os.environ, "SOURCE_DATE_EPOCH": packages.source_date()}
        command = ["dpkg-deb", "--root-owner-group", "--build", str(root), str(target)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return target


def install_environment(root: Path, wheels: Path) -> None:
    """Create the virtual environment. Its scripts name the place where it will be."""
    home = root / _HOME
    subprocess.run([PYTHON, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-compile", "--find-links", str(wheels), f"stoker[{EXTRAS}]=={version()}"]
    subprocess.run([*pip, "install", *options], check=True)
    subprocess.run([*pip, "uninstall", "--yes", "pip", "setuptools"], check=True)
    for path in (home / "bin").iterdir():
        if path.name not in _PROGRAMS:
            path.unlink()
        else:
            path.write_text(re.sub(r"^#!.*", f"#!/{_HOME}/bin/python", path.read_text(), count=1))
    for name in ("python", "python3"):  # relative, as Debian wants it
        (home / "bin" / name).unlink(missing_ok=True)
        (home / "bin" / name).symlink_to("../../../bin/python3")
    (home / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    for name in ("include", "lib64"):
        path = home / name
        if path.is_symlink():
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)
    for cache in [*home.rglob("__pycache__")]:
        shutil.rmtree(cache)


def install_files(root: Path) -> None:
    """Copy the units, the configuration and the documents."""
    programs = root / "usr/bin"
    programs.mkdir(parents=True)
    (programs / "stoker").symlink_to("../lib/stoker/bin/stoker")
    units = root / "lib/systemd/system"
    units.mkdir(parents=True)
    for unit in sorted((ROOT / "deploy/systemd").glob("*.service")):
        text = unit.read_text().replace("/opt/stoker/bin/stoker", "/usr/bin/stoker")
        (units / unit.name).write_text(text)
    configuration = root / "etc/stoker/stoker.conf"
    configuration.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / "deploy/stoker.conf", configuration)
    documents = root / "usr/share/doc/stoker"
    documents.mkdir(parents=True)
    shutil.copyfile(SOURCES / "copyright", documents / "copyright")
    _compressed(documents / "changelog.Debian.gz", changelog())
    _compressed(documents / "changelog.gz", (ROOT / "CHANGELOG.md").read_text())
    _compressed(root / "usr/share/man/man1/stoker.1.gz", manual())
    overrides = root / "usr/share/lintian/overrides/stoker"
    overrides.parent.mkdir(parents=True)
    shutil.copyfile(SOURCES / "stoker.lintian-overrides", overrides)


def write_control(root: Path, architecture: str) -> None:
    """Write the control files."""
    control = root / "DEBIAN"
    control.mkdir()
    code = (
        "import sys; print('{}.{} {}.{}'.format(*sys.version_info[:2], 3, sys.version_info[1] + 1))"
    )
    python, following = _output(PYTHON, "-c", code).split()
    size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    values = {
        "VERSION": f"{version()}-1",
        "ARCHITECTURE": architecture,
        "SIZE": str(size),
        "PYTHON": python,
        "NEXT_PYTHON": following,
    }
    text = (SOURCES / "control.in").read_text()
    (control / "control").write_text(re.sub(r"@(\w+)@", lambda match: values[match[1]], text))
    (control / "conffiles").write_text("/etc/stoker/stoker.conf\n")
    for name in _SCRIPTS:
        shutil.copyfile(SOURCES / name, control / name)
        (control / name).chmod(0o755)
    sums = (
        f"{_output('md5sum', str(path)).split()[0]}  {path.relative_to(root)}\n"
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and "DEBIAN" not in path.parts
        if path.relative_to(root).parts[0] != "etc"
    )
    (control / "md5sums").write_text("".join(sums))


def normalize(root: Path) -> None:
    """Give all files the usual modes, and the time of the commit."""
    moment = int(packages.source_date())
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            is_program = path.is_dir() or (path.parent.name in ("bin", "DEBIAN") and _is_run(path))
            path.chmod(0o755 if is_program else 0o644)
        os.utime(path, (moment, moment), follow_symlinks=False)


def _is_run(path: Path) -> bool:
    return path.read_bytes()[:2] == b"#!"


def changelog() -> str:
    """Return Debian's changelog."""
    date = _output("date", "--utc", "--rfc-email", f"--date=@{packages.source_date()}")
    who = "The Stoker developers <developers@stoker-project.example>"
    return (
        f"stoker ({version()}-1) unstable; urgency=medium\n\n"
        f"  * Release {version()}: see changelog.gz.\n\n -- {who}  {date}\n"
    )


def manual() -> str:
    """Return the manual page of the command, made of its help."""
    return "\n".join(_manual_lines()) + "\n"


def _manual_lines() -> Iterator[str]:
    yield f'.TH STOKER 1 "" "Stoker {version()}" "User Commands"'
    yield from (".SH NAME", r"stoker \- orchestration service for OpenStack, and its commands")
    yield from (".SH SYNOPSIS", ".B stoker", r"\fICOMMAND\fR [\fIOPTIONS\fR] [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", "Runs Heat templates, and the service that does.")
    yield r"\fBstoker COMMAND \-\-help\fR describes a command with its options and examples."
    yield ".SH COMMANDS"
    for name, summary in COMMANDS.items():
        yield from (".TP", rf"\fB{name}\fR", click.unstyle(summary).replace("-", r"\-"))
    yield from (".SH FILES", ".TP", r"\fI/etc/stoker/stoker.conf\fR")
    yield "Configuration of the service, in the format of heat.conf."


def _compressed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    """Build the package. Return the exit code."""
    directory = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "dist"
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as wheels:
        packages.build(Path(wheels))
        print(build(directory, Path(wheels)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
