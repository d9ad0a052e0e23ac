"""The Ansible role: read by Ansible, checked by ansible-lint, and its configuration by Stoker."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from stoker.cli.configuration import findings_in
from stoker.config.files import ConfigFiles

FOLDER = Path(__file__).parents[2] / "deploy/ansible"
ROLE = FOLDER / "roles/stoker"
PROGRAMS = Path(sys.executable).parent
SECRETS = {
    "stoker_password": "secret",
    "stoker_domain_admin_password": "secret",
    "stoker_encryption_key": "0123456789abcdef" * 2,
    "stoker_database": "postgresql+psycopg://stoker:secret@db/stoker",
}


def run(program: str, *arguments: str) -> str:
    if not (PROGRAMS / program).exists():
        pytest.skip("the extra deploy is not installed: make test-packages installs it")
    path = f"{PROGRAMS}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [str(PROGRAMS / program), *arguments],
        cwd=FOLDER,
        env={**os.environ, "PATH": path, "ANSIBLE_NOCOLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def defaults() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROLE / "defaults/main.yml").read_text())
    return found


def test_written_configuration_needs_no_change(tmp_path: Path) -> None:
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(
        (ROLE / "templates/stoker.conf.j2").read_text()
    )
    values = {**defaults(), **SECRETS, "ansible_managed": "managed"}
    options = {"DEFAULT": {"debug": "true"}, "metrics": {"token": "secret"}}
    file = tmp_path / "stoker.conf"
    file.write_text(template.render({**values, "stoker_options": options}))
    assert [str(finding) for finding in findings_in(ConfigFiles((file,), ()))] == []
    assert "debug = true" in file.read_text()


def test_variables_of_tasks_have_defaults() -> None:
    texts = [path.read_text() for path in ROLE.rglob("*") if path.suffix in {".yml", ".j2"}]
    used = {name for text in texts for name in re.findall(r"\bstoker_\w+", text)}
    known = {*defaults(), "stoker_takeover_command", "stoker_health"}
    assert used - known - {"stoker_domain_admin"} == set()


def test_units_of_the_role_exist() -> None:
    text = (ROLE / "tasks/configure.yml").read_text()
    named = re.findall(r"\{\{ role_path \}\}/(\S+?)\"", text)
    assert len(named) == 2
    assert [path for path in named if not (ROLE / path).exists()] == []


@pytest.mark.long
def test_ansible_reads_the_playbook() -> None:
    assert "playbook: site.yml" in run(
        "ansible-playbook", "--inventory", "inventory.ini", "--syntax-check", "site.yml"
    )


@pytest.mark.long
def test_lint_finds_nothing_in_the_role() -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    run("ansible-lint", "--offline", "--profile", "production", ".")
