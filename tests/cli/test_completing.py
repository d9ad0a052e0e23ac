"""Names that shells complete, against a running service."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.cli.conftest import Served, command_line, environment_without_cloud

TEMPLATE = """heat_template_version: 2018-08-31
parameters:
  length: {type: number, default: 8}
  letters: {type: string, default: a}
resources:
  first: {type: OS::Heat::RandomString}
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{network: private}]}
"""


def completed(data_dir: Path, *words: str) -> list[str]:
    environment = {
        **environment_without_cloud(),
        "STOKER_DATA_DIR": str(data_dir),
        "_STOKER_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["stoker", *words]),
        "COMP_CWORD": str(len(words)),
    }
    program = Path(command_line()[0]).with_name("stoker")
    done = subprocess.run(
        [str(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=os.fspath(data_dir),
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_stacks_resources_servers_and_parameters_are_completed(
    service: Served, tmp_path: Path
) -> None:
    template = tmp_path / "completed.yaml"
    template.write_text(TEMPLATE)
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output
    assert "completed" in completed(service.data_dir, "status", "comp")
    assert completed(service.data_dir, "why", "completed", "") == ["first", "server"]
    assert completed(service.data_dir, "logs", "completed", "s") == ["server"]
    assert completed(service.data_dir, "deploy", str(template), "-P", "le") == [
        "length=",
        "letters=",
    ]
    assert service.run("destroy", "completed", "--yes").exit_code == 0


def test_completion_without_service_is_silent(tmp_path: Path) -> None:
    assert completed(tmp_path, "status", "") == []
    assert completed(tmp_path, "deploy", "absent.yaml", "-P", "") == []
