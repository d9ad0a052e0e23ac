"""Writes a project: the files of an example, tests, hooks for commits, and CI."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from stoker.cli.authoring.projects.examples import Example
from stoker.cli.authoring.template_tests.test_files import SUFFIXES
from stoker.cli.console.failures import InputError

CI_FILES = {"github": ".github/workflows/templates.yml", "gitlab": ".gitlab-ci.yml"}
_TESTS = """\
# "stoker test" runs these tests without a cloud. The first run stores the plan, and later ones
# show how it has changed.
tests:
  - name: creates the same resources as before
{parameters}    snapshot: true
"""
_HOOKS = """\
repos:
  - repo: local
    hooks:
      - id: stoker-fmt
        name: stoker fmt
        entry: stoker fmt
        language: system
        pass_filenames: false
      - id: stoker-lint
        name: stoker lint
        entry: stoker lint
        language: system
        pass_filenames: false
      - id: stoker-test
        name: stoker test
        entry: stoker test
        language: system
        pass_filenames: false
"""
_GITHUB = """\
name: templates
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install "stoker[server]"
      - run: stoker fmt --check
      - run: stoker lint
      - run: stoker test --junit report.xml
"""
_GITLAB = """\
templates:
  image: python:3.12
  script:
    - pip install "stoker[server]"
    - stoker fmt --check
    - stoker lint
    - stoker test --junit report.xml
  artifacts:
    when: always
    reports: {junit: report.xml}
"""
_README = """\
# {title}

{summary}.

    stoker fmt
    stoker lint
    stoker test
    {deploy}
"""


def write_project(example: Example, directory: Path, ci: str | None) -> list[Path]:
    """Write a project into a new or empty directory. Return its files, relative to it.

    Raise :class:`InputError` if the directory has files.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise InputError(f'"{directory}" is not empty; choose another directory')
    directory.mkdir(parents=True, exist_ok=True)
    written = list(_copied(example, directory))
    for name, text in _added(example, directory, ci):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written.append(Path(name))
    return written


def deploy_command(example: Example) -> str:
    """Return the command that deploys the template of a project."""
    parts = ["stoker deploy", example.template.name]
    parts += [f"-e {example.name}/{each.name}" for each in example.environments[:1]]
    if not example.environments:
        parts += [f"-P {name}=..." for name in example.parameters]
    return " ".join(parts)


def _copied(example: Example, directory: Path) -> Iterator[Path]:
    for file in example.files():
        target = directory / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(example.template.parent / file, target)
        yield file


def _added(example: Example, directory: Path, ci: str | None) -> Iterator[tuple[str, str]]:
    tests = f"{example.name}{SUFFIXES[0]}"
    if not (directory / tests).exists():
        values = ", ".join(f"{name}: x" for name in example.parameters)
        yield tests, _TESTS.format(parameters=f"    parameters: {{{values}}}\n" if values else "")
    title = directory.resolve().name
    deploy = deploy_command(example)
    yield "README.md", _README.format(title=title, summary=example.summary, deploy=deploy)
    yield ".pre-commit-config.yaml", _HOOKS
    if ci is not None:
        yield CI_FILES[ci], _GITHUB if ci == "github" else _GITLAB
