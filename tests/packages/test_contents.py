"""The built packages: their files, and the page of an index for them."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from tools import console
from tools.packages import build
from tools.release import require_same

ROOT = Path(__file__).parents[2]
PROJECTS = ("stoker", "stoker_localcloud")


def wheel(packages: Path, project: str) -> zipfile.ZipFile:
    [path] = packages.glob(f"{project}-*.whl")
    return zipfile.ZipFile(path)


def metadata(packages: Path, project: str) -> Message:
    with wheel(packages, project) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_index_accepts_all_packages(packages: Path) -> None:
    paths = [str(path) for path in packages.iterdir() if path.suffix in {".whl", ".gz"}]
    assert len(paths) == 4
    command = [sys.executable, "-m", "twine", "check", "--strict", *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 4), done.stdout


@pytest.mark.parametrize("project", PROJECTS)
def test_metadata_names_authors_license_and_pages(project: str, packages: Path) -> None:
    found = metadata(packages, project)
    assert found["Author"] == "The Stoker developers"
    assert found["License-Expression"] == "Apache-2.0"
    labels = {line.partition(",")[0] for line in found.get_all("Project-URL", [])}
    assert {"Homepage", "Documentation", "Source"} <= labels


@pytest.mark.parametrize("project", PROJECTS)
def test_links_of_the_description_are_absolute(project: str, packages: Path) -> None:
    text = str(metadata(packages, project).get_payload())
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) > 5
    assert [target for target in targets if not re.match(r"https://|#", target)] == []
    assert [target for target in targets if "/../" in target] == []


@pytest.mark.parametrize(
    ("project", "package"), [("stoker", "stoker"), ("stoker_localcloud", "localcloud")]
)
def test_wheel_is_typed_and_has_no_tests(project: str, package: str, packages: Path) -> None:
    with wheel(packages, project) as archive:
        names = archive.namelist()
    assert f"{package}/py.typed" in names
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {package}


def test_wheel_has_every_example_with_its_mode(packages: Path) -> None:
    examples = ROOT / "examples"
    files = [
        path for path in examples.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    with wheel(packages, "stoker") as archive:
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    for path in files:
        mode = modes[f"stoker/examples/{path.relative_to(examples).as_posix()}"]
        assert bool(mode & 0o100) == bool(path.stat().st_mode & 0o100), path


def test_wheel_has_the_page_of_the_console(packages: Path) -> None:
    if not console.is_current():
        pytest.skip("the page of the console is not built")
    with wheel(packages, "stoker") as archive:
        assert "stoker/api/console/assets/index.html" in archive.namelist()


def test_second_build_has_the_same_bytes(packages: Path, tmp_path: Path) -> None:
    first = list(packages.iterdir())
    assert {path.name for path in build(tmp_path)} == {path.name for path in first}
    require_same(first, tmp_path)


def test_addresses_of_the_project_agree() -> None:
    files = ("pyproject.toml", "local-cloud/pyproject.toml")
    texts = "".join((ROOT / name).read_text() for name in files)
    hosts = set(re.findall(r"https://[\w.-]+", texts))
    assert len(hosts) == 1
