"""``#cloud-config``: one merged document, and the actions for its keys in order."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from localcloud.guest.cloud_init import (
    accounts,
    apt,
    files,
    merging,
    mounts,
    packages,
    settings,
    ssh,
)
from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.parts import Part
from localcloud.guest.cloud_init.scripts import run_script, say

_HANDLED = {
    "apt_update", "apt_upgrade", "bootcmd", "chpasswd", "final_message", "fqdn", "groups",
    "hostname", "locale", "locale_configfile", "merge_how", "merge_type", "output",
    "package_update", "package_upgrade", "packages", "password", "phone_home", "power_state",
    "prefer_fqdn_over_hostname", "preserve_hostname", "runcmd", "ssh_authorized_keys",
    "system_info", "timezone", "user", "users", "write_files", "apt", "ca-certs", "ca_certs",
    "ssh_keys", "ssh_pwauth", "disable_root", "manage_etc_hosts", "swap", "mounts", "ntp",
}  # fmt: skip
# Keys that are known and not done, with the reason.
_NOT_DONE = {
    "chef": "configuration management is not started",
    "ansible": "use runcmd",
    "device_aliases": "servers have no block devices",
    "disk_setup": "servers have no block devices",
    "fs_setup": "servers have no block devices",
    "growpart": "the root file system has the host's size already",
    "resize_rootfs": "the root file system has the host's size already",
    "keyboard": "servers have no keyboard",
    "lxd": "not available",
    "network": "addresses are set from outside",
    "puppet": "use runcmd",
    "resolv_conf": "name servers come from the subnet",
    "rsyslog": "use write_files and runcmd",
    "salt_minion": "use runcmd",
    "snap": "snapd needs systemd",
    "yum_repos": "use write_files",
    "zypper": "use write_files",
    "wireguard": "needs kernel modules",
    "seed_random": "the host's random numbers are there",
}
_OF_THE_HOST = {
    "ntp": "not done, as servers have the clock of the host",
    "swap": "not done, as servers have the memory of the host",
}
Config = dict[str, Any]


def load(parts: Sequence[Part]) -> Config:
    """The cloud-config parts merged in order; one that is not a mapping is said and left out."""
    config: Config = {}
    for part in parts:
        try:
            document = yaml.safe_load(part.payload)
        except (yaml.YAMLError, ValueError) as error:
            say(f"cloud-config: {part.filename} is not YAML: {error}")
            continue
        if document is None:
            continue
        if not isinstance(document, dict):
            say(f"cloud-config: {part.filename} is not a mapping but {type(document).__name__}")
            continue
        how = part.merge_how or document.get("merge_how") or document.get("merge_type")
        config = merging.merge(config, document, merging.mergers(how or merging.DEFAULT))
    return config


def note_ignored(config: Config) -> None:
    """Say which keys this server does nothing for."""
    for key in sorted(str(key) for key in set(config) - _HANDLED):
        reason = _NOT_DONE.get(key, "it is not known here")
        say(f"cloud-config: ignored in this server: {key}: {reason}")
    for key, reason in _OF_THE_HOST.items():
        if config.get(key):
            say(f"cloud-config: {key}: {reason}")


def shell_lines(commands: Any) -> str:
    """``runcmd`` or ``bootcmd`` as a shell script: text is a line, a list is quoted words."""
    lines = ["#!/bin/sh"]
    for command in commands if isinstance(commands, list) else []:
        if isinstance(command, list):
            lines.append(shlex.join(map(str, command)))
        elif command is not None:
            lines.append(str(command))
    return "\n".join(lines) + "\n"


def run_bootcmd(config: Config, instance: Instance) -> list[str]:
    """``bootcmd``, at every boot. Returns sentences about failures."""
    if not config.get("bootcmd"):
        return []
    path = instance.directory / "bootcmd"
    _write_script(path, shell_lines(config["bootcmd"]))
    code = run_script(path, instance)
    return [f"bootcmd ended with exit code {code}"] if code else []


def _write_script(path: Path, content: str) -> None:
    path.write_text(content)
    path.chmod(0o700)


def configure(config: Config, instance: Instance) -> None:
    """Apply the keys that precede packages and scripts, once per instance."""
    settings.set_hostname(config, instance)
    files.write_files(config.get("write_files"), deferred=False)
    if config.get("groups"):
        accounts.make_groups(config["groups"])
    accounts.make_users(config, instance)
    ssh.configure(config, instance)
    apt.configure_apt(config)
    apt.add_certificates(config, instance)
    settings.set_locale(config)
    accounts.set_passwords(config, instance)
    mounts.add_mounts(config)
    settings.set_timezone(config)
    if config.get("runcmd"):
        _write_script(instance.directory / "scripts/runcmd", shell_lines(config["runcmd"]))


def finish_configuration(config: Config, instance: Instance) -> list[str]:
    """Packages and deferred files, once per instance. Returns sentences about failures."""
    failures = packages.install_packages(config, instance)
    files.write_files(config.get("write_files"), deferred=True)
    return failures
