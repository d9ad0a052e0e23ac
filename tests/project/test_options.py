"""Every option has an effect, or is known to have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from stoker.config.ignored import IGNORED
from stoker.config.loading import load
from stoker.config.options import GROUPS
from stoker.server.app import open_app

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
LOG = {
    "log_file", "log_dir", "use_json", "log_format", "log_date_format", "default_log_levels",
    "use_syslog", "syslog_log_facility",
}  # fmt: skip
# Read by the command, and where keystone_authtoken has no address.
READ_ELSEWHERE = {
    *(("DEFAULT", name) for name in LOG),
    ("clients_keystone", "auth_uri"),
    *(("opentelemetry", name) for name in ("endpoint", "service_name", "ratio")),
    *(
        (group, name)
        for group in ("heat_api", "heat_api_cfn", "heat_api_cloudwatch")
        for name in ("bind_host", "bind_port")
    ),
}


class Recorder:
    """Options that note which of them are read."""

    def __init__(self, conf: Any, read: set[tuple[str, str]], group: str = "DEFAULT") -> None:
        self._conf, self._read, self._group = conf, read, group

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._conf, name)
        if self._group == "DEFAULT" and name in GROUPS:
            return Recorder(found, self._read, name)
        self._read.add((self._group, name))
        return found


async def test_every_option_is_read_or_has_no_effect(tmp_path: Path) -> None:
    file = tmp_path / "stoker.conf"
    file.write_text(MINIMUM)
    conf = load([file])
    conf.set_override("data_dir", str(tmp_path / "data"))
    read: set[tuple[str, str]] = set()
    async with open_app(cast("Any", Recorder(conf, read))):
        pass
    registered = {(g, o.dest) for g, options in GROUPS.items() for o in options}
    ignored = {(group, name) for group, names in IGNORED.items() for name in names}
    assert registered - read - READ_ELSEWHERE == registered & ignored


def test_options_without_effect_are_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/configuration.md").read_text()
    for names in IGNORED.values():
        for name in names:
            assert f"`{name}`" in page, name


def test_every_option_says_what_it_does() -> None:
    ignored = {(group, name) for group, names in IGNORED.items() for name in names}
    mute = [
        (group, option.dest)
        for group, options in GROUPS.items()
        for option in options
        if not option.help and (group, option.dest) not in ignored
    ]
    assert mute == []
