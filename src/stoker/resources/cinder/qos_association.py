"""OS::Cinder::QoSAssociation: types of volumes that have QoS specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.collections import QOS_SPECS
from stoker.clouds.faults import gone_is_fine
from stoker.resources import declare
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since

_BEFORE = "before"
"""Key of the data: those of the types that had the specs before the create."""


class QoSAssociation(ManagedType):
    """QoS specs at types of volumes. For administrators only."""

    type_name = "OS::Cinder::QoSAssociation"
    description = "Types of volumes that have QoS specs."
    service = "block-storage"
    support = since("8.0.0")
    unique = True
    finds_own = True
    shares = ("qos_specs",)
    properties = {
        "qos_specs": declare.by_name("cinder.qos_specs", "QoS specs", required=True),
        "volume_types": declare.sequence(
            "Types of volumes.",
            required=True,
            update_allowed=True,
            items=declare.by_name("cinder.vtype", "Type of volumes"),
        ),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Associate the types. Those that have the specs already are recorded first, and stay."""
        if _BEFORE not in call.data:
            wanted = set(call.properties["volume_types"]) - _of_others(call)
            before = sorted(wanted & _associated(call))
            return Wait(after=0.0, data={**call.data, _BEFORE: before})
        self._bring(call, set())
        return Done(call.physical_name)

    def update(self, call: Call) -> Outcome:
        """Associate those that have come, and let go of those that have gone."""
        self._bring(call, set(call.update.previous.get("volume_types") or ()))
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Let go of all types."""
        if call.physical_id is not None:
            with gone_is_fine():
                kinds = set(call.properties["volume_types"]) - _kept(call)
                for kind in sorted(_associated(call) & kinds):
                    _ask(call, "disassociate", kind)
        return Done()

    def find(self, call: Call) -> str | None:
        """The association, if all the types have the specs."""
        wanted = set(call.properties["volume_types"])
        return call.physical_name if wanted <= _associated(call) else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Which of the types have the specs; None if the specs are gone."""
        with gone_is_fine():
            associated = _associated(call)
            types = [kind for kind in call.properties["volume_types"] if kind in associated]
            return {"qos_specs": call.properties["qos_specs"], "volume_types": types}
        return None

    def check(self, call: Call) -> Outcome:
        """Whether the types still have the specs."""
        missing = set(call.properties["volume_types"]) - _associated(call)
        if missing:
            listed = ", ".join(sorted(missing))
            return Failed(f"the QoS specs are no longer associated with {listed}")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The specs."""
        return {"show": QOS_SPECS.get(call.cloud, str(call.properties["qos_specs"]))}

    def _bring(self, call: Call, before: set[str]) -> None:
        wanted, present = set(call.properties["volume_types"]), _associated(call)
        for kind in sorted(wanted - present):
            _ask(call, "associate", kind)
        for kind in sorted((before & present) - wanted - _kept(call)):
            _ask(call, "disassociate", kind)


def _of_others(call: Call) -> set[str]:
    """The types that other resources of the stack associate with the same specs."""
    return {str(kind) for each in call.others for kind in each.get("volume_types") or ()}


def _kept(call: Call) -> set[str]:
    """The types that this resource must not let go of."""
    return {*call.data.get(_BEFORE, ()), *_of_others(call)}


def _associated(call: Call) -> set[str]:
    path = QOS_SPECS.at(str(call.properties["qos_specs"]), "/associations")
    found = QOS_SPECS.ask(call.cloud, "GET", path).get("qos_associations") or ()
    return {str(each["id"]) for each in found}


def _ask(call: Call, action: str, kind: str) -> None:
    path = QOS_SPECS.at(str(call.properties["qos_specs"]), f"/{action}")
    QOS_SPECS.ask(call.cloud, "GET", path, params={"vol_type_id": kind})
