"""The command ``stoker`` against a running service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.clients.test_libraries import TEMPLATE
from tests.recovery.service import Service


def stoker(service: Service, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    command = [sys.executable, "-m", "stoker", *words, "--data-dir", str(service.data_dir)]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )


def test_snapshot_commands_manage_a_snapshot(service: Service, tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(TEMPLATE)
    template = ["deploy", str(tmp_path / "main.yaml"), "--name", "pictured", "--yes"]
    assert stoker(service, *template).returncode == 0
    assert "has no snapshots" in stoker(service, "snapshot", "list", "pictured").stdout
    taken = stoker(service, "snapshot", "create", "pictured", "--name", "before")
    assert taken.returncode == 0, taken.stderr
    number = taken.stdout.split()[-1]
    listed = json.loads(stoker(service, "snapshot", "list", "pictured", "--json").stdout)
    assert [(each["id"], each["name"], each["status"]) for each in listed] == [
        (number, "before", "COMPLETE")
    ]
    shown = stoker(service, "snapshot", "show", "pictured", "before").stdout
    assert {"OS::Heat::RandomString", number, "COMPLETE"} <= set(shown.split())
    assert stoker(service, *template, "-P", "length=12").returncode == 0
    asked = stoker(service, "snapshot", "restore", "pictured", "before")
    assert (asked.returncode, "use --yes" in asked.stderr) == (2, True)
    restored = stoker(service, "snapshot", "restore", "pictured", "before", "--yes")
    assert restored.returncode == 0, restored.stderr
    found = json.loads(stoker(service, "status", "pictured", "--json").stdout)
    assert len(found["outputs"]["text"]) == 8
    gone = stoker(service, "snapshot", "delete", "pictured", number, "--yes")
    assert (gone.returncode, gone.stdout) == (0, f"snapshot {number} is deleted\n")
    unknown = stoker(service, "snapshot", "show", "pictured", "before")
    assert (unknown.returncode, 'has no snapshot "before"' in unknown.stderr) == (2, True)
    assert stoker(service, "destroy", "pictured", "--yes").returncode == 0
