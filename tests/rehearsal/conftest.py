"""A throw-away cloud for all tests of this folder, and requests to rehearse in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stoker.cli.client.client import Client
from stoker.cli.deploy.request import DeployArguments, DeployRequest
from stoker.cli.rehearsal.operation import Deadline
from stoker.cli.rehearsal.rehearsal import Rehearsal
from stoker.cli.rehearsal.stack_copy import StackCopy
from stoker.cli.rehearsal.throwaway_cloud import ThrowawayCloud, throwaway_cloud

Rehearse = Callable[..., Rehearsal]
Write = Callable[..., DeployRequest]


@pytest.fixture(scope="package")
def cloud() -> Iterator[ThrowawayCloud]:
    with throwaway_cloud() as found:
        yield found


@pytest.fixture
def written(tmp_path: Path) -> Write:
    """Return a function that writes a template, and returns the request for it."""

    def write(text: str, name: str = "app", **values: str) -> DeployRequest:
        place = tmp_path / f"{name}.yaml"
        place.write_text(f"heat_template_version: 2018-08-31\n{text}")
        arguments = DeployArguments(place, (), values, {}, name, converge=False, existing=False)
        return arguments.request()

    return write


@pytest.fixture
def rehearse(cloud: ThrowawayCloud) -> Rehearse:
    """Return a function that prepares a rehearsal."""

    def prepared(
        request: DeployRequest,
        copy: StackCopy | None = None,
        source: Client | None = None,
        seconds: float = 120.0,
    ) -> Rehearsal:
        rehearsal = Rehearsal(cloud, request, copy, source, Deadline(seconds))
        rehearsal.prepare()
        return rehearsal

    return prepared


def copy_as(request: DeployRequest) -> StackCopy:
    """Return the copy of a stack that a request has created."""
    return StackCopy(request.name, request.create_body(), ())
