"""Packages are installed in servers as on a real machine, for each user that runs the cloud."""

import base64
import gzip
import io
import subprocess
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

CONTROL = """Package: stoker-probe
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: a package of a test
"""
FILES = (
    "usr/sbin/stoker-probe",
    "usr/share/doc/stoker-probe/copyright",
    "usr/share/man/man8/stoker-probe.8",
    "usr/lib/python3/dist-packages/stoker_probe.py",
    "etc/stoker-probe.conf",
    "opt/stoker-probe/file",
    "var/lib/stoker-probe/state",
)


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A repository of apt with one package, as a tar archive."""
    place = tmp_path_factory.mktemp("package")
    tree, repository = place / "tree", place / "repository"
    for name in FILES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("#!/bin/sh\necho the probe runs\n")
        (tree / name).chmod(0o755)
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(CONTROL)
    repository.mkdir()
    package = repository / "stoker-probe.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(package)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("this machine has no dpkg-deb: its servers have no packages of Debian")
    data = package.read_bytes()
    facts = f"Filename: ./{package.name}\nSize: {len(data)}\nSHA256: {sha256(data).hexdigest()}\n"
    (repository / "Packages.gz").write_bytes(gzip.compress((CONTROL + facts).encode()))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(repository, "repository")
    return packed.getvalue()


@pytest.fixture
def overlays(tmp_path: Path, capabilities: object) -> None:
    if not getattr(capabilities, "overlay", False):
        pytest.skip("overlay mounts are refused here: /usr is read-only in servers")


def script(archive: bytes, body: str) -> str:
    packed = base64.b64encode(archive).decode()
    return f"#!/bin/sh\nexec 2>&1\nset -x\ncd /srv\necho {packed} | base64 -d > archive\n{body}"


def on_host() -> list[str]:
    return [name for name in FILES if Path("/", name).exists()]


async def test_apt_updates_and_installs_in_server(overlays, repository, world):
    body = """
tar xzf archive
echo 'deb [trusted=yes] file:/srv/repository ./' > list
apt="apt-get -q -y -o Dir::Etc::sourcelist=/srv/list -o Dir::Etc::sourceparts=-"
export DEBIAN_FRONTEND=noninteractive
$apt update && $apt install stoker-probe && stoker-probe
dpkg --verify stoker-probe && dpkg --status stoker-probe | grep Status
$apt --reinstall install stoker-probe && $apt remove stoker-probe && echo removed
test ! -e /usr/sbin/stoker-probe && echo 'apt is done'
echo over
"""
    server = await world.boot("web", "10.0.0.5", script(repository, body))
    console = await world.until_console(server, "\nover\n")
    said = [line for line in console.splitlines() if not line.startswith("+")]
    for expected in ("the probe runs", "Status: install ok installed", "removed", "apt is done"):
        assert expected in said, console
    assert "Permission denied" not in console
    assert not on_host()


async def test_pip_installs_in_server(overlays, world):
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as file:
        facts = "stoker_probe-1.0.dist-info"
        file.writestr("stoker_probe.py", "print('the probe runs')\n")
        file.writestr(
            f"{facts}/METADATA", "Metadata-Version: 2.1\nName: stoker-probe\nVersion: 1.0\n"
        )
        tags = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        file.writestr(f"{facts}/WHEEL", tags)
        file.writestr(f"{facts}/RECORD", "")
    body = """
mv archive stoker_probe-1.0-py3-none-any.whl
python3 -m pip --version || echo 'there is no pip'
export PIP_BREAK_SYSTEM_PACKAGES=1
python3 -m pip install --no-index ./stoker_probe-1.0-py3-none-any.whl
cd / && python3 -m stoker_probe
echo over
"""
    server = await world.boot("web", "10.0.0.5", script(wheel.getvalue(), body))
    console = await world.until_console(server, "\nover\n")
    said = [line for line in console.splitlines() if not line.startswith("+")]
    if "there is no pip" in said:
        pytest.skip(f"the Python of servers has no pip on this machine:\n{console}")
    assert "the probe runs" in said, console
