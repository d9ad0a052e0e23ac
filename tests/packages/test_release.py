"""The files of a release: reproducible, listed, and signed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tools import release
from tools.release import EXTRAS, SUMS, ReleaseError, digest, require_same, sign

from stoker.kernel.extras import MODULES


def gpg(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["gpg", "--batch", *arguments],
        env={**os.environ, "GNUPGHOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a GnuPG directory with one key, used by all programs of the test."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed")
    home = tmp_path / "gnupg"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    options = ("--passphrase", "", "--quick-generate-key")
    assert gpg(home, *options, "release@example.org", "ed25519", "sign").returncode == 0
    return home


def test_signature_proves_the_list_of_digests(keyring: Path, tmp_path: Path) -> None:
    sums = tmp_path / SUMS
    sums.write_text(f"{'0' * 64}  stoker.whl\n")
    signature = sign(sums, "release@example.org")
    assert gpg(keyring, "--verify", str(signature), str(sums)).returncode == 0
    sums.write_text(f"{'1' * 64}  stoker.whl\n")
    assert gpg(keyring, "--verify", str(signature), str(sums)).returncode == 1


def test_changed_file_is_not_reproducible(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for place in (first, second):
        place.mkdir()
        (place / "stoker.whl").write_bytes(b"a wheel")
    require_same([first / "stoker.whl"], second)
    (second / "stoker.whl").write_bytes(b"a wheel\n")
    with pytest.raises(ReleaseError, match=r"stoker\.whl is not reproducible"):
        require_same([first / "stoker.whl"], second)


def test_full_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "older.whl").touch()
    with pytest.raises(ReleaseError, match="is not empty"):
        release.release(tmp_path)


def test_bill_has_all_extras() -> None:
    assert {*EXTRAS.split(","), "server"} == set(MODULES)


@pytest.mark.long
def test_release_lists_every_file_and_library(
    keyring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STOKER_RELEASE_KEY", "release@example.org")
    files = release.release(tmp_path / "release")
    by_name = {path.name: path for path in files}
    assert set(by_name) == {path.name for path in (tmp_path / "release").iterdir()}
    lines = (line.split() for line in by_name[SUMS].read_text().splitlines())
    sums = {name: value for value, name in lines}
    assert len(sums) == 5
    assert {name: digest(by_name[name]) for name in sums} == sums
    [bill] = [path for path in files if path.name.endswith(".cdx.json")]
    components = {each["name"].lower() for each in json.loads(bill.read_text())["components"]}
    assert {"sqlalchemy", "psycopg", "stoker-localcloud", "oslo.messaging"} <= components
    assert "pytest" not in components
    assert gpg(keyring, "--verify", f"{by_name[SUMS]}.asc", str(by_name[SUMS])).returncode == 0
