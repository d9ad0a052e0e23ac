"""State derived from documents is equal whether it grew or was read from the store."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.clock import SystemClock
from localcloud.core.cloud import Cloud, TokenValidator
from localcloud.core.settings import Settings
from localcloud.core.store import Document, Store
from localcloud.network.api.crud import Crud
from localcloud.network.model.state import State
from localcloud.network.objects import router_interfaces
from localcloud.network.objects.kinds import OPERATIONS
from localcloud.web.http import ApiError, RequestContext

ADMIN = RequestContext(user_id="u", project_id="p", roles=("admin",))
KINDS = ("networks", "subnets", "ports", "routers", "floatingips", "security_groups")


def _cloud() -> Cloud:
    tokens = cast("TokenValidator", None)
    return Cloud(Store(":memory:"), tokens, RecordingFabric(), SystemClock(), Settings(Path()))


class _Work:
    """Send random requests; many fail half-way."""

    def __init__(self, state: State, seed: int) -> None:
        self.state = state
        self.random = random.Random(seed)
        self._create("networks", {"network": {"router:external": True}})
        (external,) = state.all("network").values()
        self.external = external["id"]
        subnet = {"network_id": self.external, "cidr": "172.24.4.0/28"}
        self._create("subnets", {"subnet": subnet})

    def _create(self, collection: str, body: dict[str, Any]) -> None:
        Crud(self.state, OPERATIONS[collection]).create(ADMIN, body)

    def _any(self, kind: str) -> Document:
        found = list(self.state.all(kind).values())
        return self.random.choice(found) if found else {"id": "none"}

    def step(self) -> None:
        actions = (
            self._network,
            self._subnet,
            self._ports,
            self._router,
            self._interface,
            self._floating_ip,
            self._group,
            self._update_port,
            self._delete,
            self._delete,
        )
        with suppress(ApiError):
            self.random.choice(actions)()

    def _network(self) -> None:
        self._create("networks", {"network": {}})

    def _subnet(self) -> None:
        cidr = f"10.{self.random.randrange(3)}.0.0/29"
        subnet = {"network_id": self._any("network")["id"], "cidr": cidr}
        self._create("subnets", {"subnet": subnet})

    def _ports(self) -> None:
        network = self._any("network")["id"]
        self._create("ports", {"ports": [{"network_id": network}] * self.random.randrange(1, 4)})

    def _router(self) -> None:
        info = {"network_id": self.external} if self.random.random() < 0.7 else {}
        self._create("routers", {"router": {"external_gateway_info": info}})

    def _interface(self) -> None:
        router = self._any("router")
        change = self.random.choice((router_interfaces.add, router_interfaces.remove))
        body = self.random.choice(
            ({"subnet_id": self._any("subnet")["id"]}, {"port_id": self._any("port")["id"]})
        )
        with self.state.change():
            change(self.state, ADMIN, self.state.get("router", router["id"]), body)

    def _floating_ip(self) -> None:
        port = self._any("port")["id"] if self.random.random() < 0.8 else None
        body = {"floating_network_id": self.external, "port_id": port}
        self._create("floatingips", {"floatingip": body})

    def _group(self) -> None:
        self._create("security_groups", {"security_group": {"name": "g"}})

    def _update_port(self) -> None:
        port = self._any("port")
        changes = self.random.choice(
            (
                {"security_groups": [self._any("security_group")["id"]]},
                {"fixed_ips": [{"ip_address": f"10.0.0.{self.random.randrange(9)}"}]},
                {"fixed_ips": [{"subnet_id": self._any("subnet")["id"]}]},
                {"allowed_address_pairs": [{"ip_address": "10.9.0.0/16"}]},
            )
        )
        Crud(self.state, OPERATIONS["ports"]).update(ADMIN, port["id"], {"port": changes})

    def _delete(self) -> None:
        operations = OPERATIONS[self.random.choice(KINDS)]
        target = self._any(operations.resource.kind)
        if target["id"] != self.external:
            Crud(self.state, operations).delete(ADMIN, target["id"])


def _derived(state: State) -> dict[str, Any]:
    return {
        "counts": +state._counts,
        "addresses": {subnet: found.owners for subnet, found in state._addresses.items()},
        "macs": state._macs,
        "members": {group: set(ports) for group, ports in state._members.items() if ports},
        "prefixes": {key: counts for key, counts in state._member_prefixes.items() if counts},
    }


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_indexes_follow_every_change_and_every_failure(seed: int) -> None:
    cloud = _cloud()
    work = _Work(State(cloud), seed)
    for _ in range(80):
        work.step()
    assert _derived(work.state) == _derived(State(cloud))
    for collection in OPERATIONS:
        Crud(work.state, OPERATIONS[collection]).listed(ADMIN, QueryParams(), "")
    cloud.store.close()


def test_a_failed_change_leaves_nothing_behind() -> None:
    cloud = _cloud()
    state = State(cloud)
    before = _derived(state)
    operations = OPERATIONS["networks"]
    bodies = {"networks": [{"name": "a"}, {"mtu": 1}]}
    with pytest.raises(ApiError):
        Crud(state, operations).create(ADMIN, bodies)
    assert _derived(state) == before
    assert list(state.all("network").values()) == []
    cloud.store.close()
