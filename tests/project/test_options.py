"""Every option has an effect, or is known to have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stoker import config
from stoker.app import App

MINIMUM = """
[keystone_authtoken]
auth_url = http://identity:5000
username = stoker
[trustee]
username = trustee
[DEFAULT]
stack_domain_admin = admin
stack_user_domain_name = stacks
"""
READ_ELSEWHERE = {("DEFAULT", "log_file"), ("clients_keystone", "auth_uri")}
"""By the command, and where keystone_authtoken names no address."""


class Recorder:
    """Options that note which of them are read."""

    def __init__(self, conf: Any, read: set[tuple[str, str]], group: str = "DEFAULT") -> None:
        self._conf, self._read, self._group = conf, read, group

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._conf, name)
        if self._group == "DEFAULT" and name in config.GROUPS:
            return Recorder(found, self._read, name)
        self._read.add((self._group, name))
        return found


def test_every_option_is_read_or_listed_as_without_effect(tmp_path: Path) -> None:
    file = tmp_path / "stoker.conf"
    file.write_text(MINIMUM)
    conf = config.load([file])
    conf.set_override("data_dir", str(tmp_path / "data"))
    read: set[tuple[str, str]] = set()
    App(Recorder(conf, read))._store.close()
    registered = {(g, o.dest) for g, options in config.GROUPS.items() for o in options}
    listed = {(group, name) for group, names in config.NOT_HONOURED.items() for name in names}
    assert listed <= registered
    assert registered - read - READ_ELSEWHERE == listed


def test_options_without_effect_are_named_where_a_file_sets_them(tmp_path: Path) -> None:
    file = tmp_path / "heat.conf"
    file.write_text(
        f"{MINIMUM}\n[DEFAULT]\nconvergence_engine = false\n[volumes]\nbackups_enabled = true\n"
    )
    found = config.without_effect(config.load([file]))
    assert found == ["[DEFAULT] convergence_engine", "[volumes] backups_enabled"]


def test_options_without_effect_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/configuration.md").read_text()
    for names in config.NOT_HONOURED.values():
        for name in names:
            assert f"`{name}`" in page, name
