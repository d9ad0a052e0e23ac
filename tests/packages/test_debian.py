"""The Debian package: its contents, and the findings of lintian."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import debian

MAINTAINER_SCRIPTS = sorted(path for path in debian.SOURCES.iterdir() if path.name.startswith("p"))


@pytest.fixture(scope="module")
def package(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("dpkg-deb") is None or not Path(debian.PYTHON).exists():
        pytest.skip("this is no Debian")
    return debian.build(tmp_path_factory.mktemp("debian"), packages)


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("script", MAINTAINER_SCRIPTS, ids=lambda path: path.name)
def test_shell_understands_maintainer_script(script: Path) -> None:
    output("sh", "-n", str(script))


def test_manual_page_lists_every_command() -> None:
    page = debian.manual()
    for command in ("deploy", "validate", "takeover"):
        assert rf"\fB{command}\fR" in page


@pytest.mark.long
def test_package_has_programs_units_and_a_configuration(package: Path) -> None:
    files = set(re.findall(r"\./(\S+)", output("dpkg-deb", "--contents", str(package))))
    assert {
        "usr/bin/stoker",
        "usr/share/man/man1/stoker.1.gz",
        "etc/stoker/stoker.conf",
        "lib/systemd/system/stoker.service",
        "lib/systemd/system/stoker-api.service",
        "lib/systemd/system/stoker-engine@.service",
    } <= files
    assert [name for name in files if name.endswith(".pyc")] == []
    control = output("dpkg-deb", "--field", str(package))
    assert re.search(
        r"^Depends: python3 \(>= 3\.\d+\), python3 \(<< 3\.\d+\)", control, re.MULTILINE
    )


@pytest.mark.long
def test_units_start_the_program_of_the_package(package: Path, tmp_path: Path) -> None:
    output("dpkg-deb", "--extract", str(package), str(tmp_path))
    for unit in (tmp_path / "lib/systemd/system").iterdir():
        assert "ExecStart=/usr/bin/stoker " in unit.read_text()
    # On the machine of the build the environment works at any place.
    python = tmp_path / "usr/lib/stoker/bin/python"
    python.unlink()
    python.symlink_to(debian.PYTHON)
    assert output(str(python), "-m", "stoker", "--version").startswith("stoker, version")


@pytest.mark.long
def test_lintian_finds_nothing(package: Path) -> None:
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not installed")
    done = subprocess.run(
        ["lintian", "--fail-on", "error,warning", "--allow-root", str(package)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
