"""Processes user data as cloud-init does: some parts at each boot, others only at the first."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init import cloudconfig, handlers, mounts, parts, settings, ssh
from localcloud.guest.cloud_init.instance import CLOUD, CONFIGURATION, RUN, SCRIPTS, Instance
from localcloud.guest.cloud_init.parts import Part
from localcloud.guest.cloud_init.scripts import run_directory, run_script, say

_HEAT_DATA = Path("/var/lib/heat-cfntools")
_DATASOURCE = "DataSourceOpenStack"
_REFUSED = {
    parts.INCLUDE: "#include is refused: user data is not fetched from other places",
    parts.INCLUDE_ONCE: "#include-once is refused: user data is not fetched from other places",
    parts.UPSTART_JOB: "#upstart-job is ignored: this server does not run upstart",
    parts.JINJA: "## template: jinja is ignored: templates are not available in this server",
}


@dataclass
class _Sorted:
    """Parts by their treatment."""

    scripts: list[Part] = field(default_factory=list)
    hooks: list[Part] = field(default_factory=list)
    configs: list[Part] = field(default_factory=list)
    handlers: list[Part] = field(default_factory=list)
    others: list[Part] = field(default_factory=list)


def run(instance: Instance) -> int:
    """Process vendor data and user data; returns 0, or 1 after a failure.

    A step that runs once is recorded when it ends. After a crash in between, the next boot repeats
    it.
    """
    started = time.time()
    settings.say_start()
    unconfigured = not instance.has_done(CONFIGURATION)
    first = not instance.has_done(SCRIPTS)
    failures: list[str] = []
    user = _take(instance.user_data, "user data", failures, aloud=unconfigured)
    vendor = _take(_vendor_bytes(instance.vendor_data), "vendor data", failures, aloud=unconfigured)
    config = {**cloudconfig.load(vendor.configs), **cloudconfig.load(user.configs)}
    output = settings.redirect_output(config)
    if unconfigured:
        _keep(instance)
        cloudconfig.note_ignored(config)
        for sort in (vendor, user):
            failures += _handle_parts(sort, instance)
    for sort in (vendor, user):
        failures += _run_hooks(sort.hooks, instance)
    failures += cloudconfig.run_bootcmd(config, instance)
    if unconfigured:
        cloudconfig.configure(config, instance)
    # Mount after `mounts` has written /etc/fstab, and before packages and scripts use the volumes.
    failures += mounts.mount_all(instance)
    if unconfigured:
        failures += cloudconfig.finish_configuration(config, instance)
        instance.note_done(CONFIGURATION)
    ssh.start(instance)
    if first:
        _write_scripts(vendor.scripts, instance.directory / "vendor/scripts")
        failures += run_directory(instance.directory / "vendor/scripts", instance)
        failures += run_directory(CLOUD / "scripts/per-once", instance)
    failures += run_directory(CLOUD / "scripts/per-boot", instance)
    if first:
        failures += run_directory(CLOUD / "scripts/per-instance", instance)
        _write_scripts(user.scripts, instance.directory / "scripts")
        failures += run_directory(instance.directory / "scripts", instance)
        failures += settings.phone_home(config, instance)
        instance.note_done(SCRIPTS)
    _report(instance, failures, started)
    for failure in failures:
        say(f"[FAILED] {failure}")
    if first:
        settings.say_final(config)
        settings.change_power_state(config, instance)
    if output is not None:
        _end_redirection(output)
    return 1 if failures else 0


def _end_redirection(output: Any) -> None:
    # The command ends when its input does, so the last descriptors of the pipe are closed first.
    null = os.open("/dev/null", os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(null, standard)
    output.wait()


def _vendor_bytes(vendor: Any) -> bytes | None:
    if isinstance(vendor, dict):
        vendor = vendor.get("cloud-init")
    if isinstance(vendor, list):
        entries = [entry if isinstance(entry, dict) else {"content": entry} for entry in vendor]
        return b"#cloud-config-archive\n" + json.dumps(entries).encode()
    return str(vendor).encode() if vendor else None


def _take(data: bytes | None, what: str, failures: list[str], aloud: bool) -> _Sorted:
    sort = _Sorted()
    if not data:
        return sort
    try:
        found = parts.split(data)
    except ValueError as error:
        failures.append(f"{what}: {error}")
        say(failures[-1])
        return sort
    for part in found:
        _sort(part, sort, what, aloud)
    return sort


def _sort(part: Part, sort: _Sorted, what: str, aloud: bool) -> None:
    if part.content_type in _REFUSED:
        if aloud:
            say(f"{what}: {part.filename}: {_REFUSED[part.content_type]}")
    elif part.content_type == parts.SHELL_SCRIPT:
        sort.scripts.append(part)
    elif part.content_type == parts.BOOTHOOK:
        sort.hooks.append(part)
    elif part.content_type == parts.CLOUD_CONFIG:
        sort.configs.append(part)
    elif part.content_type == parts.PART_HANDLER:
        sort.handlers.append(part)
    elif part.payload.strip():
        sort.others.append(part)


def _keep(instance: Instance) -> None:
    raw = instance.user_data or b""
    (instance.directory / "user-data.txt").write_bytes(raw)
    (instance.directory / "user-data.txt").chmod(0o600)
    (instance.directory / "vendor-data.txt").write_bytes(_vendor_bytes(instance.vendor_data) or b"")
    (instance.directory / "datasource").write_text(f"{_DATASOURCE}: {_DATASOURCE}\n")
    (CLOUD / "data/instance-id").write_text(f"{instance.id}\n")


def _write_scripts(scripts: Sequence[Part], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for part in scripts:
        path = directory / part.filename
        path.write_bytes(part.payload.lstrip().replace(b"\r\n", b"\n"))
        path.chmod(0o700)


def _run_hooks(hooks: Sequence[Part], instance: Instance) -> list[str]:
    failures = []
    for part in hooks:
        path = instance.directory / "boothooks" / part.filename
        payload = part.payload.lstrip()
        if payload.startswith(b"#cloud-boothook"):
            payload = payload.partition(b"\n")[2]
        if not payload.startswith(b"#!"):
            payload = b"#!/bin/sh\n" + payload
        path.write_bytes(payload)
        path.chmod(0o700)
        code = run_script(path, instance, instance.id)
        if code != 0:
            failures.append(f"{path} ended with exit code {code}")
    return failures


def _handle_parts(sort: _Sorted, instance: Instance) -> list[str]:
    failures = []
    left: Sequence[Part] = sort.others
    for number, part in enumerate(sort.handlers, start=1):
        path = instance.directory / f"handlers/part-handler-{number:03d}.py"
        path.write_bytes(part.payload)
        if handlers.is_known(part.payload):
            continue
        left, code = handlers.handle(path, left, instance)
        if code != 0:
            failures.append(f"part handler {path} failed")
    for part in left:
        if part.content_type == parts.CFN_INIT_DATA:
            _keep_heat_data(part)
        else:
            start = part.payload.lstrip()[:30].decode(errors="replace").splitlines()[:1]
            say(f"user data: {part.filename} ({part.content_type}) is ignored; it starts: {start}")
    return failures


def _keep_heat_data(part: Part) -> None:
    _HEAT_DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _HEAT_DATA / part.filename
    path.write_bytes(part.payload)
    path.chmod(0o700 if part.filename == "cfn-userdata" else 0o600)
    link = CLOUD / "data" / part.filename
    link.unlink(missing_ok=True)
    link.symlink_to(path)


def _report(instance: Instance, failures: list[str], started: float) -> None:
    result = {"v1": {"datasource": _DATASOURCE, "errors": failures}}
    _replace(RUN / "result.json", result)
    # There is only one stage here, but readers of the file expect all of cloud-init's.
    stages = {
        stage: {"errors": [], "start": started, "finished": time.time()}
        for stage in ("init-local", "init", "modules-config", "modules-final")
    }
    stages["modules-final"]["errors"] = failures
    status = {"v1": {"datasource": _DATASOURCE, "stage": None, **stages}}
    _replace(RUN / "status.json", status)
    facts = {
        "instance_id": instance.id,
        "local_hostname": instance.hostname,
        "cloud_name": "openstack",
    }
    data = {"v1": facts, "ds": {"meta_data": instance.metadata}}
    _replace(RUN / "instance-data.json", data)
    finished = (
        f"{Path('/proc/uptime').read_text().split()[0]} - {time.strftime('%c', time.gmtime())}\n"
    )
    (instance.directory / "boot-finished").write_text(finished)


def _replace(path: Path, content: dict[str, Any]) -> None:
    # Renamed into place, as scripts wait for these files to appear.
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(content, indent=1) + "\n")
    whole.rename(path)
