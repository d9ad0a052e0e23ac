"""Translates Heat's data of a resource into the data of Stoker's type.

In: a resource of Heat with its ``resource_data``, decrypted, and its metadata. Out: the data of the
row, its metadata as the template has them, signals, and attributes. Entries without a translation
are carried over under their own names.

The tables are by the implementation of a type. Tested by tests/takeover/test_type_data.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field

from stoker.kernel.json.text import dumps
from stoker.kernel.values import replace
from stoker.resources.heat.deployment_outputs import OUTPUTS
from stoker.takeover.heat.documents import time_of


class HeatResource(Struct, frozen=True):
    """A resource of Heat, as the translations need it."""

    name: str
    physical_id: str | None
    physical_name: str
    properties: Mapping[str, Any]
    data: Mapping[str, Any]
    metadata: Mapping[str, Any]
    user_project_id: str | None
    # Facts about all stack users that Heat does not store with them: ``auth_url``, ``domain_id``.
    user_facts: Mapping[str, Any] = field(default_factory=dict)
    members: tuple[str, ...] = ()  # names of the resources of its nested stack, oldest first
    reported: Mapping[str, Any] = field(default_factory=dict)  # outputs of its software deployment


class TypeData(Struct, frozen=True):
    """The data of a resource in Stoker."""

    data: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    signals: tuple[Mapping[str, Any], ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    physical_id: str | None = None  # where it differs from that of Heat


Translation = Callable[[HeatResource, TypeData], TypeData]

# Keys of Heat's data -> keys of Stoker's.
_RENAMED = {"access_key": "access", "secret_key": "secret"}
_SIGNAL_STATUS = ("status", "Status")
_COOLDOWN = ("cooldown_end", "cooldown", "scaling_in_progress")
_SIGNALLING = frozenset({"user_id", "signal_url"})
_PLACES = ("deployments", "os-collect-config")


def translate(implementation: str, resource: HeatResource) -> TypeData:
    """Return the data of a resource with this implementation."""
    common = TypeData(_with_user(resource), dict(resource.metadata))
    translation = _TRANSLATIONS.get(implementation)
    return common if translation is None else translation(resource, common)


def _with_user(resource: HeatResource) -> dict[str, Any]:
    """Return the data with the names that Stoker has for stack users and their keys."""
    data = {_RENAMED.get(key, key): value for key, value in resource.data.items()}
    if "user_id" in data:
        data.setdefault("username", resource.physical_name)
        data.setdefault("project_id", resource.user_project_id)
    return data


def _random_string(resource: HeatResource, common: TypeData) -> TypeData:
    return replace(common, attributes={"value": common.data.get("value")})


def _key_pair(resource: HeatResource, common: TypeData) -> TypeData:
    return replace(common, attributes={"private_key": common.data.get("private_key", "")})


def _signed_handle(resource: HeatResource, common: TypeData) -> TypeData:
    data = _renamed(common.data, "ec2_signed_url", "signed_url")
    return _with_signals(replace(common, data=data))


def _heat_handle(resource: HeatResource, common: TypeData) -> TypeData:
    data = _renamed(common.data, "ec2_signed_url", "alarm_url")
    address = _temporary_url(data)
    if address is not None:
        data = {**data, "alarm_url": address}
    data = _with_queue(data)
    if "user_id" in data:
        data = {**resource.user_facts, **data}
    return _with_signals(replace(common, data=data))


def _swift_handle(resource: HeatResource, common: TypeData) -> TypeData:
    return replace(common, data={**common.data, "endpoint": _temporary_url(common.data)})


def _deployment(resource: HeatResource, common: TypeData) -> TypeData:
    data = _with_queue(_renamed(common.data, "ec2_signed_url", "signal_url"))
    address = _temporary_url(data)
    if address is not None:
        data = {**data, "signal_url": address}
    # The objects of the transport exist if the server was given the deployment.
    is_prepared = resource.physical_id is not None and not _SIGNALLING.isdisjoint(data)
    prepared = {"prepared": True} if is_prepared else {}
    data = {**data, **prepared, "replacing_inputs": {}}
    return replace(common, data=data, attributes={**dict.fromkeys(OUTPUTS), **resource.reported})


def _server(resource: HeatResource, common: TypeData) -> TypeData:
    own = {key: value for key, value in common.metadata.items() if key not in _PLACES}
    collect = resource.metadata.get("os-collect-config")
    data = _with_queue(_renamed(common.data, "metadata_object_name", "object_name"))
    if collect is None:
        return TypeData(data, own)
    # The deployments are those that name the server.
    polling = {"deployments": [], "os-collect-config": collect}
    return TypeData({**data, "told": polling}, own)


def _instance(resource: HeatResource, common: TypeData) -> TypeData:
    """Translate an instance; it lists the port that Heat created for it as servers do."""
    data = dict(common.data)
    port_id = data.pop("port_id", None)
    if port_id is not None:
        data["internal_ports"] = dumps([{"id": port_id}])
    return replace(common, data=data)


def _scaling_group(resource: HeatResource, common: TypeData) -> TypeData:
    names = list(resource.members)
    times = cooldown_starts(resource)
    scaled = {"": max(times)} if times else {}
    data = {**common.data, "names": names, "made": len(names), "scaled": scaled}
    return replace(common, data=data, metadata=_without_cooldown(common.metadata))


def _instance_group(resource: HeatResource, common: TypeData) -> TypeData:
    names = list(resource.members)
    return replace(common, data={**common.data, "names": names, "made": len(names)})


def _launch_configuration(resource: HeatResource, common: TypeData) -> TypeData:
    """Translate a launch configuration, which passes its own properties to the instances."""
    own = {
        name: value
        for name, value in resource.properties.items()
        if name != "InstanceId" and value is not None
    }
    return replace(common, data={**common.data, "properties": own})


def _scaling_policy(resource: HeatResource, common: TypeData) -> TypeData:
    attributes = {}
    if "heat_signal_url" in common.data:
        attributes["signal_url"] = common.data["heat_signal_url"]
    metadata = _without_cooldown(common.metadata)
    return replace(common, metadata=metadata, attributes=attributes)


def _resource_group(resource: HeatResource, common: TypeData) -> TypeData:
    """Translate a group: names that are missing below the last member were removed."""
    numbers = sorted(int(name) for name in resource.members if name.isdigit())
    listed = str(common.data.get("name_blacklist") or "")
    removed = {name for name in listed.split(",") if name}
    if numbers:
        removed |= {str(each) for each in range(numbers[-1])} - set(resource.members)
    names = sorted(removed, key=lambda name: (len(name), name))
    data = {**common.data, "removed": names}
    return replace(common, data=data, attributes={"removed_rsrc_list": names})


def _access_key(resource: HeatResource, common: TypeData) -> TypeData:
    data = {key: value for key, value in common.data.items() if key != "secret"}
    attributes = {"SecretAccessKey": common.data.get("secret")}
    return replace(common, data=data, attributes=attributes)


def _association(resource: HeatResource, common: TypeData) -> TypeData:
    """Translate a link, whose id in Heat is a number of its own database."""
    ends = [resource.properties.get(name) for name in ("floatingip_id", "port_id")]
    if resource.physical_id is None or not all(ends):
        return common
    return replace(common, physical_id=":".join(map(str, ends)))


def cooldown_starts(resource: HeatResource) -> list[float]:
    """Return when a group or policy last scaled.

    Newer releases record the end of the cooldown, older ones the time of the change.
    """
    ends = resource.metadata.get("cooldown_end")
    period = float(resource.properties.get("cooldown") or resource.properties.get("Cooldown") or 0)
    if isinstance(ends, Mapping):
        times = [time_of(end) for end in ends]
        return [time - period for time in times if time is not None]
    changes = resource.metadata.get("cooldown")
    if isinstance(changes, Mapping):
        return [time for time in map(time_of, changes) if time is not None]
    return []


def _without_cooldown(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in _COOLDOWN}


def _with_signals(common: TypeData) -> TypeData:
    """Move the signals in the metadata of a handle into records of their own."""
    signals, own = [], {}
    for key, entry in common.metadata.items():
        if isinstance(entry, Mapping) and any(name in entry for name in _SIGNAL_STATUS):
            lower = {str(name).lower(): value for name, value in entry.items()}
            fields = {name: lower.get(name) for name in ("status", "reason", "data")}
            signals.append({"id": str(key), **fields})
        else:
            own[key] = entry
    return replace(common, metadata=own, signals=tuple(signals))


def _renamed(data: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in data.items()}


def _with_queue(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with the id of the resource's queue, which Heat stores for each purpose."""
    queue = next((value for key, value in data.items() if key.endswith("queue_id")), None)
    return dict(data) if queue is None else {**data, "queue_id": queue}


