"""The mode of the data directory."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stoker.cli.arguments.data_dir import make_data_dir


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_directory_is_private(tmp_path: Path) -> None:
    make_data_dir(tmp_path / "a/b")
    assert mode(tmp_path / "a/b") == 0o700


def test_directory_of_older_release_becomes_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "serve.lock").touch()
    make_data_dir(tmp_path)
    assert mode(tmp_path) == 0o700


@pytest.mark.parametrize("mode_before", [0o755, 0o1777])
def test_directory_for_other_purposes_stays_as_it_is(tmp_path: Path, mode_before: int) -> None:
    tmp_path.chmod(mode_before)
    if mode_before == 0o1777:
        (tmp_path / "serve.lock").touch()
    make_data_dir(tmp_path)
    assert mode(tmp_path) == mode_before
