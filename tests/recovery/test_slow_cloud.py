"""``kill -9`` while a cloud of 6 s per call works: nothing is made twice, and nothing is lost."""

from __future__ import annotations

import logging
import os
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.recovery.service import until
from tests.recovery.slow_cloud import SlowCloud, slow_cloud

_LOG = logging.getLogger(__name__)
SERVICES = ("network", "compute")
LEAST_SECONDS_PER_CALL = 6.0
STACKS = 4
KILLS = 10
KILLS_OF_A_SCENE = 20
SCENES = 10
END_SECONDS = 300
COLLECTIONS = (
    "/network/v2.0/networks",
    "/network/v2.0/subnets",
    "/network/v2.0/ports",
    "/network/v2.0/routers",
    "/network/v2.0/security-groups",
    "/network/v2.0/address-scopes",
    "/compute/v2.1/os-server-groups",
)


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"type": f"OS::{kind}", "properties": properties}


def template(name: str) -> dict[str, Any]:
    """Objects with names of ours and of the user's, described and not."""
    described = {"description": "by the user"}
    resources = {
        "net": resource("Neutron::Net"),
        "named": resource("Neutron::Net", name=f"{name}-net"),
        "subnet": resource("Neutron::Subnet", network={"get_resource": "net"}, cidr="10.0.0.0/24"),
        "port": resource("Neutron::Port", network={"get_resource": "named"}, name=f"{name}-port"),
        "router": resource("Neutron::Router", name=f"{name}-router", value_specs=described),
        "group": resource("Neutron::SecurityGroup", name=f"{name}-group", **described),
        "scope": resource("Neutron::AddressScope", name=f"{name}-scope"),
        "servers": resource("Nova::ServerGroup", name=f"{name}-servers"),
    }
    return {"heat_template_version": "2018-08-31", "resources": resources}


def outlive(pair: SlowCloud, stacks: dict[str, dict[str, Any]], kills: int) -> None:
    """Make stacks while the service is killed again and again; every object is there once."""
    seed = int(os.environ.get("STOKER_KILL_SEED") or random.SystemRandom().randrange(1 << 32))
    _LOG.warning("STOKER_KILL_SEED=%d", seed)
    chance = random.Random(seed)
    before = Counter(pair.names(COLLECTIONS))
    start = _seconds_of_a_start(pair)
    # a call outlasts a start of the service, however busy the machine is
    seconds = max(LEAST_SECONDS_PER_CALL, 3 + 3 * start)
    pair.configure(request_timeout=1.5 * seconds)
    pair.start_service()
    slow = [{"method": "POST", "service": name, "before": seconds} for name in SERVICES]
    pair.disturb(*slow)
    for name, wanted in stacks.items():
        pair.create(name, wanted)
    for _ in range(kills):
        until(lambda: pair.counted("waiting") > 0 or _are_complete(pair), pair.log(), END_SECONDS)
        time.sleep(chance.uniform(0, 1.5 * start))
        pair.kill()
        pair.start_service()
    sent = pair.counted("seen")
    pair.disturb(*({**rule, "before": 0} for rule in slow))
    until(lambda: _are_complete(pair), pair.log(), END_SECONDS)
    until(lambda: pair.counted("waiting") == 0, "everything has landed")
    names = Counter(pair.names(COLLECTIONS)) - before
    expected = sum(len(wanted["resources"]) for wanted in stacks.values())
    assert {name: count for name, count in names.items() if count > 1} == {}
    assert names.total() == expected, sorted(names)
    # what was sent twice and removed again is not seen above
    assert sent + pair.counted("seen") == expected


def _are_complete(pair: SlowCloud) -> bool:
    statuses = set(pair.stacks().values())
    assert statuses <= {"CREATE_IN_PROGRESS", "CREATE_COMPLETE"}, statuses
    return statuses == {"CREATE_COMPLETE"}


def _seconds_of_a_start(pair: SlowCloud) -> float:
    pair.configure(request_timeout=60)
    began = time.monotonic()
    pair.start_service()
    seconds = time.monotonic() - began
    pair.kill()
    return seconds


@pytest.mark.long
def test_kills_during_slow_calls_duplicate_and_lose_nothing(tmp_path: Path) -> None:
    with slow_cloud(tmp_path) as pair:
        outlive(pair, {f"s{n}": template(f"s{n}") for n in range(STACKS)}, KILLS)


@pytest.mark.long
def test_many_kills_during_slow_calls_duplicate_nothing(tmp_path: Path) -> None:
    for scene in range(SCENES):
        directory = tmp_path / str(scene)
        directory.mkdir()
        with slow_cloud(directory) as pair:
            stacks = {f"s{n}": template(f"s{n}") for n in range(2 * STACKS)}
            outlive(pair, stacks, KILLS_OF_A_SCENE)
