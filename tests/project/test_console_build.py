"""The build of the console's page, with programs of the test in place of Node and npm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recovery.service import until

ROOT = Path(__file__).parents[2]
NPM = """#!/bin/sh
echo "$@" >> "{log}"
case "$1" in
ci) [ ! -e no-registry ] || exit 1; mkdir -p node_modules; touch node_modules/.package-lock.json ;;
install) exit 1 ;;
run) shift 4; mkdir -p "$2"; cp page "$2/index.html" ;;
esac
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the tool, with sources of a page and programs that pretend to build it."""
    for folder in ("tools", "console", "bin", ".venv/bin", "src/stoker/api/console"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "tools/console.py", tmp_path / "tools")
    for name in ("package.json", "package-lock.json", "page"):
        (tmp_path / "console" / name).write_text("first")
    program(tmp_path, "npm", NPM.format(log=tmp_path / "npm.log"))
    node(tmp_path, "v20.19.0")
    for name in ("sh", "nice", "mkdir", "touch", "cp"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    return tmp_path


def program(tree: Path, name: str, text: str) -> None:
    path = tree / "bin" / name
    path.write_text(text)
    path.chmod(0o755)


def node(tree: Path, version: str) -> None:
    program(tree, "node", f"#!/bin/sh\necho {version}\n")


def run(tree: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(tree / "tools/console.py"), *arguments],
        env={"PATH": str(tree / "bin")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def page(tree: Path) -> str:
    path = tree / "src/stoker/api/console/assets/index.html"
    return path.read_text() if path.exists() else ""


def test_page_is_built_when_sources_change(tree: Path) -> None:
    assert run(tree) == ""
    assert page(tree) == "first"
    before = (tree / "npm.log").read_text()
    assert "--ignore-scripts" in before
    assert run(tree) + run(tree, "--report") == ""
    assert (tree / "npm.log").read_text() == before
    (tree / "console/page").write_text("second")
    assert run(tree) == ""
    assert page(tree) == "second"
    assert (tree / "npm.log").read_text().count("ci ") == 1


@pytest.mark.parametrize("version", ["v18.20.0", "v20.18.3", "v21.5.0", "v22.11.0", "none"])
def test_missing_node_is_no_error(tree: Path, version: str) -> None:
    node(tree, version)
    assert "there is no Node >= 20.19" in run(tree)
    assert page(tree) == ""
    assert run(tree, "--check") == ""


def test_missing_registry_keeps_former_page(tree: Path) -> None:
    run(tree)
    (tree / "console/no-registry").touch()
    shutil.rmtree(tree / "console/node_modules")
    assert "no page, until python tools/console.py works here" in run(tree)
    assert page(tree) == "first"


def test_build_in_background_reports_its_end(tree: Path) -> None:
    assert run(tree, "--detach") == ""
    until(lambda: page(tree) == "first", "the page is built")
    until(lambda: run(tree, "--report") == "", "the page is current")
    node(tree, "v18.0.0")
    (tree / "console/page").write_text("second")
    run(tree, "--detach")
    until(lambda: "there is no Node" in run(tree, "--report"), "the reason is reported")


def test_tree_without_sources_has_nothing_to_build(tree: Path) -> None:
    shutil.rmtree(tree / "console")
    assert run(tree) + run(tree, "--report") + run(tree, "--check") == ""
