"""Recorded cases: their requests, step by step, and the recorded answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parent.parent / "cases"
# Areas that are about the template language.
LANGUAGE = (
    "cfn_functions",
    "conditions",
    "dependencies",
    "environments",
    "hot_function_versions",
    "hot_get_attr",
    "hot_get_param",
    "hot_get_resource_file",
    "hot_list_concat",
    "hot_list_join",
    "hot_map_functions",
    "hot_misc_functions",
    "hot_repeat",
    "hot_str_replace",
    "nested",
    "parameters",
    "resource_properties",
    "template_structure",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded case. ``volatile`` are paths that differ from run to run."""

    id: str
    area: str
    steps: Sequence[Mapping[str, Any]]
    expected: Sequence[Mapping[str, Any]]
    volatile: tuple[str, ...] = ()
    masks: tuple[tuple[str, str], ...] = ()
    keep_hex: bool = False


@cache
def load(path: Path) -> Case:
    """The case in a file."""
    content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    expected = content["expect"]
    return Case(
        content["id"],
        content["area"],
        content["request"]["steps"],
        expected["steps"],
        tuple(expected.get("volatile") or ()),
        tuple((pattern, text) for pattern, text in content.get("mask") or ()),
        bool(content.get("keep_hex")),
    )


def cases_in(areas: Iterable[str]) -> list[Case]:
    """All cases of some areas, ordered by area and id."""
    return [load(path) for area in sorted(areas) for path in sorted((CASES / area).glob("*.yaml"))]


def areas() -> list[str]:
    """The areas that there are cases of."""
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())
