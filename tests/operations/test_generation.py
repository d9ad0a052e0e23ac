"""Templates of existing objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.simulation.world import CALLER

from stoker.engine.service.generation import Generation, written
from stoker.kernel.errors import LimitExceededError, NotFoundError, ValidationError
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.schema.inventory import ExistingObject

NET = ExistingObject("OS::Neutron::Net", "net-id", "back", {"name": "back"})
SUBNET = ExistingObject(
    "OS::Neutron::Subnet", "subnet-id", "back", {"network": "net-id", "cidr": "10.0.0.0/24"},
    ("network",),
)  # fmt: skip
PORT = ExistingObject("OS::Neutron::Port", "port-id", "web", {"network": "net-id"})
KEY = ExistingObject("OS::Nova::KeyPair", "web", "web", {"name": "web"})
SERVER = ExistingObject(
    "OS::Nova::Server",
    "server-id",
    "web",
    {
        "name": "web",
        "image": "debian",
        "flavor": "small",
        "key_name": "web",
        "networks": [{"port": "port-id"}],
    },
)
OTHER = replace(SERVER, id="other-id", name="Other One", properties={"flavor": "large"})
ALL = (NET, SUBNET, PORT, KEY, SERVER, OTHER)


def generated(*roots: str, owned: Sequence[ExistingObject] = ()) -> dict[str, Any]:
    return written(ALL, owned, roots, Registry())


def test_ids_become_references_and_imports() -> None:
    resources = generated()["resources"]
    assert set(resources) == {"back", "back_net", "web", "web_port", "web_key_pair", "other_one"}
    assert resources["back"]["properties"]["network"] == {"get_resource": "back_net"}
    server = resources["web"]
    assert server["metadata"] == {"stoker": {"import": "server-id"}}
    assert server["properties"]["networks"] == [{"port": {"get_resource": "web_port"}}]


def test_key_pair_is_no_reference_elsewhere() -> None:
    properties = generated()["resources"]["web"]["properties"]
    assert properties["name"] == "web"
    assert properties["key_name"] == {"get_resource": "web_key_pair"}


def test_names_that_differ_between_clouds_are_parameters() -> None:
    found = generated()
    assert {name: each["default"] for name, each in found["parameters"].items()} == {
        "image": "debian",
        "flavor": "small",
        "flavor_2": "large",
    }
    assert found["resources"]["other_one"]["properties"]["flavor"] == {"get_param": "flavor_2"}


def test_template_of_server_has_needed_objects_and_parts() -> None:
    assert set(generated("web")["resources"]) == {
        "web", "web_port", "web_key_pair", "back", "back_net",
    }  # fmt: skip
    assert set(generated("net-id")["resources"]) == {"back", "back_net"}


def test_object_of_stack_stays_an_id() -> None:
    resources = generated("server-id", owned=(PORT, NET, SUBNET))["resources"]
    assert set(resources) == {"web", "web_key_pair"}
    assert resources["web"]["properties"]["networks"] == [{"port": "port-id"}]


def test_nameless_objects_are_named_after_others() -> None:
    port = replace(PORT, name="")
    address = ExistingObject("OS::Neutron::FloatingIP", "ip", "", {"port_id": "x"}, ("port_id",))
    of_server = replace(address, id="ip-2", properties={"port_id": "server-id"})
    objects = (port, SERVER, address, of_server)
    assert set(written(objects, (), (), Registry())["resources"]) == {
        "web", "web_port", "floating_ip", "web_floating_ip",
    }  # fmt: skip


def test_wrong_roots_are_refused() -> None:
    with pytest.raises(
        NotFoundError, match='no object wep that can be imported; did you mean "web"'
    ):
        generated("wep")
    with pytest.raises(ValidationError, match="belongs to a stack already"):
        generated("server-id", owned=(SERVER,))
    twins = (OTHER, replace(OTHER, id="twin-id"))
    with pytest.raises(
        ValidationError, match=r"several objects: other-id .*, twin-id .*give an id"
    ):
        written(twins, (), ["Other One"], Registry())
    assert generated(owned=ALL)["resources"] == {}


def test_too_many_objects_are_refused() -> None:
    many = [replace(NET, id=f"n{number}", name=f"n{number}") for number in range(1_001)]
    with pytest.raises(LimitExceededError, match="1001 objects are more than"):
        written(many, (), (), Registry())


def test_objects_of_stacks_are_left_out() -> None:
    class World:
        """The clouds of the simulated world, with an inventory."""

        def __init__(self, clouds: Any, found: Sequence[ExistingObject]) -> None:
            self._clouds = clouds
            self._found = found

        def __getattr__(self, name: str) -> Any:
            return getattr(self._clouds, name)

        def inventory(self, stack: Any) -> Sequence[ExistingObject]:
            return self._found

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": "Sim::Thing"}}))
        made = str((await lab.rows())["a"].physical_id)
        owned = ExistingObject("Sim::Thing", made, "a", {})
        free = ExistingObject("Sim::Thing", "free", "b", {"value": made})
        clouds: Any = World(lab.engine.ports.clouds, (owned, free))
        ports = replace(lab.engine.ports, clouds=clouds)
        found = await Generation(ports).template(CALLER, ())
        assert found["resources"] == {
            "b": {
                "type": "Sim::Thing",
                "metadata": {"stoker": {"import": "free"}},
                "properties": {"value": made},
            }
        }

    in_lab(story)
