"""Finds the service for a command, or starts one in the background."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import click

from stoker.cli.arguments.data_dir import Running, make_data_dir, running_in
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import in_data_dir
from stoker.cli.client.target import Target
from stoker.cli.console.failures import CommandError
from stoker.cli.extras import require

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_LOG = "serve.log"
_LOG_TAIL = 20


def connect(target: Target) -> Client:
    """Return a client of the service. Raise :class:`CommandError` if there is none."""
    credentials = target.foreign()
    if credentials is None:
        if target.url is None and not _is_ready(target.data_dir):
            raise CommandError(
                f'no service runs in {target.data_dir}; start one with "stoker serve", or name'
                " another with --data-dir, with --url, or with OS_* variables"
            )
        credentials = in_data_dir(target.data_dir)
    if credentials is None:
        raise CommandError(
            f"there are no credentials: neither OS_* variables nor {target.data_dir}/clouds.yaml"
        )
    client = Client(credentials, target.url)
    if client.foreign_cloud:
        click.echo(f"On {client.foreign_cloud}", err=True)
    return client


def _is_ready(data_dir: Path) -> bool:
    """Return whether a service is running; wait for one that is starting."""
    deadline = time.monotonic() + START_SECONDS
    while (running := running_in(data_dir)) is not None and time.monotonic() < deadline:
        if running.ready:
            return True
        time.sleep(0.02)
    return False


def start_detached(target: Target) -> Running:
    """Start a service that outlives this process. Raise :class:`CommandError` if it fails."""
    require("local", "a service on this machine")
    make_data_dir(target.data_dir)
    log = target.data_dir / _LOG
    command = [sys.executable, "-m", "stoker", "serve", "--data-dir", str(target.data_dir)]
    writing = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(
        sys.executable,
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, writing, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    deadline = time.monotonic() + START_SECONDS
    ended = False
    while time.monotonic() < deadline and not ended:
        running = running_in(target.data_dir)
        if running is not None and running.ready:
            return running
        time.sleep(0.02)
        ended = os.waitpid(pid, os.WNOHANG)[0] == pid
    if not ended:
        os.kill(pid, signal.SIGTERM)
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL:]
    raise CommandError("\n".join(["the service did not start; its output:", *lines]))


def stop(running: Running, data_dir: Path) -> None:
    """Stop the service of a data directory and wait. Raise :class:`CommandError` if it fails."""
    try:
        os.kill(running.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise CommandError(f"process {running.pid} belongs to another user") from None
    deadline = time.monotonic() + STOP_SECONDS
    while running_in(data_dir) is not None:
        if time.monotonic() > deadline:
            raise CommandError(
                f"process {running.pid} has not ended within {STOP_SECONDS:.0f} s;"
                f' "kill -9 {running.pid}" ends it, and loses nothing'
            )
        time.sleep(0.02)
