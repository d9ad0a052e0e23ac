"""OS::Cinder::QoSAssociation: associates QoS specs with volume types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collections import QOS_SPECS
from stoker.resources.base import declare
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since

_BEFORE = "before"  # Key of the data: types that had the specs before the create.
_TYPES = "types"  # Key of the data: types that the resource associated or is about to associate.
_ASSOCIATED = "QoS association"


class QoSAssociation(ManagedType):
    """Associations of QoS specs. For administrators only."""

    type_name = "OS::Cinder::QoSAssociation"
    not_importable = "an association has no id"
    description = "Associates QoS specs with volume types."
    service = "block-storage"
    support = since("8.0.0")
    unique = True
    finds_own = True
    shares = frozenset({_ASSOCIATED})
    properties = {
        "qos_specs": declare.by_name("cinder.qos_specs", "QoS specs", required=True),
        "volume_types": declare.sequence(
            "Volume types.",
            required=True,
            update_allowed=True,
            items=declare.by_name("cinder.vtype", "Type of volumes"),
        ),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Associate the types. Those that have the specs already are recorded first, and stay."""
        if _BEFORE not in call.data:
            desired = call.properties["volume_types"]
            before = sorted(_unshared(call, desired) & _associated(call))
            return Wait(after=0.0, data={**call.data, _BEFORE: before, _TYPES: sorted(desired)})
        self._bring(call, set())
        return Done(call.physical_name)

    def update(self, call: Call) -> Outcome:
        """Record and associate the new types, then dissociate the removed ones."""
        desired = set(call.properties["volume_types"])
        known = set(call.data.get(_TYPES, call.update.previous.get("volume_types") or ()))
        if desired - known:
            return Wait(after=0.0, data={**call.data, _TYPES: sorted(desired | known)})
        self._bring(call, known)
        return Done(data={**call.data, _TYPES: sorted(desired)})

    def delete(self, call: Call) -> Outcome:
        """Dissociate all types."""
        if call.physical_id is not None:
            with gone_is_fine():
                known = call.data.get(_TYPES, call.properties["volume_types"])
                for kind in sorted(_associated(call) & _own(call, known)):
                    _ask(call, "disassociate", kind)
        return Done()

    def parts(self, call: Call) -> Collection[str]:
        """Return the associations as shared parts."""
        return {_part(call, kind) for kind in call.properties["volume_types"]}

    def find(self, call: Call) -> str | None:
        """Return the association, if all the types have the specs."""
        desired = set(call.properties["volume_types"])
        return call.physical_name if desired <= _associated(call) else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the types with the specs; None if the specs are deleted."""
        with gone_is_fine():
            associated = _associated(call)
            types = [kind for kind in call.properties["volume_types"] if kind in associated]
            return {"qos_specs": call.properties["qos_specs"], "volume_types": types}
        return None

    def check(self, call: Call) -> Outcome:
        """Check that the types still have the specs."""
        missing = set(call.properties["volume_types"]) - _associated(call)
        if missing:
            listed = ", ".join(sorted(missing))
            return Failed(f"the QoS specs are no longer associated with {listed}")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the specs."""
        return {"show": QOS_SPECS.get(call.cloud, str(call.properties["qos_specs"]))}

    def _bring(self, call: Call, before: set[str]) -> None:
        desired, present = set(call.properties["volume_types"]), _associated(call)
        for kind in sorted(desired - present):
            _ask(call, "associate", kind)
        for kind in sorted(_own(call, before & present) - desired):
            _ask(call, "disassociate", kind)


def _part(call: Call, kind: str) -> str:
    return f"{_ASSOCIATED} {call.properties['qos_specs']} {kind}"


def _unshared(call: Call, kinds: Iterable[str]) -> set[str]:
    """Return the types that no other resource of the stack associates with the specs."""
    return {kind for kind in kinds if _part(call, kind) not in call.shared}


def _own(call: Call, kinds: Iterable[str]) -> set[str]:
    """Return the types that only this resource associated."""
    return _unshared(call, kinds) - set(call.data.get(_BEFORE, ()))


def _associated(call: Call) -> set[str]:
    path = QOS_SPECS.at(str(call.properties["qos_specs"]), "/associations")
    found = QOS_SPECS.ask(call.cloud, "GET", path).get("qos_associations") or ()
    return {str(each["id"]) for each in found}


def _ask(call: Call, action: str, kind: str) -> None:
    path = QOS_SPECS.at(str(call.properties["qos_specs"]), f"/{action}")
    QOS_SPECS.ask(call.cloud, "GET", path, params={"vol_type_id": kind})
