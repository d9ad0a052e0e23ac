"""``stoker new``: projects that start from an example."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from stoker.cli.authoring.projects.examples import Example, examples
from tests.cli.conftest import EXAMPLES, stoker


def test_examples_are_listed() -> None:
    done = stoker("new")
    names = [line.split()[0] for line in done.output.splitlines()]
    templates = {path.stem for path in EXAMPLES.glob("*.yaml") if ".test" not in path.name}
    assert set(names) == templates


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_project_passes_its_own_checks(example: Example, tmp_path: Path) -> None:
    directory = tmp_path / "my-app"
    done = stoker("new", example.name, str(directory), "--ci", "github")
    assert done.exit_code == 0, done.output
    assert (directory / example.template.name).read_text() == example.template.read_text()
    assert stoker("fmt", "--check", str(directory)).exit_code == 0
    for _ in range(2):  # the first run stores the plan, and the second one has the same
        tests = stoker("test", str(directory))
        assert tests.exit_code == 0, tests.output
    assert yaml.safe_load((directory / ".github/workflows/templates.yml").read_text())["jobs"]
    assert yaml.safe_load((directory / ".pre-commit-config.yaml").read_text())["repos"]
    assert f"stoker deploy {example.name}.yaml" in (directory / "README.md").read_text()


def test_directory_with_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = stoker("new", "hello", str(tmp_path))
    assert done.exit_code == 2
    assert "is not empty" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_misspelt_example_is_explained(tmp_path: Path) -> None:
    done = stoker("new", "web-ap", str(tmp_path / "x"))
    assert done.exit_code == 2
    assert 'did you mean "web-app"?' in done.output
    assert not (tmp_path / "x").exists()
