"""Tests that each type must pass. A class of tests inherits them; its module has the ``ground``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tests.resource_types_openstack.harness import (
    Case,
    Ground,
    drifts,
    is_found_again,
    is_imported,
    lives,
    spares_others,
)


class Trials:
    """The trials of each case; ``conftest.py`` hands them out."""

    cases: ClassVar[Sequence[Case]]
    lost: ClassVar[Sequence[Case]]  # cases whose response to a create can be lost

    def test_an_object_lives(self, ground: Ground, case: Case) -> None:
        with ground.prepared(case):
            lives(ground, case)

    def test_what_others_do_shows_and_is_set_back(self, ground: Ground, case: Case) -> None:
        with ground.prepared(case):
            drifts(ground, case)

    def test_object_is_imported_by_its_id(self, ground: Ground, case: Case) -> None:
        with ground.prepared(case):
            is_imported(ground, case)

    def test_object_with_lost_response_is_found_again(
        self, ground: Ground, form: tuple[Case, Mapping[str, Any]]
    ) -> None:
        case, given = form
        with ground.prepared(case):
            is_found_again(ground, case, given)

    def test_foreign_object_is_neither_adopted_nor_removed(
        self, ground: Ground, form: tuple[Case, Mapping[str, Any]]
    ) -> None:
        case, given = form
        with ground.prepared(case):
            theirs = ground.row(case, given, "theirs")
            spares_others(theirs, ground.row(case, given, "ours"))
