"""A simulated world whose cloud has networks and servers, and OpenStack's resource types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds import faults
from stoker.engine.model.interfaces import Ports
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.schema.properties import NameLookup
from stoker.schema.resource_type import ResourceType
from tests.clouds.fake_cloud import FakeCloud
from tests.engine_world import Lab
from tests.simulation.types import Types
from tests.simulation.world import World


class Clouds:
    """Gives every stack the fake cloud."""

    def __init__(self, cloud: FakeCloud) -> None:
        self._cloud = cloud
        self.looked_up: list[str] = []

    def connection(self, _stack: Any) -> Any:
        return self._cloud.connection

    def lookup(self, _stack: Any, lookups: Sequence[NameLookup]) -> Sequence[str]:
        self.looked_up += [each.value for each in lookups]
        return [self._id(each.finder.kind, each.value) for each in lookups]

    def _id(self, kind: str, value: str) -> str:
        for item in self._objects():
            if value in (item["id"], item.get("name")):
                return str(item["id"])
        if kind == "router":
            raise NotFoundError(f"there is no router {value}")
        return value

    def _objects(self) -> list[Mapping[str, Any]]:
        return [item for kind in self._cloud.tables for item in self._cloud.all(kind)]

    def check(self, _stack: Any, checks: Sequence[Any]) -> Sequence[str | None]:
        return [None] * len(checks)

    def quotas(self, _stack: Any, _use: Any) -> Sequence[Any]:
        return []

    def inventory(self, _stack: Any) -> Sequence[Any]:
        return []

    def choices(self, _stack: Any, _constraint: str, _most: int) -> Sequence[Any]:
        return []

    def console_log(self, _stack: Any, _server_id: str, _lines: int) -> str:
        return ""

    known_faults = check
    lacking = check


class AllTypes(Types):
    """The types of OpenStack, and those of the simulation."""

    def __init__(self, *types: ResourceType) -> None:
        super().__init__()
        self._registry = Registry()
        self._own = {type_.type_name: type_ for type_ in types}

    def find(self, type_name: str) -> ResourceType | None:
        own = self._own.get(type_name) or super().find(type_name)
        return own or self._registry.find(type_name)


class NetworkWorld(World):
    """A world whose cloud has networks."""

    def __init__(self, *types: ResourceType) -> None:
        super().__init__(1, types=AllTypes(*types))
        self.network = FakeCloud()
        self.clouds = Clouds(self.network)
        self.cloud.trouble = 0.0
        self.mailbox = None

    def ports(self, *arguments: Any, **changes: Any) -> Ports:
        ports = super().ports(*arguments, **changes)
        clouds: Any = self.clouds
        return replace(ports, clouds=clouds, faults=faults)


def in_network_world(story: Any, *types: ResourceType) -> None:
    """Run ``async story(lab, cloud)``; ``types`` are further resource types."""
    world = NetworkWorld(*types)
    world.live(lambda engine: story(Lab(engine, world), world.network))
