"""User data for a server that is only a set of processes, without a machine of its own.

Scripts, boot hooks, ``bootcmd``, ``runcmd`` and ``write_files`` work, the latter below the server's
own directory. Nothing outside that directory is written. Everything else is reported and skipped.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init import cloudconfig, files, parts
from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.parts import Part
from localcloud.guest.cloud_init.scripts import run_script, say

_DONE = {"bootcmd", "runcmd", "write_files", "final_message", "merge_how", "merge_type"}


def run(instance: Instance, directory: Path) -> int:
    """Process user data inside ``directory``; returns 0, or 1 when something failed."""
    try:
        found = parts.split(instance.user_data or b"")
    except ValueError as error:
        say(f"user data: {error}")
        return 1
    config = cloudconfig.load([part for part in found if part.content_type == parts.CLOUD_CONFIG])
    first = not (directory / "user-data-done").exists()
    failed = 0
    for part in found:
        if part.content_type == parts.BOOTHOOK:
            payload = part.payload.lstrip().partition(b"\n")[2]
            start = b"" if payload.startswith(b"#!") else b"#!/bin/sh\n"
            failed |= _run(directory, part.filename, start + payload, instance)
    if config.get("bootcmd"):
        failed |= _run(directory, "bootcmd", _lines(config["bootcmd"]), instance)
    if first:
        _note(config, found)
        files.write_files(_below(config.get("write_files"), directory), deferred=False)
        files.write_files(_below(config.get("write_files"), directory), deferred=True)
        scripts = {
            part.filename: part.payload.lstrip()
            for part in found
            if part.content_type == parts.SHELL_SCRIPT
        }
        if config.get("runcmd"):
            scripts["runcmd"] = _lines(config["runcmd"])
        for name, payload in sorted(scripts.items()):
            failed |= _run(directory, name, payload, instance)
        (directory / "user-data-done").touch()
        say(str(config.get("final_message") or "user data is done"))
    return failed


def _lines(commands: Any) -> bytes:
    return cloudconfig.shell_lines(commands).encode()


def _run(directory: Path, name: str, payload: bytes, instance: Instance) -> int:
    path = directory / "scripts" / name
    path.parent.mkdir(exist_ok=True)
    # With a carriage return, the kernel would not find the interpreter of the first line.
    path.write_bytes(payload.replace(b"\r\n", b"\n"))
    path.chmod(0o700)
    return 1 if run_script(path, instance) else 0


def _below(entries: Any, directory: Path) -> list[dict[str, Any]]:
    root = directory / "root"
    found = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and entry.get("path"):
            # The leading slash stops `..` at the root, so that no path leaves the directory.
            path = os.path.normpath("/" + str(entry["path"]))
            found.append({**entry, "path": str(root) + path, "owner": None})
    return found


def _note(config: dict[str, Any], found: list[Part]) -> None:
    ignored = sorted(str(key) for key in set(config) - _DONE)
    if ignored:
        say(f"cloud-config: ignored in a server of plain processes: {', '.join(ignored)}")
    if config.get("write_files"):
        say("cloud-config: write_files writes below root/ of the server's own directory")
    handled = {parts.SHELL_SCRIPT, parts.CLOUD_CONFIG, parts.BOOTHOOK}
    for part in found:
        if part.content_type not in handled:
            say(f"user data: {part.filename} ({part.content_type}) is ignored")


def run_aside(work: Callable[[], int]) -> None:
    """Run ``work`` in a child process that ends with it."""
    if os.fork() == 0:
        code = 1
        try:
            code = work()
        finally:
            # Skip the parent's exit handlers, which belong to the parent only.
            os._exit(code)
