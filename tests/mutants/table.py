"""The table of deliberate faults: the changes, and the checks that must detect them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).parent / "mutants.toml"
# Prefix of a check that is no test: the rest are options of ``python -m tests.simulation``.
SIMULATION = "simulation "


@dataclass(frozen=True, slots=True)
class Mutant:
    """One deliberate fault."""

    name: str
    file: str
    before: str  # text that is found in the file exactly once
    after: str
    # Checks that detect it, the fastest first: tests as pytest names them, or a simulation.
    checks: tuple[str, ...]

    def applied(self, source: str) -> str:
        """The file with the fault. Raises ValueError when the table is out of date."""
        found = source.count(self.before)
        if found != 1:
            raise ValueError(
                f'"{self.name}": its text is found {found} times in {self.file}, not once:'
                f" bring {TABLE.name} up to date"
            )
        return source.replace(self.before, self.after)


def table() -> list[Mutant]:
    """All of them, whether they fit the tree or not."""
    content = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [Mutant(**{**each, "checks": tuple(each["checks"])}) for each in content["mutant"]]


def mutants() -> list[Mutant]:
    """All of them. Raises ValueError when the table is out of date."""
    found = table()
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'there are two mutants called "{name}"')
    for each in found:
        each.applied((ROOT / each.file).read_text(encoding="utf-8"))
    return found
