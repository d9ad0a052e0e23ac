"""Resource types of the simulated cloud."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.aws.autoscaling_group import AutoScalingGroup
from stoker.resources.aws.launch_configuration import LaunchConfiguration
from stoker.resources.base.renamed_types import under_older_name
from stoker.resources.heat.autoscaling_group import AutoScalingResourceGroup
from stoker.resources.heat.cw_lite_alarm import CWLiteAlarm
from stoker.resources.heat.delay import Delay
from stoker.resources.heat.deployment_signals import Transport
from stoker.resources.heat.ha_restarter import Restarter
from stoker.resources.heat.instance_group import InstanceGroup
from stoker.resources.heat.random_string import RandomString
from stoker.resources.heat.resource_chain import ResourceChain
from stoker.resources.heat.resource_group import ResourceGroup
from stoker.resources.heat.scaling_policy import AutoScalingPolicy
from stoker.resources.heat.software_deployment import SoftwareDeployment
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import (
    VALUES,
    Call,
    Done,
    Failed,
    ManagedType,
    Outcome,
    ResourceType,
    Wait,
)
from tests.simulation.cloud import GoneError
from tests.simulation.wire import Connection

_PROPERTIES = {
    "value": Property(Type.STRING, update_allowed=True),
    "fixed": Property(Type.STRING),
    "uses": Property(Type.STRING, update_allowed=True),
    "slow": Property(Type.NUMBER, update_allowed=True),
    "lag": Property(Type.NUMBER, update_allowed=True),
    "fail": Property(Type.STRING, update_allowed=True),
}


def _lag(call: Call) -> float:
    """Seconds that the cloud takes to make or change the object."""
    return float(call.properties.get("lag") or 0)


class Thing(ManagedType):
    """An object that can be found again, updated, and read."""

    type_name = "Sim::Thing"
    service = "sim"
    properties = _PROPERTIES
    attributes = {"value": Attribute(), "id": Attribute()}

    def create(self, call: Call) -> Outcome:
        cloud: Connection = call.cloud
        if call.physical_id is None:
            if call.properties.get("fail") == "away":
                cloud.login(call.name)
            made = cloud.create(
                self.type_name, call.token, call.properties, call.name, takes=_lag(call)
            )
            return Wait(after=0.1, physical_id=made)
        found = cloud.get(call.physical_id)
        if found.ready_at > call.now:
            return Wait(after=found.ready_at - call.now, reason="the object is being built")
        return Done(attributes={"id": found.id})

    def update(self, call: Call) -> Outcome:
        assert call.physical_id is not None
        call.cloud.update(call.physical_id, call.properties, takes=_lag(call))
        return Done()

    def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        try:
            call.cloud.delete(call.physical_id)
        except GoneError:
            return Done()
        return Wait(after=0.1)

    def read(self, call: Call) -> Mapping[str, Any]:
        assert call.physical_id is not None
        return {"value": call.cloud.get(call.physical_id).properties["value"]}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        try:
            found: Mapping[str, Any] = call.cloud.get(str(call.physical_id)).properties
        except GoneError:
            return None
        return found

    def check(self, call: Call) -> Outcome:
        found = call.cloud.get(str(call.physical_id))
        return Done() if found.ready_at <= call.now else Failed("the object is not built yet")

    def suspend(self, call: Call) -> Outcome:
        return self._brought(call, rests=True)

    def resume(self, call: Call) -> Outcome:
        return self._brought(call, rests=False)

    def _brought(self, call: Call, *, rests: bool) -> Outcome:
        cloud: Connection = call.cloud
        if cloud.get(str(call.physical_id)).rests == rests:
            return Done()
        cloud.rest(call.physical_id, rests, takes=_lag(call))
        return Wait(after=0.1, reason="the object changes its state")

    def find(self, call: Call) -> str | None:
        found: str | None = call.cloud.find(call.token)
        return found


class Machine(Thing):
    """An object whose value is known before it is ready, and whose delete takes as long."""

    type_name = "Sim::Machine"
    early_attributes = frozenset({"value"})
    uses_early = frozenset({VALUES})
    deleted_early = True

    def create(self, call: Call) -> Outcome:
        outcome = super().create(call)
        if isinstance(outcome, Wait) and call.physical_id is not None:
            return replace(outcome, early=True)
        if isinstance(outcome, Done) and call.properties.get("fail") == "settle":
            return Failed("the object has failed while it was built")
        return outcome

    def delete(self, call: Call) -> Outcome:
        gone_at = call.progress.get("gone_at")
        if gone_at is not None and gone_at <= call.now:
            return Done()
        if gone_at is None:
            outcome = super().delete(call)
            if isinstance(outcome, Done):
                return outcome
            gone_at = call.now + float(call.properties.get("slow") or 0)
        return Wait(gone_at - call.now, progress={"gone_at": gone_at}, early=True)


class Disk(Thing):
    """An object with contents, which can be snapshotted as images."""

    type_name = "Sim::Disk"
    properties = {**_PROPERTIES, "image": Property(Type.STRING, update_allowed=True)}

    def update(self, call: Call) -> Outcome:
        if "image" in call.update.changed:
            call.cloud.rebuild(call.physical_id, call.properties["image"])
        return super().update(call)

    def snapshot(self, call: Call) -> Outcome:
        found = call.cloud.find(call.snapshot.name)
        if found is None and call.now < call.snapshot.lands_until:
            return Wait(1.0)
        if found is None:
            found = call.cloud.snapshot(call.physical_id, call.snapshot.name)
            return Wait(1.0, progress={"image": found})
        return Done(data={**call.data, "image": found})

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**properties, "image": data["image"]} if "image" in data else properties

    def delete_snapshot(self, call: Call) -> Outcome:
        found = call.cloud.find(call.snapshot.name)
        if found is None:
            return Wait(1.0) if call.now < call.snapshot.lands_until else Done()
        call.cloud.delete(found)
        return Wait(0.1)


class Tie(ManagedType):
    """An object without an id except its name: its successor is the same object."""

    type_name = "Sim::Tie"
    service = "sim"
    unique = True
    link = "tie"
    properties = {"name": Property(Type.STRING, required=True)}

    def create(self, call: Call) -> Outcome:
        call.cloud.tie(call.properties["name"])
        return Done(physical_id=call.properties["name"])

    def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            call.cloud.untie(call.physical_id)
        return Done()

    def find(self, call: Call) -> str | None:
        name: str = call.properties["name"]
        return name if call.cloud.is_tied(name) else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        return {"name": call.physical_id} if call.cloud.is_tied(call.physical_id) else None


class Knot(ManagedType):
    """A tie with a content; the cloud refuses a second one of the same name.

    As with key pairs, a tie that is found after a lost create is recognised by its content, which
    others may have put into a tie, too. A tie is removed before its replacement is made.
    """

    type_name = "Sim::Knot"
    service = "sim"
    unique = True
    link = "tie"
    release_deletes = True
    properties = {
        "name": Property(Type.STRING, required=True),
        "content": Property(Type.STRING, default=""),
    }

    def create(self, call: Call) -> Outcome:
        name, content = call.properties["name"], call.properties["content"]
        if call.physical_id is None:
            call.cloud.tie(name, content)
        return Done(physical_id=name)

    def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            call.cloud.untie(call.physical_id)
        return Done()

    def find(self, call: Call) -> str | None:
        name: str = call.properties["name"]
        return name if call.cloud.content_of(name) == call.properties["content"] else None

    def release(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        if "released" not in call.data:
            return Wait(after=0.0, data={**call.data, "released": True})
        if call.cloud.content_of(call.physical_id) == call.properties["content"]:
            call.cloud.untie(call.physical_id)
        return Done()

    def reclaim(self, call: Call) -> Outcome:
        name, content = call.properties["name"], call.properties["content"]
        if "released" in call.data and call.cloud.content_of(name) != content:
            call.cloud.tie(name, content)
        return Done(data={})

    def check(self, call: Call) -> Outcome:
        there = "released" in call.data or call.cloud.is_tied(call.physical_id)
        return Done() if there else Failed("the tie is gone")

    def occupants(self, call: Call) -> Sequence[str]:
        name: str = call.properties["name"]
        return [name] if call.cloud.is_tied(name) else []

    def live(self, call: Call) -> Mapping[str, Any] | None:
        content = call.cloud.content_of(call.physical_id)
        return None if content is None else {"name": call.physical_id, "content": content}


class Gate(ManagedType):
    """Opens when it has been signalled as often as it wants."""

    type_name = "Sim::Gate"
    properties = {"count": Property(Type.INTEGER, default=1, update_allowed=True)}
    attributes = {"signals": Attribute()}

    def create(self, call: Call) -> Outcome:
        received = call.signals.get(call.physical_name, ())
        if len(received) >= call.properties["count"]:
            return Done(physical_id=call.physical_name, attributes={"signals": len(received)})
        return Wait(after=3600, physical_id=call.physical_name, on_signal=True)

    def update(self, call: Call) -> Outcome:
        return Done()

    def delete(self, call: Call) -> Outcome:
        return Done()

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        if "number" not in details:
            raise ValidationError("a signal has a number")
        return details

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        return f"signal {details['number']}"


class Handle(ManagedType):
    """Numbers the signals that have no id."""

    type_name = "Sim::Handle"

    def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        return Done()

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        known = call.signals.get(call.physical_name, ())
        return {"id": details.get("id", str(len(known) + 1))}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        return f"signal {details['id']}"


class Deployment(SoftwareDeployment):
    """A deployment to the server of the simulation."""

    type_name = "Sim::Deployment"
    service = "sim"

    def transport(self, call: Call) -> Transport:
        return Transport()

    def has_server(self, call: Call) -> bool:
        return True


class Faulty(Thing):
    """A type with a fault in a method that planning needs."""

    type_name = "Sim::Faulty"

    def needs_replacement(self, call: Call) -> bool:
        raise RuntimeError("a fault")


class Policy(AutoScalingPolicy):
    """A scaling policy that needs no identity service, and has no addresses."""

    type_name = "Sim::Policy"
    service = None

    def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        return {}


class SimRestarter(Restarter):
    """A restarter that needs no identity service, and has no address."""

    type_name = "Sim::Restarter"
    service = None

    def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        return {}

    def reference(self, call: Call) -> Any:
        return call.physical_name


class Reactor(ManagedType):
    """Keeps the requests of its signals."""

    type_name = "Sim::Reactor"

    def create(self, call: Call) -> Outcome:
        return Done(physical_id=call.physical_name)

    def delete(self, call: Call) -> Outcome:
        return Done()

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        return details

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        return "heard"

    def react(self, call: Call) -> Outcome:
        assert call.signal is not None
        asked = call.signal.details
        heard = call.data.get("heard", {})
        if asked.get("slow") and call.data.get("begun") != call.signal.id:
            return Wait(float(asked["slow"]), data={**call.data, "begun": call.signal.id})
        if asked.get("fail"):
            return Failed("this cannot be done")
        return Done(data={**call.data, "heard": {**heard, call.signal.id: dict(asked)}})


class Launch(LaunchConfiguration):
    """A launch configuration of a cloud that has no servers to copy."""

    type_name = LaunchConfiguration.type_name
    service = None

    def copied(self, call: Call) -> dict[str, Any]:
        return {"ImageId": f"image of {call.properties['InstanceId']}", "InstanceType": "m1.tiny"}


class Instance(Thing):
    """A server, at an address that is its id."""

    type_name = "AWS::EC2::Instance"
    properties = {
        **_PROPERTIES,
        "ImageId": Property(Type.STRING),
        "InstanceType": Property(Type.STRING, update_allowed=True),
        "KeyName": Property(Type.STRING),
        "SecurityGroups": Property(Type.LIST),
        "Tags": Property(Type.LIST, update_allowed=True),
        "UserData": Property(Type.STRING),
    }
    attributes = {"PublicIp": Attribute(), "PrivateIp": Attribute()}

    def read(self, call: Call) -> Mapping[str, Any]:
        return {"PublicIp": call.physical_id, "PrivateIp": call.physical_id}


FORMER_NAME = "Sim::FormerThing"  # an earlier name of ``Sim::Thing``
BUILT_IN = (
    Thing(),
    Machine(),
    Disk(),
    Faulty(),
    Tie(),
    Knot(),
    Deployment(),
    Gate(),
    Handle(),
    Policy(),
    SimRestarter(),
    Reactor(),
    AutoScalingGroup(),
    CWLiteAlarm(),
    AutoScalingResourceGroup(),
    Instance(),
    InstanceGroup(),
    Launch(),
    ResourceGroup(),
    ResourceChain(),
    Delay(),
    RandomString(),
)


class Types:
    """The registry of the simulation."""

    def __init__(self) -> None:
        self._types: dict[str, ResourceType] = {type_.type_name: type_ for type_ in BUILT_IN}
        renamed = self._types[Thing.type_name]
        former = self._types[FORMER_NAME] = under_older_name(renamed, FORMER_NAME)
        renamed.also_named = former.also_named = frozenset({Thing.type_name, FORMER_NAME})

    def find(self, type_name: str) -> ResourceType | None:
        return self._types.get(type_name)

    def names(self) -> list[str]:
        return sorted(self._types)
