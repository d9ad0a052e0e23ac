"""Horizon with the dashboard for stacks, in a real browser: heat-dashboard of PyPI, Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.clients.programs import installed
from tests.clients.test_libraries import TEMPLATE
from tests.recovery.service import Service, free_ports, until

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
_SECONDS = 500


def browser() -> tuple[str, str]:
    """Chromium and its driver; skips the test where they are missing."""
    names = ("chromium", "chromedriver")
    found = [shutil.which(name) or "" for name in names]
    if not all(found):
        missing = ", ".join(name for name, path in zip(names, found, strict=True) if not path)
        pytest.skip(f"not installed: {missing} (Debian: apt install chromium chromium-driver)")
    return found[0], found[1]


def prepare(programs: Path) -> None:
    """Add the panels of heat-dashboard to Horizon, as its documentation says, and the settings."""
    [packages] = programs.parent.glob("lib/python3*/site-packages")
    local = packages / "openstack_dashboard/local"
    for panel in (packages / "heat_dashboard/enabled").glob("_[1-9]*.py"):
        shutil.copy(panel, local / "enabled")
    shutil.copy(HERE / "local_settings.py", local)


@contextmanager
def horizon(programs: Path, service: Service, directory: Path) -> Iterator[str]:
    """The URL of a Horizon that runs."""
    prepare(programs)
    [port] = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    settings = {
        "DJANGO_SETTINGS_MODULE": "openstack_dashboard.settings",
        "KEYSTONE_URL": f"{service.cloud_url}/identity/v3",
        "HORIZON_SESSIONS": str(directory),
    }
    with (directory / "horizon.log").open("wb") as log:
        process = subprocess.Popen(
            [programs / "python", "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"],
            cwd=directory,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def answers() -> bool:
        assert process.poll() is None, (directory / "horizon.log").read_text()[-3000:]
        try:
            return httpx.get(f"{url}/auth/login/", timeout=120, trust_env=False).is_success
        except httpx.TransportError:
            return False

    try:
        until(answers, "Horizon answers", 200)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def test_browser_launches_watches_and_deletes_a_stack(service: Service, tmp_path: Path) -> None:
    programs, chromium = installed("horizon", "horizon", "heat-dashboard", "selenium"), browser()
    template = tmp_path / "main.yaml"
    template.write_text(TEMPLATE)
    user = service.credentials("stoker")
    with horizon(programs, service, tmp_path) as url:
        done = subprocess.run(
            [programs / "python", HERE / "walk.py", url, user["username"], user["password"],
             template, tmp_path, *chromium],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.splitlines() == [
        "login",
        "launch",
        "topology",
        "overview",
        "resources",
        "events",
        "stack_template",
        "delete",
    ]
    assert service.stack("from-horizon") is None
