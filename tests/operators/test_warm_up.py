"""The request that a process makes itself when it is ready."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import RestSettings
from stoker.dispatch.in_process import InProcess
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.interfaces import Ports
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.schema.helpers import NO_HELPERS
from stoker.server.warm_up import authenticate, rehearsal, warm_up
from stoker.store.opening import OpenStore
from stoker.template.describe.catalogue import Catalogue
from stoker.trial.ports import ports_of
from stoker.trial.types import ImaginedTypes


async def nothing(*arguments: Any) -> Mapping[str, str]:
    return {}


async def no_engines() -> list[Any]:
    return []


@pytest.fixture
def ports() -> Ports:
    types = ImaginedTypes(WithDeclared(Registry()))
    return ports_of(types, EvaluationCache(), NO_HELPERS, SystemClock(), RandomIds())


async def test_warm_up_succeeds_and_records_nothing(
    ports: Ports, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    types = ImaginedTypes(WithDeclared(Registry()))
    opened = OpenStore(None, tmp_path)
    ports = replace(ports, store=opened.store)
    rest = build(
        rehearsal(ports, opened, InProcess(ports)),
        Catalogue(types, types),
        authenticate,
        ports.policy,
        RestSettings(),
        no_engines,
        Fetching(ports.fetch_template, nothing),
        ports.workers.compute,
    )
    with caplog.at_level(logging.WARNING):
        await warm_up(rest)
    assert caplog.records == []
    assert await opened.store.find_stack("warm-up", "warm-up") is None
    assert not await opened.store.open_operations()
    opened.close()


async def test_refused_warm_up_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    await warm_up(PlainTextResponse("", 503))
    assert "the warm-up was refused" in caplog.text
