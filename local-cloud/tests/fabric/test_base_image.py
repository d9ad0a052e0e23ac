"""The base image that all servers of the ``host`` image share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from localcloud.fabric.storage import base_image
from localcloud.fabric.storage.base_image import BaseImage, copy_readable


def test_changed_host_gets_base_image_beside_current_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = BaseImage(tmp_path, many_users=False)
    used = image.directory
    monkeypatch.setattr(base_image, "_stamp", lambda many_users: "changed")
    image.begin()
    assert image.directory == tmp_path / "host-changed"
    assert (used / "root/etc/passwd").exists(), "servers that run stand on it"


def test_restart_rebuilds_image_if_host_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = BaseImage(tmp_path, many_users=False).directory
    assert BaseImage(tmp_path, many_users=False).directory == before
    monkeypatch.setattr(base_image, "_stamp", lambda many_users: "changed")
    begun = BaseImage(tmp_path, many_users=False)
    begun.begin()
    assert begun.directory != before
    assert list(tmp_path.iterdir()) == [begun.directory]


def test_file_removed_during_copy_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, copied = tmp_path / "host", tmp_path / "copied"
    for name in "abc":
        (host / name).mkdir(parents=True)
    for name in "def":
        (host / name).write_text("")
    copyfile = shutil.copyfile

    def copy_and_uninstall(source: str, target: Path) -> None:
        copyfile(source, target)
        for each in host.iterdir():
            if each != Path(source):
                shutil.rmtree(each) if each.is_dir() else each.unlink()

    monkeypatch.setattr(shutil, "copyfile", copy_and_uninstall)
    copy_readable(host, copied)

    files = [each for each in copied.iterdir() if each.is_file()]
    assert len(files) == 1
