"""Attributes of taken-over resources, as far as they follow from recorded values.

Attributes that only the cloud knows stay empty, except those that Heat has stored because the
template refers to them. Views and operations read them from the cloud when they are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from stoker.engine.execution.calls.build import physical_name
from stoker.engine.execution.nested.attributes import shown_by, with_shown
from stoker.engine.model.records import Resource, Stack, StoredSignal
from stoker.engine.planning.facts import REFERENCE, RecordedFacts, exists
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.resources.shared.groups.member_naming import by_name
from stoker.schema.resource_type import (
    Call,
    ManagedType,
    Reads,
    ResourceType,
    Signal,
    StackFacts,
    can,
)
from stoker.takeover.records.addresses import HeatAddresses
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.type_resolver import TemplateType

# Types whose attributes follow from the data of their rows, although they use a service.
_FROM_DATA = frozenset(
    {
        "OS::Heat::WaitConditionHandle",
        "OS::Heat::ScalingPolicy",
        "AWS::AutoScaling::ScalingPolicy",
        "OS::Heat::HARestarter",
        "OS::Heat::SwiftSignalHandle",
    }
)
# Types whose reference is the physical id in Heat, and an ARN of the nested stack here.
_REFERRED_BY_ID = frozenset(
    {
        "AWS::AutoScaling::AutoScalingGroup",
        "OS::Heat::AutoScalingGroup",
        "OS::Heat::InstanceGroup",
        "OS::Heat::ResourceChain",
        "OS::Heat::ResourceGroup",
        "OS::Heat::SoftwareDeploymentGroup",
        "OS::Heat::SoftwareDeployments",
        "OS::Heat::StructuredDeploymentGroup",
        "OS::Heat::StructuredDeployments",
    }
)
# A type without a physical id in Heat, whose reference is the name that its object would have.
_LAUNCH = "AWS::AutoScaling::LaunchConfiguration"
# Types whose signed URL Heat computes again for each answer.
_SIGNED = frozenset(
    {"OS::Heat::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy", "OS::Heat::HARestarter"}
)
_OUTPUTS = "outputs, "  # start of the outputs that Heat's stack of a scaling group has
_METERING = "metering.groupname"  # key of the tag that names an instance's group
_KEYS, _USERS = "AWS::IAM::AccessKey", "AWS::IAM::User"


class LocalAttributes:
    """Completes the rows of one stack."""

    def __init__(self, stack: Stack, region: str | None, cfn_url: str | None) -> None:
        self._stack = stack
        self._addresses = HeatAddresses(cfn_url)
        self._facts = StackFacts(
            stack.id, stack.name, stack.project_id, stack.user_project_id, stack.tags, region
        )

    def complete(
        self,
        rows: Sequence[Resource],
        types: Mapping[str, ResourceType | None],
        signals: Sequence[StoredSignal],
    ) -> list[Resource]:
        """Return the rows with attributes and references; ``types`` are by row id."""
        users = {
            row.data["username"]: row.name
            for row in rows
            if row.implementation == _USERS and "username" in row.data
        }
        signed = [self._signed(row, types[row.id]) for row in rows]
        found = [self._referred(row, types[row.id]) for row in signed]
        received = _by_reference(found, signals)
        return [self._read(row, types[row.id], received, users) for row in found]

    def with_nested(
        self,
        row: Resource,
        type_: ResourceType | None,
        child: Stack,
        evaluation: Evaluation | None,
        rows: Sequence[Resource],
    ) -> Resource:
        """Return the row of a nested stack with the outputs of that stack as attributes."""
        current = {each.name: each for each in rows if each.replaced_by is None}
        outputs = [] if evaluation is None else evaluation.outputs(_facts(current))
        # A template shows its outputs only.
        nesting = None if isinstance(type_, TemplateType) else type_
        shown = shown_by(outputs, current, reference_of, nesting)
        # Outputs that only the cloud knows have no value here; Heat has stored those in use.
        known = {name: value for name, value in shown.items() if value is not None}
        shown = {**_of_scaling_group(row, shown), **shown, **row.attributes, **known}
        if row.implementation in _REFERRED_BY_ID:
            row = replace(row, origin={**row.origin, "reference": child.id})
        group = _metered_as(rows)
        if group is not None:
            row = replace(row, data={**row.data, "metered_as": group})
        return with_shown(row, shown, child.address.arn)

    def _signed(self, row: Resource, type_: ResourceType | None) -> Resource:
        """Return the row with its signed URL, for types that create it once."""
        if row.implementation not in _SIGNED or type_ is None or "access" not in row.data:
            return row
        with suppress(RequestError):
            call = self._call(row, type_)
            url = self._addresses.presigned_url(call, "signal", never_expire=True)
            return replace(row, data={**row.data, "signed_url": url})
        return row

    def _referred(self, row: Resource, type_: ResourceType | None) -> Resource:
        """Return the row with the value of ``get_resource``, where it is not the physical id."""
        if not isinstance(type_, ManagedType) or not exists(row):
            return row
        plain = type(type_).reference is ResourceType.reference
        if plain and row.physical_id is not None:
            return row
        call = self._call(row, type_)
        reference = call.physical_name if row.implementation == _LAUNCH else type_.reference(call)
        if reference == row.physical_id:
            return row
        return replace(row, attributes={**row.attributes, REFERENCE: reference})

    def _read(
        self,
        row: Resource,
        type_: ResourceType | None,
        signals: Mapping[str, Sequence[Signal]],
        users: Mapping[str, str],
    ) -> Resource:
        if not isinstance(type_, ManagedType) or not exists(row):
            return row
        if row.implementation == _KEYS:
            # Heat shows the name of the user's resource.
            user = str(row.properties.get("UserName"))
            return _with(row, {"UserName": users.get(user, user)})
        found = dict(type_.foreseen(row.properties))
        is_local = type_.service_for(row.properties) is None or row.implementation in _FROM_DATA
        if is_local and can(type_, Reads):
            call = replace(self._call(row, type_), signals=signals)
            with suppress(RequestError, KeyError):
                found |= type_.read(call)
        known = {name: value for name, value in found.items() if name not in row.attributes}
        return _with(row, known)

    def _call(self, row: Resource, type_: ResourceType) -> Call:
        return Call(
            stack=self._facts,
            name=row.name,
            resource_id=row.id,
            token=row.token,
            physical_name=physical_name(
                self._stack.name, row.name, row.token, type_.physical_name_limit
            ),
            properties=row.properties,
            started_at=row.created_at,
            now=row.updated_at,
            action=row.action.value,
            metadata=row.metadata,
            physical_id=row.physical_id,
            data=row.data,
            signalling=self._addresses,
        )


def reference_of(row: Resource) -> Any:
    """Return the value of ``get_resource`` for a row."""
    return row.attributes.get(REFERENCE, row.physical_id)


def _of_scaling_group(row: Resource, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes of a scaling group that follow from others; Heat's stack has no such."""
    if row.implementation != "OS::Heat::AutoScalingGroup":
        return {}
    names = row.data.get("names", ())
    lists: dict[str, Any] = {}
    for output, value in shown.items():
        if output.startswith(_OUTPUTS) and isinstance(value, Mapping):
            attribute = output.removeprefix(_OUTPUTS)
            lists[attribute] = [value.get(member) for member in names]
            lists[by_name(attribute)] = value
    return {"current_size": len(names), **lists}


def _metered_as(members: Sequence[Resource]) -> str | None:
    """Return the name of the group in the tags of its instances; None for other groups."""
    for member in members:
        for tag in member.properties.get("Tags") or ():
            if isinstance(tag, Mapping) and tag.get("Key") == _METERING:
                return str(tag.get("Value"))
    return None


def _facts(current: Mapping[str, Resource]) -> RecordedFacts:
    return RecordedFacts(current, reference_of)


def _with(row: Resource, attributes: Mapping[str, Any]) -> Resource:
    return replace(row, attributes={**row.attributes, **attributes}) if attributes else row


def _by_reference(
    rows: Sequence[Resource], signals: Sequence[StoredSignal]
) -> dict[str, list[Signal]]:
    references = {row.id: str(reference_of(row)) for row in rows}
    found: dict[str, list[Signal]] = {}
    for stored in signals:
        reference = references.get(stored.resource_id)
        if reference is not None:
            signal = Signal(stored.id, stored.received_at, stored.details)
            found.setdefault(reference, []).append(signal)
    return found
