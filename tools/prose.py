"""``python tools/prose.py``: counts habits of language that this project avoids.

Each finding of :mod:`tools.habits` counts for its habit and for its room, which is the folder of
the file. tools/prose.toml records how many findings of a habit a room may have; without an entry,
none. The recorded counts only fall: ``make check`` fails where a count has risen,
and ``--update`` records those that have fallen.

    python tools/prose.py src/stoker/cli    # list all findings in a folder or file
    python tools/prose.py --update          # after a rewrite, or after files have moved
"""

from __future__ import annotations

import ast
import gc
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools import habits
from tools.habits import Finding, classes_in, figures_in, findings_in, unnamed_exceptions
from tools.source import ROOT

RECORDED = "tools/prose.toml"
CACHE = ".prose_cache"
MAX_SHOWN = 10
_ROOM_DEPTHS = {"src": 4, "local-cloud": 4, "tests": 2, "docs": 2}
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class Survey:
    """The findings and figures of all files; unchanged files come from a cache."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.findings: list[Finding] = []
        self.figures: dict[str, dict[str, int]] = {}
        cache = root / CACHE
        own = hashlib.sha256(
            Path(habits.__file__).read_bytes() + Path(__file__).read_bytes()
        ).hexdigest()
        known = _cached(cache, own)
        read: dict[str, Any] = {"tool": own}
        classes: dict[str, tuple[str, int, list[str]]] = {}
        gc.disable()  # The collector would use half the time, and finds nothing in syntax trees.
        for file in _files(root):
            source = (root / file).read_text(encoding="utf-8")
            digest = hashlib.sha256(f"{file}\0{source}".encode()).hexdigest()
            read[digest] = entry = known.get(digest) or _read(file, source)
            self.findings += [Finding(file, *found) for found in entry["findings"]]
            self.figures[file] = entry["figures"]
            classes |= {
                name: (file, line, bases) for name, (line, bases) in entry["classes"].items()
            }
        gc.enable()
        if read.keys() != known.keys():
            beside = cache.with_name(f"{CACHE}.{os.getpid()}")
            beside.write_text(json.dumps(read), encoding="utf-8")
            beside.replace(cache)
        self.findings += unnamed_exceptions(classes)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of findings by room and habit."""
        counted = Counter((room_of(each.file), each.habit) for each in self.findings)
        found: dict[str, dict[str, int]] = {}
        for (room, habit), count in sorted(counted.items()):
            found.setdefault(room, {})[habit] = count
        return found


