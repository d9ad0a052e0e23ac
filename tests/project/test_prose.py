"""The guard of the language: habits in texts, recorded counts, and subjects of commits."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

import pytest
from tools.habits import classes_in, findings_in, markdown_texts, python_texts, unnamed_exceptions
from tools.prose import RECORDED, Survey, as_toml, check, update
from tools.source import ROOT
from tools.subjects import faults_of, subjects_since

LONG = " ".join(["word"] * 31)


def habits_in(source: str) -> list[tuple[int, str]]:
    """Line and habit of each finding in a Python file."""
    texts = python_texts(ast.parse(source), source)
    return sorted((found.line, found.habit) for found in findings_in("a.py", texts))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('"""Reads rows."""\n', []),
        ('"""What is read."""\n', [(1, "opening"), (1, "what")]),
        ('def f():\n    """Whether it works."""\n', [(2, "opening")]),
        ('"""Reads rows.\n\nIt is told of\nthem anew."""\n', [(3, "word"), (4, "word")]),
        ('"""Reads ``anew`` and "at once"."""\n', []),
        ('"""Reads.\n\n\b\nExamples\n  stoker tell\n"""\n', []),
        ('"""Rows.\n\nA tree::\n\n    told\n      anew\n\nIt is told.\n"""\n', [(8, "word")]),
        ("a = 1  # nobody reads it\n", [(1, "word")]),
        ('a = "# nobody"\n', []),
        (f"# {LONG}\n", [(1, "sentence")]),
        (f"# {LONG[:75]}.\n# {LONG[75:]}\n", []),
        ('class A:\n    a: int\n    """Seconds."""\n', [(3, "attribute")]),
        ("def test_one_two_three_four_five_six_seven_eight(): ...\n", []),
        ("def test_one_two_three_four_five_six_seven_eight_nine(): ...\n", [(1, "test-name")]),
        ("def test_nobody_waits(): ...\n", [(1, "word")]),
        ('raise ValueError(f"{name} begins anew")\n', [(1, "word"), (1, "word")]),
        ('log.warning("looked at in vain")\n', [(1, "word"), (1, "word")]),
        ('print("told")\n', []),
    ],
)
def test_habits_are_found_with_their_lines(source: str, found: list[tuple[int, str]]) -> None:
    assert habits_in(source) == found


def test_exceptions_are_followed_through_modules() -> None:
    sources = {
        "src/a/base.py": "class Refused(Exception): ...\n",
        "src/a/more.py": "from a.base import Refused\nclass Gone(Refused): ...\nclass Row: ...\n",
        "src/a/good.py": "from a.base import Refused\nclass GoneError(Refused): ...\n",
    }
    classes = {
        name: (file, line, bases)
        for file, source in sources.items()
        for name, (line, bases) in classes_in(file, ast.parse(source)).items()
    }
    found = [(each.file, each.line) for each in unnamed_exceptions(classes)]
    assert found == [("src/a/base.py", 1), ("src/a/more.py", 2)]


def test_pages_are_read_without_code() -> None:
    page = "# Title\n\nIt is\ntold `anew`.\n\n    told\n\n| a |\n|---|\n| nobody |\n"
    found = [(each.line, each.excerpt) for each in findings_in("a.md", markdown_texts(page))]
    assert found == [(4, '"told"'), (10, '"nobody"')]
    assert list(markdown_texts("Written by `python -m tools.reference`.\n\nIt is told.\n")) == []


def git(folder: Path, *arguments: str) -> None:
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        identity |= {f"GIT_{role}_NAME": "t", f"GIT_{role}_EMAIL": "t@example.org"}
    environment = {**os.environ, **identity}
    subprocess.run(["git", "-C", folder, *arguments], check=True, env=environment)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with two findings, which are recorded."""
    git(tmp_path, "init", "-q", "-b", "main")
    room = tmp_path / "src/stoker/room"
    room.mkdir(parents=True)
    (room / "old.py").write_text('"""Told anew."""\n')
    (tmp_path / "tools").mkdir()
    (tmp_path / RECORDED).write_text(as_toml(Survey(tmp_path).counts()))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "Add a room")
    return tmp_path


def test_added_finding_fails_the_check_and_is_named(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(Survey(clone)) == 0
    (clone / "src/stoker/room/old.py").write_text('"""Told anew."""\n\na = 1  # at once\n')
    assert check(Survey(clone)) == 1
    said = capsys.readouterr().out
    assert 'src/stoker/room/old.py:3: word: "at once" -> immediately' in said
    assert "old.py:1:" not in said
    assert update(Survey(clone)) == 1


def test_lower_count_passes_and_is_recorded_by_update(
    clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (clone / "src/stoker/room/old.py").write_text('"""Told again."""\n')
    assert check(Survey(clone)) == 0
    assert "--update" in capsys.readouterr().out
    assert update(Survey(clone)) == 0
    (clone / "src/stoker/room/old.py").write_text('"""Told anew."""\n')
    assert check(Survey(clone)) == 1


def test_moved_file_passes_after_update(clone: Path) -> None:
    (clone / "src/stoker/other").mkdir()
    (clone / "src/stoker/room/old.py").rename(clone / "src/stoker/other/old.py")
    assert check(Survey(clone)) == 1
    assert update(Survey(clone)) == 0
    assert check(Survey(clone)) == 0


@pytest.mark.parametrize(
    "subject",
    ["Fix lost events", "Speed up large plans", "Merge branch x", 'Revert "Let it go on"'],
)
def test_good_subjects_pass(subject: str) -> None:
    assert faults_of(subject) == []


@pytest.mark.parametrize(
    "subject", ["Let it go on", "Fix", "fix lost events", "Fix lost events.", f"Fix {'x' * 57}"]
)
def test_other_subjects_are_refused(subject: str) -> None:
    assert faults_of(subject)


def test_subjects_are_those_that_the_base_lacks(clone: Path) -> None:
    git(clone, "checkout", "-q", "-b", "change")
    git(clone, "commit", "-q", "--allow-empty", "-m", "Let it go on")
    assert [subject for _, subject in subjects_since("main", clone)] == ["Let it go on"]
    assert subjects_since(None, clone) == []
    git(clone, "branch", "-q", "--set-upstream-to", "main")
    assert [subject for _, subject in subjects_since(None, clone)] == ["Let it go on"]


def test_shallow_clone_has_nothing_to_check(clone: Path) -> None:
    git(clone, "commit", "-q", "--allow-empty", "-m", "Let it go on")
    shallow = clone / "shallow"
    git(clone, "clone", "-q", "--depth", "1", clone.as_uri(), str(shallow))
    assert subjects_since(None, shallow) == []
    assert subjects_since("HEAD~1", shallow) == []


def test_hook_refuses_subject_and_spares_other_hooks(clone: Path) -> None:
    for name in ("subjects.py", "hooks/commit-msg", "hooks/install"):
        copy = clone / "tools" / name
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes((ROOT / "tools" / name).read_bytes())
        copy.chmod(0o755)
    subprocess.run([clone / "tools/hooks/install"], check=True)
    with pytest.raises(subprocess.CalledProcessError):
        git(clone, "commit", "-q", "--allow-empty", "-m", "Let it go on")
    git(clone, "commit", "-q", "--allow-empty", "-m", "Fix lost events")
    git(clone, "config", "core.hooksPath", "mine")
    subprocess.run([clone / "tools/hooks/install"], check=True)
    chosen = subprocess.check_output(["git", "-C", clone, "config", "core.hooksPath"], text=True)
    assert chosen == "mine\n"
