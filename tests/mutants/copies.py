"""Copies of the tree in which faults are made: nothing is ever changed in place."""

from __future__ import annotations

import compileall
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.source import SOURCES

from tests.mutants.table import ROOT, SIMULATION, Mutant

LONGEST = 180.0  # seconds for a check; one that is cut off has detected nothing
LONGEST_TOGETHER = 900.0  # seconds for many tests that are run together
_COPIED = {"src", "local-cloud"}
_LINES = 12
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_FOUND = re.compile(r"^  again: ", re.MULTILINE)  # printed by the simulation below each finding


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one mutant, or for the tree without any."""

    noticed_by: str | None  # the test that failed, or the simulation
    seconds: float
    trouble: str = ""  # output of the last check if it could not be run; then the result is unknown


class Copy:
    """A copy of the source; everything else in it is the tree itself."""

    def __init__(self, place: Path) -> None:
        self._place = place
        for entry in ROOT.iterdir():
            if entry.name in _COPIED:
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(entry, place / entry.name, ignore=ignored)
            elif entry.name not in {".git", "var"}:
                (place / entry.name).symlink_to(entry)
        self._path = [str(place / source.relative_to(ROOT)) for source in SOURCES] + [str(place)]
        for source in self._path[:-1]:
            compileall.compile_dir(source, quiet=2)

    def judge(self, mutant: Mutant) -> Verdict:
        """Make the fault, see which check notices it, and take it back."""
        path = self._place / mutant.file
        source = path.read_text(encoding="utf-8")
        path.write_text(mutant.applied(source), encoding="utf-8")
        started, trouble = time.monotonic(), ""
        try:
            for check in mutant.checks:
                passed, told = self.passes([check])
                if passed is False:
                    failed = _FAILED.search(told)
                    by = failed.group(1) if failed else check
                    return Verdict(by, time.monotonic() - started)
                trouble = told if passed is None else trouble
            return Verdict(None, time.monotonic() - started, trouble)
        finally:
            path.write_text(source, encoding="utf-8")

    def passes(self, checks: Sequence[str]) -> tuple[bool | None, str]:
        """Return whether the checks pass, and the end of their output. All are tests, or one is
        not.

        None without a result: they were cut off, there is no such test, or an import fails.
        """
        longest = LONGEST if len(checks) == 1 else LONGEST_TOGETHER
        if checks[0].startswith(SIMULATION):
            options = checks[0].removeprefix(SIMULATION).split()
            command = ["-m", "tests.simulation", "--processes", "1", "--first", *options]
        else:
            tests = [part for check in checks for part in check.split()]
            command = ["-m", "pytest", "-x", "--tb=native", "-p", "no:cacheprovider", *tests]
        # nothing compiled is kept: a fault that is made and taken back leaves the same times
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(self._path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        try:
            done = subprocess.run(
                [sys.executable, *command],
                cwd=self._place,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=longest,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"no end after {longest:.0f} s"
        told = "\n".join(done.stdout.splitlines()[-_LINES:])
        if done.returncode == 0:
            return True, told
        # of pytest 1 says that tests failed, and of Python that the simulation could not start
        simulated = checks[0].startswith(SIMULATION)
        failed = _FOUND.search(done.stdout) if simulated else done.returncode == 1
        return (False if failed else None), told
