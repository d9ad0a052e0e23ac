"""``python tools/subjects.py [BASE]``: checks the subjects of commits.

Checked are the commits between BASE and HEAD; without BASE, those that the upstream branch or
origin's main branch does not have. A clone without either, or without its history, has nothing to
check. The hook tools/hooks/commit-msg checks a message before it is committed (``--message FILE``).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

MAX_LENGTH = 60
_VERBS = "Fix|Add|Remove|Rename|Move|Speed up|Document"
_SUBJECT = re.compile(rf"(?:{_VERBS}) \S.*")
_BY_GIT = re.compile(r"Merge |Revert \"")
_UNFINISHED = re.compile(r"(?:fixup|squash|amend)! ")
_UPSTREAMS = ("@{upstream}", "origin/HEAD", "origin/main")


def faults_of(subject: str) -> list[str]:
    """Return the reasons to refuse a subject."""
    if _BY_GIT.match(subject):
        return []
    faults = []
    if not _SUBJECT.fullmatch(subject):
        faults.append(f"must be one of {_VERBS.replace('|', ', ')}, and a noun phrase")
    if len(subject) > MAX_LENGTH:
        faults.append(f"has {len(subject)} characters, at most {MAX_LENGTH} are allowed")
    if subject.endswith("."):
        faults.append("must not end with a period")
    return faults


def subjects_since(base: str | None, folder: Path) -> list[tuple[str, str]]:
    """Return commit and subject of each commit that ``base``, or else the upstream, lacks."""
    for name in [base] if base else _UPSTREAMS:
        done = _git(folder, "log", "--no-merges", "--format=%h %s", f"{name}..HEAD")
        if done.returncode == 0 and _git(folder, "merge-base", name, "HEAD").returncode == 0:
            lines = (line.partition(" ") for line in done.stdout.splitlines())
            return [(commit, subject) for commit, _, subject in lines]
    return []


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main(arguments: list[str]) -> int:
    """Check a message or commits; the exit code."""
    if arguments[:1] == ["--message"]:
        subject = Path(arguments[1]).read_text(encoding="utf-8").partition("\n")[0].strip()
        is_open = not subject or subject.startswith("#") or _UNFINISHED.match(subject)
        found = [] if is_open else [("commit message", subject)]
    else:
        found = subjects_since(arguments[0] if arguments else None, Path.cwd())
    faults = [(place, subject, each) for place, subject in found for each in faults_of(subject)]
    for place, subject, fault in faults:
        print(f'{place}: the subject "{subject}" {fault}', file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
