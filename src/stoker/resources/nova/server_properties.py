"""What OS::Nova::Server declares."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.schema.constraints import AllowedValues, Custom, Length, Range
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import Support, SupportStatus, since

PROPERTIES: Mapping[str, Property] = {
    "admin_pass": Property(Type.STRING, update_allowed=True, sensitive=True),
    "admin_user": Property(
        Type.STRING,
        support=SupportStatus(
            Support.HIDDEN,
            "5.0.0",
            previous=SupportStatus(Support.DEPRECATED, "2014.1", previous=since("2013.2")),
        ),
    ),
    "availability_zone": Property(Type.STRING),
    "block_device_mapping": Property(
        Type.LIST,
        items=Property(
            Type.MAP,
            entries={
                "delete_on_termination": Property(Type.BOOLEAN),
                "device_name": Property(Type.STRING, required=True),
                "snapshot_id": Property(Type.STRING, constraints=(Custom("cinder.snapshot"),)),
                "volume_id": Property(Type.STRING, constraints=(Custom("cinder.volume"),)),
                "volume_size": Property(Type.INTEGER),
            },
        ),
    ),
    "block_device_mapping_v2": Property(
        Type.LIST,
        support=since("2015.1"),
        items=Property(
            Type.MAP,
            entries={
                "boot_index": Property(Type.INTEGER),
                "delete_on_termination": Property(Type.BOOLEAN),
                "device_name": Property(Type.STRING),
                "device_type": Property(
                    Type.STRING, constraints=(AllowedValues(["cdrom", "disk"]),)
                ),
                "disk_bus": Property(
                    Type.STRING,
                    constraints=(
                        AllowedValues(["ide", "lame_bus", "sata", "scsi", "usb", "virtio"]),
                    ),
                ),
                "ephemeral_format": Property(
                    Type.STRING,
                    constraints=(AllowedValues(["ext2", "ext3", "ext4", "xfs", "ntfs"]),),
                    support=since("8.0.0"),
                ),
                "ephemeral_size": Property(
                    Type.INTEGER, constraints=(Range(min=1),), support=since("8.0.0")
                ),
                "image": Property(
                    Type.STRING,
                    constraints=(Custom("glance.image"),),
                    finder=Finder("image", "image"),
                    support=since("7.0.0"),
                ),
                "image_id": Property(
                    Type.STRING,
                    constraints=(Custom("glance.image"),),
                    finder=Finder("image", "image"),
                    support=SupportStatus(
                        Support.HIDDEN,
                        "9.0.0",
                        previous=SupportStatus(
                            Support.DEPRECATED, "7.0.0", previous=since("5.0.0")
                        ),
                    ),
                    renamed_to="image",
                ),
                "snapshot_id": Property(Type.STRING, constraints=(Custom("cinder.snapshot"),)),
                "swap_size": Property(Type.INTEGER),
                "volume_id": Property(Type.STRING, constraints=(Custom("cinder.volume"),)),
                "volume_size": Property(Type.INTEGER),
                "volume_type": Property(
                    Type.STRING, constraints=(Custom("cinder.vtype"),), support=since("26.0.0")
                ),
            },
        ),
    ),
    "config_drive": Property(Type.BOOLEAN),
    "deployment_swift_data": Property(
        Type.MAP,
        default={},
        update_allowed=True,
        support=since("9.0.0"),
        entries={
            "container": Property(Type.STRING, constraints=(Length(min=1),)),
            "object": Property(Type.STRING, constraints=(Length(min=1),)),
        },
    ),
    "diskConfig": Property(Type.STRING, constraints=(AllowedValues(["AUTO", "MANUAL"]),)),
    "flavor": Property(
        Type.STRING,
        required=True,
        update_allowed=True,
        constraints=(Custom("nova.flavor"),),
        finder=Finder("compute", "flavor"),
    ),
    "flavor_update_policy": Property(
        Type.STRING,
        default="RESIZE",
        update_allowed=True,
        constraints=(AllowedValues(["RESIZE", "REPLACE"]),),
    ),
    "image": Property(
        Type.STRING,
        update_allowed=True,
        constraints=(Custom("glance.image"),),
        finder=Finder("image", "image"),
    ),
    "image_update_policy": Property(
        Type.STRING,
        default="REBUILD",
        update_allowed=True,
        constraints=(AllowedValues(["REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"]),),
    ),
    "key_name": Property(Type.STRING, constraints=(Custom("nova.keypair"),)),
    "metadata": Property(Type.MAP, default={}, update_allowed=True),
    "name": Property(Type.STRING, update_allowed=True),
    "networks": Property(
        Type.LIST,
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "allocate_network": Property(
                    Type.STRING,
                    update_allowed=True,
                    constraints=(AllowedValues(["none", "auto"]),),
                    support=since("9.0.0"),
                ),
                "fixed_ip": Property(Type.STRING, constraints=(Custom("ip_addr"),)),
                "floating_ip": Property(Type.STRING, support=since("6.0.0")),
                "network": Property(
                    Type.STRING,
                    constraints=(Custom("neutron.network"),),
                    finder=Finder("network", "network"),
                ),
                "port": Property(
                    Type.STRING,
                    constraints=(Custom("neutron.port"),),
                    finder=Finder("network", "port"),
                ),
                "port_extra_properties": Property(
                    Type.MAP,
                    update_allowed=True,
                    support=since("6.0.0"),
                    entries={
                        "admin_state_up": Property(Type.BOOLEAN, default=True, update_allowed=True),
                        "allowed_address_pairs": Property(
                            Type.LIST,
                            update_allowed=True,
                            items=Property(
                                Type.MAP,
                                entries={
                                    "ip_address": Property(
                                        Type.STRING,
                                        required=True,
                                        constraints=(Custom("ip_or_cidr"),),
                                    ),
                                    "mac_address": Property(
                                        Type.STRING, constraints=(Custom("mac_addr"),)
                                    ),
                                },
                            ),
                        ),
                        "binding:vnic_type": Property(
                            Type.STRING,
                            default="normal",
                            update_allowed=True,
                            constraints=(
                                AllowedValues(
                                    [
                                        "normal",
                                        "direct",
                                        "macvtap",
                                        "direct-physical",
                                        "baremetal",
                                        "virtio-forwarder",
                                        "smart-nic",
                                    ]
                                ),
                            ),
                            support=since("2015.1"),
                        ),
                        "mac_address": Property(Type.STRING, constraints=(Custom("mac_addr"),)),
                        "no_fixed_ips": Property(
                            Type.BOOLEAN,
                            default=False,
                            update_allowed=True,
                            support=since("16.0.0"),
                        ),
                        "port_security_enabled": Property(
                            Type.BOOLEAN, update_allowed=True, support=since("5.0.0")
                        ),
                        "propagate_uplink_status": Property(
                            Type.BOOLEAN, update_allowed=True, support=since("15.0.0")
                        ),
                        "qos_policy": Property(
                            Type.STRING,
                            update_allowed=True,
                            constraints=(Custom("neutron.qos_policy"),),
                            finder=Finder("network", "qos_policy"),
                            support=since("6.0.0"),
                        ),
                        "value_specs": Property(Type.MAP, default={}, update_allowed=True),
                    },
                ),
                "subnet": Property(
                    Type.STRING, finder=Finder("network", "subnet"), support=since("5.0.0")
                ),
                "tag": Property(Type.STRING, support=since("9.0.0")),
                "uuid": Property(
                    Type.STRING,
                    constraints=(Custom("neutron.network"),),
                    finder=Finder("network", "network"),
                    support=SupportStatus(
                        Support.HIDDEN,
                        "5.0.0",
                        previous=SupportStatus(Support.DEPRECATED, "2014.1"),
                    ),
                    renamed_to="network",
                ),
            },
        ),
    ),
    "personality": Property(
        Type.MAP, default={}, support=SupportStatus(Support.DEPRECATED, "12.0.0")
    ),
    "reservation_id": Property(Type.STRING),
    "scheduler_hints": Property(Type.MAP),
    "security_groups": Property(Type.LIST, default=[]),
    "software_config_transport": Property(
        Type.STRING,
        default="POLL_SERVER_CFN",
        update_allowed=True,
        constraints=(
            AllowedValues(
                ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"]
            ),
        ),
    ),
    "tags": Property(
        Type.LIST, update_allowed=True, support=since("8.0.0"), items=Property(Type.STRING)
    ),
    "user_data": Property(Type.STRING, default="", update_allowed=True),
    "user_data_format": Property(
        Type.STRING,
        default="HEAT_CFNTOOLS",
        constraints=(AllowedValues(["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"]),),
    ),
    "user_data_update_policy": Property(
        Type.STRING,
        default="REPLACE",
        update_allowed=True,
        constraints=(AllowedValues(["REPLACE", "IGNORE", "REBUILD"]),),
        support=since("6.0.0"),
    ),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "accessIPv4": Attribute(
        type=Type.STRING,
        support=SupportStatus(Support.DEPRECATED, "14.0.0", previous=since("2015.1")),
    ),
    "accessIPv6": Attribute(
        type=Type.STRING,
        support=SupportStatus(Support.DEPRECATED, "14.0.0", previous=since("2015.1")),
    ),
    "addresses": Attribute(
        type=Type.MAP,
        support=SupportStatus(Support.SUPPORTED, "11.0.0", previous=SupportStatus()),
    ),
    "console_urls": Attribute(type=Type.MAP, support=since("2015.1")),
    "first_address": Attribute(
        support=SupportStatus(
            Support.HIDDEN,
            "5.0.0",
            previous=SupportStatus(Support.DEPRECATED, "2014.2", previous=since("2013.2")),
        )
    ),
    "instance_name": Attribute(type=Type.STRING),
    "name": Attribute(type=Type.STRING),
    "networks": Attribute(type=Type.MAP),
    "os_collect_config": Attribute(type=Type.MAP, cached=False, support=since("9.0.0")),
    "tags": Attribute(type=Type.LIST, support=since("8.0.0")),
    "show": Attribute(type=Type.MAP, cached=False),
}
