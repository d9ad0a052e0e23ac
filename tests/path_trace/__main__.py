"""Counts the functions that a create and its commits enter.

A stack of one resource is created in the simulated world of the tests, once to warm up and once
under a profiler. A function, or a comprehension in it, counts once; a move is a call or a return
after which a function of another module runs. A commit is all that runs within one
``SqlStore.commit``. Only functions of ``src/stoker`` count.

Run: ``python -m tests.path_trace``, with ``--functions`` to list them by module. `make metrics`
prints the same figures.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from dis import opname
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tools.source import ROOT

from stoker.engine.model.interfaces import Change
from tests.engine_world import Lab, in_lab, template, thing

STOKER = str(ROOT / "src/stoker")
STORE = f"{STOKER}/store/"


@dataclass
class Trace:
    """Functions that ran, and the moves between their modules."""

    functions: set[CodeType] = field(default_factory=set)
    moves: int = 0
    _last: str = ""

    def add(self, code: CodeType) -> None:
        """Record that a function runs now."""
        self.functions.add(code)
        if self._last != code.co_filename:
            self.moves += bool(self._last)
            self._last = code.co_filename

    @property
    def modules(self) -> set[str]:
        """The files of the functions."""
        return {code.co_filename for code in self.functions}


class Recorder:
    """Profiles one create: ``create`` is the whole, ``commits`` are its commits."""

    def __init__(self) -> None:
        self.create = Trace()
        self.commits: list[Trace] = []
        self._open: list[Trace] = []
        self._entered: set[FrameType] = set()

    async def story(self, lab: Lab) -> None:
        """Create and delete a stack to warm up, then record a create."""
        body = template({"a": thing()})
        await lab.create(body)
        await lab.delete()
        store = lab.engine.ports.store
        commit = store.commit

        async def recorded(change: Change) -> None:
            trace = Trace()
            self._open.append(trace)
            try:
                await commit(change)
            finally:
                self._open.remove(trace)
                self.commits.append(trace)

        store.commit = recorded  # type: ignore[method-assign]
        self._open = [self.create]
        sys.setprofile(self._event)
        await lab.create(body)
        sys.setprofile(None)
        assert await lab.status() == "CREATE_COMPLETE"

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame not in self._entered:
            self._entered.add(frame)
            shown: FrameType | None = frame
        elif event == "return" and _is_at(frame, "RETURN_VALUE"):
            shown = frame.f_back
        else:  # A coroutine pauses or continues: that leads to no other function.
            return
        while shown is not None and not shown.f_code.co_filename.startswith(STOKER):
            shown = shown.f_back
        if shown is not None:
            for trace in self._open:
                trace.add(shown.f_code)


def _is_at(frame: FrameType, instruction: str) -> bool:
    return opname[frame.f_code.co_code[frame.f_lasti]] == instruction


def record() -> Recorder:
    """Create a stack of one resource under the profiler."""
    recorder = Recorder()
    in_lab(recorder.story)
    return recorder


def figures(recorder: Recorder) -> tuple[str, str]:
    """Figures of the create, and the range of figures of its commits."""
    create = recorder.create
    functions = [len(trace.functions) for trace in recorder.commits]
    stores = [sum(name.startswith(STORE) for name in trace.modules) for trace in recorder.commits]
    return (
        f"{len(create.functions)} functions, {len(create.modules)} modules, {create.moves} moves",
        f"{_range(functions)} functions, {_range(stores)} modules of the store",
    )


def _range(numbers: list[int]) -> str:
    return f"{min(numbers)}-{max(numbers)}"


def main() -> None:
    """Print the figures and, if asked, the functions by module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", action="store_true", help="list the functions by module")
    recorder = record()
    for line in figures(recorder):
        print(line)
    if parser.parse_args().functions:
        modules = defaultdict[str, list[str]](list)
        for code in recorder.create.functions:
            modules[code.co_filename].append(code.co_qualname)
        for name in sorted(modules):
            print(f"{Path(name).relative_to(STOKER)}: {', '.join(sorted(modules[name]))}")


if __name__ == "__main__":
    main()
