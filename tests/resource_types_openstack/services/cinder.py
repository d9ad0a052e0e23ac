"""Block storage, as the local cloud has it."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

TYPE = Case(
    "OS::Cinder::VolumeType",
    {"name": "fast", "description": "d", "metadata": {"a": "b"}},
    changed={
        "description": "other",
        "is_public": False,
        "metadata": {"c": "d"},
        "name": "faster",
        "projects": [],
    },
    by="admin",
    one_name=True,
)
_TYPES = {
    word: Case("OS::Cinder::VolumeType", {"name": f"kind-{word[1:]}"}, by="admin", one_name=True)
    for word in ("@one", "@two")
}
QOS = Case(
    "OS::Cinder::QoSSpecs",
    {"name": "q", "specs": {"consumer": "both", "iops": "5", "burst": "1"}},
    changed={"specs": {"consumer": "back-end", "iops": "7"}},
    other={"name": "r"},
    by="admin",
    one_name=True,
)
CASES = [
    TYPE,
    Case(
        "OS::Cinder::EncryptedVolumeType",
        {"provider": "luks", "volume_type": "@one", "key_size": 256, "cipher": "aes-xts-plain64"},
        changed={
            "cipher": "aes-cbc-essiv",
            "control_location": "back-end",
            "key_size": 128,
            "provider": "plain",
        },
        dependencies={"@one": _TYPES["@one"]},
        by="admin",
    ),
    QOS,
    Case(
        "OS::Cinder::QoSAssociation",
        {"qos_specs": "@qos", "volume_types": ["@one"]},
        changed={"volume_types": ["@two"]},
        dependencies={
            "@qos": Case("OS::Cinder::QoSSpecs", {"specs": {"a": "b"}}, by="admin"),
            **_TYPES,
        },
        by="admin",
    ),
    Case(
        "OS::Cinder::Quota",
        {"project": "@project", "volumes": 5, "gigabytes": 6},
        changed={
            "backup_gigabytes": 1,
            "backups": 2,
            "gigabytes": 3,
            "snapshots": 4,
            "volumes": -1,
        },
        by="admin",
    ),
    Case(
        "AWS::EC2::Volume",
        {"AvailabilityZone": "nova", "Size": 1, "Tags": [{"Key": "a", "Value": "b"}]},
        other={"Size": 2},
    ),
]
FOUND_AGAIN = [
    *CASES,
    Case("OS::Cinder::Volume", {"size": 1}),
    Case("OS::Cinder::VolumeAttachment", {"instance_uuid": "@server", "volume_id": "@volume"}),
    Case(
        "AWS::EC2::VolumeAttachment",
        {"InstanceId": "@server", "VolumeId": "@volume", "Device": "/dev/vdc"},
        unreported=frozenset({"Device"}),
    ),
]
