"""Commands one after the other, each with words that it must print."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.recovery.service import until

Run = Callable[[str], str]


@dataclass(frozen=True)
class Step:
    """One command; ``{names}`` in it are results of earlier steps."""

    command: str
    says: tuple[str, ...] = ()
    keeps: str = ""  # name under which later steps find its output
    waits: bool = False  # words until which it is repeated, if any


def step(command: str, *says: str, keeps: str = "", waits: bool = False) -> Step:
    return Step(command, says, keeps, waits)


@dataclass
class Walk:
    """The results of steps."""

    run: Run
    known: dict[str, str] = field(default_factory=dict)

    def through(self, steps: Sequence[Step]) -> None:
        """Run all of them."""
        for each in steps:
            command, words = self._filled(each.command), [self._filled(w) for w in each.says]
            if each.waits:
                until(partial(self._says, command, words), f"{command}: {words}")
                continue
            printed = self.run(command)
            assert "Traceback" not in printed, f"{command}: {printed}"
            for word in words:
                assert word in printed, f"{command}: {word!r} is not in:\n{printed}"
            assert each.says or each.keeps or not printed.strip(), f"{command}: {printed}"
            if each.keeps:
                self.known[each.keeps] = printed.strip()

    def _says(self, command: str, words: Sequence[str]) -> bool:
        printed = self.run(command)
        return all(word in printed for word in words)

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self.known[found[1]], text)


def used(tables: Sequence[Sequence[Step]], names: Sequence[str]) -> set[str]:
    """The commands of these names that the steps run, by the longest name that fits."""
    found = set()
    for each in (each for table in tables for each in table):
        fitting = [name for name in names if f"{each.command} ".startswith(f"{name} ")]
        found.add(max(fitting, key=len, default=""))
    return found