def _cached(cache: Path, tool: str) -> dict[str, Any]:
    """Return the entries of a cache that this version of the tool has written."""
    try:
        known: dict[str, Any] = json.loads(cache.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if known.get("tool") == tool else {}


def _read(file: str, source: str) -> dict[str, Any]:
    if not file.endswith(".py"):
        found = [each[1:] for each in findings_in(file, habits.markdown_texts(source))]
        return {"findings": found, "figures": {}, "classes": {}}
    tree = ast.parse(source)
    texts = list(habits.python_texts(tree, source))
    return {
        "findings": [each[1:] for each in findings_in(file, texts)],
        "figures": figures_in(source, texts),
        "classes": classes_in(file, tree),
    }


def _files(root: Path) -> list[str]:
    listed = _git(root, "ls-files", "-co", "--exclude-standard", "*.py", "*.md").splitlines()
    return [file for file in sorted(set(listed)) if (root / file).is_file()]


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def room_of(file: str) -> str:
    """Return the folder under which findings in a file are counted."""
    parts = Path(file).parts[:-1]
    return "/".join(parts[: _ROOM_DEPTHS.get(file.partition("/")[0], 1)]) or "."


def recorded_in(root: Path) -> dict[str, dict[str, int]]:
    """Return the counts that rooms may have."""
    return tomllib.loads((root / RECORDED).read_text(encoding="utf-8"))


def risen(
    now: Mapping[str, Mapping[str, int]], recorded: Mapping[str, Mapping[str, int]]
) -> list[tuple[str, str, int, int]]:
    """Return room, habit, count and recorded count wherever the count is higher."""
    return [
        (room, habit, count, recorded.get(room, {}).get(habit, 0))
        for room, counts in now.items()
        for habit, count in counts.items()
        if count > recorded.get(room, {}).get(habit, 0)
    ]


def as_toml(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Return counts as the text of the file that records them."""
    lines = ["# Findings that a room may have: python tools/prose.py --update. They only fall."]
    for room, of_room in sorted(counts.items()):
        inline = ", ".join(f"{habit} = {count}" for habit, count in sorted(of_room.items()))
        lines.append(f'"{room}" = {{{inline}}}')
    return "\n".join(lines) + "\n"


def changed_lines(root: Path) -> dict[str, list[range]]:
    """Return the lines that are new since counts were last recorded, by file.

    Empty where the history does not reach back that far, as in a shallow clone.
    """
    base = _git(root, "log", "-1", "--format=%H", "--", RECORDED).strip()
    if not base:
        return {}
    untracked = _git(root, "ls-files", "-o", "--exclude-standard").splitlines()
    found = {file: [range(1, sys.maxsize)] for file in untracked}
    changes = _git(root, "diff", "-U0", "--no-ext-diff", "--no-color", base)
    for part in changes.split("diff --git ")[1:]:
        if name := re.search(r"^\+\+\+ b/(.*)$", part, re.MULTILINE):
            hunks = ((int(start), int(count or 1)) for start, count in _HUNK.findall(part))
            found[name[1]] = [range(start, start + count) for start, count in hunks]
    return found


def _report(survey: Survey, rises: list[tuple[str, str, int, int]]) -> None:
    """Print the rises, and the findings that are likely to be the new ones."""
    changed = changed_lines(survey.root)
    for room, habit, count, most in rises:
        print(f"{room}: {count} x {habit}, recorded in {RECORDED} are {most}")
        here = [e for e in survey.findings if (room_of(e.file), e.habit) == (room, habit)]
        new = [e for e in here if any(e.line in lines for lines in changed.get(e.file, ()))]
        new = new or here
        print(*(f"  {each}" for each in new[:MAX_SHOWN]), sep="\n")
        if len(new) > MAX_SHOWN:
            print(f"  and {len(new) - MAX_SHOWN} more: python tools/prose.py {room}")


def update(survey: Survey) -> int:
    """Record the counts; refuse if the tree has more findings of a habit than are recorded."""
    before, now = Counter[str](), Counter[str]()
    for total, counts in ((before, recorded_in(survey.root)), (now, survey.counts())):
        for room in counts.values():
            total.update(room)
    more = [habit for habit in now if now[habit] > before[habit]]
    for habit in more:
        print(f"{habit}: {now[habit]} findings in all, recorded are {before[habit]}: rewrite first")
    if not more:
        (survey.root / RECORDED).write_text(as_toml(survey.counts()), encoding="utf-8")
    return 1 if more else 0


def check(survey: Survey) -> int:
    """Compare with the recorded counts; the exit code."""
    now, recorded = survey.counts(), recorded_in(survey.root)
    rises = risen(now, recorded)
    _report(survey, rises)
    if not rises and (fallen := risen(recorded, now)):
        rooms = len({room for room, *_ in fallen})
        print(f"fewer findings in {rooms} rooms; record that: python tools/prose.py --update")
    return 1 if rises else 0


def main(arguments: list[str]) -> int:
    """Check, update, or list the findings in folders and files; the exit code."""
    survey = Survey()
    if arguments == ["--update"]:
        return update(survey)
    if not arguments:
        return check(survey)
    places = tuple(argument.rstrip("/") for argument in arguments)
    for each in survey.findings:
        if any(each.file == place or each.file.startswith(f"{place}/") for place in places):
            print(each)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
