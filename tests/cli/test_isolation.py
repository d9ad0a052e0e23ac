"""User data does not run on the machine itself where servers cannot be isolated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import command_line, environment_without_cloud

_TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  s:
    type: OS::Nova::Server
    properties:
      image: host
      flavor: m1.tiny
      networks: [{{network: private}}]
      user_data_format: RAW
      user_data: "#!/bin/sh\\ntouch {written}\\n"
"""
_NO_MORE = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'


@pytest.mark.parametrize("asked", [(), ("STOKER_WITHOUT_ISOLATION=1",)], ids=["default", "asked"])
def test_root_runs_no_user_data_without_isolation(tmp_path: Path, asked: tuple[str, ...]) -> None:
    """The caller is root within the namespace, so the option makes no difference."""
    # Where there are namespaces, one in which there are no more.
    may = subprocess.run(["unshare", "-Ur", "true"], capture_output=True, check=False)
    inside = ["unshare", "-Ur", "sh", "-c", _NO_MORE, "sh"] if may.returncode == 0 else []
    if asked and not inside and os.geteuid() != 0:
        pytest.skip("this user may ask for it, and cannot be root in a namespace")
    written = tmp_path / "written"
    template = tmp_path / "t.yaml"
    template.write_text(_TEMPLATE.format(written=written))
    data_dir = ("--data-dir", str(tmp_path / "data"))

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        words = [*inside, "env", *asked, *command]
        environment = environment_without_cloud()
        return subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    try:
        done = run(*command_line("deploy", str(template), "--yes", *data_dir))
    finally:
        run(*command_line("stop", *data_dir))
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "servers cannot be isolated on this machine: user namespaces are refused" in said
    assert "Root runs no servers without isolation" in said or "--without-isolation" in said
    assert not written.exists()
    examined = run(sys.executable, "-m", "localcloud", "doctor")
    assert "no   servers in namespaces of their own" in examined.stdout
