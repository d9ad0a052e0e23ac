"""Recorded cases of the template language, replayed against a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from tests.conformance.runner.case import LANGUAGE, Case, cases_in
from tests.conformance.runner.known import PAGE, known, page
from tests.conformance.runner.report import Verdict, first_unexpected, verdict
from tests.conformance.runner.running import Result, run
from tests.conformance.runner.service import service

KNOWN = known()
CASES = [case for case in cases_in(LANGUAGE) if not KNOWN.is_missing(case)]


# One case in this many is replayed with every run of the tests; without HTTP all of them are.
EVERY = 5


async def _replayed(cases: Sequence[Case]) -> Mapping[str, Result]:
    async with service() as credentials:
        results = await run(cases, credentials, at_once=24)
    return {result.case.id: result for result in results}


@pytest.fixture(scope="module")
def results() -> Mapping[str, Result]:
    return asyncio.run(_replayed(CASES[::EVERY]))


def _assert_as_recorded(result: Result) -> None:
    meant = (Verdict.PASSED, Verdict.MEANT)
    assert verdict(result, KNOWN) in meant, first_unexpected(result, KNOWN)


@pytest.mark.parametrize("case", CASES[::EVERY], ids=lambda case: case.id)
def test_the_service_answers_as_recorded(case: Case, results: Mapping[str, Result]) -> None:
    _assert_as_recorded(results[case.id])


@pytest.mark.long
def test_the_service_answers_all_as_recorded() -> None:
    for result in asyncio.run(_replayed(CASES)).values():
        _assert_as_recorded(result)


def test_page_of_differences_matches_the_list() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(KNOWN)