def _temporary_url(data: Mapping[str, Any]) -> str | None:
    """Return the temporary URL of the object store that a server was given."""
    for value in data.values():
        if isinstance(value, str) and "temp_url_sig=" in value:
            return value
    return None


_TRANSLATIONS: Mapping[str, Translation] = {
    "OS::Heat::RandomString": _random_string,
    "OS::Heat::WaitConditionHandle": _heat_handle,
    "AWS::CloudFormation::WaitConditionHandle": _signed_handle,
    "OS::Heat::UpdateWaitConditionHandle": _signed_handle,
    "OS::Heat::SwiftSignalHandle": _swift_handle,
    "OS::Heat::SoftwareDeployment": _deployment,
    "OS::Heat::StructuredDeployment": _deployment,
    "OS::Nova::KeyPair": _key_pair,
    "OS::Nova::Server": _server,
    "AWS::EC2::Instance": _instance,
    "OS::Heat::DeployedServer": _server,
    "OS::Heat::AutoScalingGroup": _scaling_group,
    "AWS::AutoScaling::AutoScalingGroup": _scaling_group,
    "OS::Heat::InstanceGroup": _instance_group,
    "AWS::AutoScaling::LaunchConfiguration": _launch_configuration,
    "OS::Heat::ScalingPolicy": _scaling_policy,
    "AWS::AutoScaling::ScalingPolicy": _scaling_policy,
    "OS::Heat::ResourceGroup": _resource_group,
    "AWS::IAM::AccessKey": _access_key,
    "OS::Neutron::FloatingIPAssociation": _association,
}
