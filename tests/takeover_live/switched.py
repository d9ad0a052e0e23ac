"""The take-over of the lab's Heat by the command, and the service on Heat's ports."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.takeover_live import lab

DATA = lab.FOLDER / "stoker"
_STOKER = (sys.executable, "-m", "stoker")
_START_SECONDS = 60.0


def prepare() -> None:
    """Remove the data of an earlier run; write the configuration beside Heat's."""
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    _own_conf().write_text("[database]\nconnection =\n")


def transfer(*options: str) -> dict[str, Any]:
    """Carry over new and changed stacks of Heat; return the counts."""
    found: dict[str, Any] = json.loads(_takeover("--from", lab.run("url"), "--json", *options))
    return found


def check(token: str, project_id: str) -> dict[str, Any]:
    """Check against the running Heat; return the report."""
    heat = ("--heat", lab.API_URL, "--token", token, "--project", project_id)
    found: dict[str, Any] = json.loads(_takeover("check", "--json", *heat))
    return found


def changed_stacks() -> set[str]:
    """Return the names of the stacks that have changed here since they were copied."""
    taken = json.loads(_takeover("status", "--json"))
    return {each["name"] for each in taken if each["changed_here"]}


@contextmanager
def serving() -> Iterator[None]:
    """Serve on Heat's ports inside the block."""
    command = [*_STOKER, "serve", "--no-local-cloud", "--data-dir", str(DATA), *_configuration()]
    command += ["--port", str(lab.API_PORT), "--cfn-port", str(lab.CFN_PORT)]
    with (
        (DATA / "serve.log").open("ab") as log,
        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            _wait_for_answer(process)
            yield
        finally:
            process.terminate()


def _wait_for_answer(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(f"{lab.API_URL}/healthcheck").raise_for_status()
            return
        except httpx.HTTPError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _takeover(*words: str) -> str:
    place = [*_configuration(), "--data-dir", str(DATA)]
    done = subprocess.run(
        [*_STOKER, "takeover", *words, *place], capture_output=True, text=True, check=False
    )
    # The exit code 1 of a check with its report is not a failure of the command.
    if done.returncode != 0 and not done.stdout.startswith("{"):
        raise RuntimeError(f"stoker takeover {words[0]}: {done.stderr[-2000:]}")
    return done.stdout


def _own_conf() -> Path:
    return DATA / "stoker.conf"


def _configuration() -> list[str]:
    return ["--config-file", lab.run("conf"), "--config-file", str(_own_conf())]
