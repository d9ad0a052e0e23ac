"""Temporary."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

from stoker.engine.finding import Finder
from stoker.engine.operations import Operations
from stoker.engine.ports import Ports
from stoker.engine.reading import Views
from stoker.engine.service import Service
from stoker.engine.signalling import SignalService


def make_service(ports: Ports, notify: Callable[[str], None]) -> Service:
    """Temporary."""
    finder = Finder(ports)
    parts = (
        Operations(ports, finder, notify),
        Views(ports, finder),
        SignalService(ports, finder, notify),
    )
    return cast(
        "Service",
        SimpleNamespace(
            **{n: getattr(p, n) for p in parts for n in dir(p) if not n.startswith("_")}
        ),
    )
