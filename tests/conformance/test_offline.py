"""Recorded cases, replayed on the evaluator without a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stoker.resources.base.registry import Registry
from tests.conformance.runner.case import LANGUAGE, load
from tests.conformance.runner.known import known

sys.path.insert(0, str(Path(__file__).parent))
import offline

KNOWN = known()
AREAS = frozenset(LANGUAGE) - {"dependencies"}
# They need an orchestration service, and are replayed over HTTP only.
NEED_A_CLOUD = frozenset({"nested-034-heat-stack", "nested-035-heat-stack-bad-region"})
CASES = [
    path
    for path in sorted(offline.CASES.glob("*/*.yaml"))
    if path.parent.name in AREAS
    and path.stem not in NEED_A_CLOUD
    and not KNOWN.is_missing(load(path))
]


@pytest.fixture(scope="module")
def types() -> Registry:
    return Registry()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_recorded_case_gives_same_outputs_and_errors(path: Path, types: Any) -> None:
    case = offline.load(path)
    found = offline.replay(case, types)
    # what is meant to differ must differ, in the steps that are named and in no others
    meant = {path.split("/")[1] for path in KNOWN.paths(case["id"])}
    differing = {line.split()[1] for line in found}
    assert differing <= meant, found
    assert bool(differing) == bool(meant), "it does not differ any more: see differences.yaml"
