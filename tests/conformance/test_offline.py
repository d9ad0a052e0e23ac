"""Recorded cases, replayed on the evaluator without a server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stoker.resources.registry import Registry
from tests.conformance.runner.case import LANGUAGE

sys.path.insert(0, str(Path(__file__).parent))
import offline

DIFFERENT = {
    "template_structure-014-dup-keys": "a key that is given twice is refused when it is read",
    "template_structure-033-yaml-int-keys": "keys become text before they are compared",
    "template_structure-035-yaml-set": "the members of a set keep their order",
}
"""Cases in which this project differs by intent, and how."""

ELSEWHERE = {
    "hot_get_resource_file-001-get-resource-kinds": "physical id of OS::Heat::None",
    "nested-034-heat-stack": "needs OS::Heat::Stack",
    "parameters-179-badcons-custom-not-str": "error type of a declaration",
    "resource_properties-062-randomstring-05": "values of a hidden property",
    "resource_properties-094-asg-bad": "needs OS::Heat::AutoScalingGroup",
    "resource_properties-096-scalingpolicy-bad": "needs OS::Heat::ScalingPolicy",
    "template_structure-103-res-name-too-long": "refused by the engine",
}
"""Cases that rest on more than the evaluator."""

AREAS = frozenset(LANGUAGE) - {"dependencies"}
CASES = sorted(path for path in offline.CASES.glob("*/*.yaml") if path.parent.name in AREAS)


@pytest.fixture(scope="module")
def types() -> Registry:
    return Registry()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_recorded_case_gives_the_same_outputs_and_error_types(path: Path, types: Any) -> None:
    case = offline.load(path)
    if case["id"] in ELSEWHERE:
        pytest.skip(ELSEWHERE[case["id"]])
    found = offline.replay(case, types)
    if case["id"] in DIFFERENT:
        assert found, "no longer different"
    else:
        assert found == []
