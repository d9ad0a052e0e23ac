"""What OS::Nova::Server declares."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.schema.constraints import AllowedValues, Custom, Length, Range
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import Support, SupportStatus, since

PROPERTIES: Mapping[str, Property] = {
    "admin_pass": Property(
        Type.STRING, "Password of the server's administrator.", update_allowed=True, sensitive=True
    ),
    "admin_user": Property(
        Type.STRING,
        "No longer used.",
        support=SupportStatus(
            Support.HIDDEN,
            "5.0.0",
            previous=SupportStatus(Support.DEPRECATED, "2014.1", previous=since("2013.2")),
        ),
    ),
    "availability_zone": Property(Type.STRING, "Availability zone of the server."),
    "block_device_mapping": Property(
        Type.LIST,
        "Volumes of the server, in the older form.",
        items=Property(
            Type.MAP,
            entries={
                "delete_on_termination": Property(
                    Type.BOOLEAN, "Whether the disk goes with the server."
                ),
                "device_name": Property(
                    Type.STRING, "Name of the device in the server.", required=True
                ),
                "snapshot_id": Property(
                    Type.STRING,
                    "Snapshot that a volume is made from.",
                    constraints=(Custom("cinder.snapshot"),),
                ),
                "volume_id": Property(
                    Type.STRING, "Volume.", constraints=(Custom("cinder.volume"),)
                ),
                "volume_size": Property(Type.INTEGER, "Size of a new volume in GiB."),
            },
        ),
    ),
    "block_device_mapping_v2": Property(
        Type.LIST,
        "Disks of the server.",
        support=since("2015.1"),
        items=Property(
            Type.MAP,
            entries={
                "boot_index": Property(Type.INTEGER, "Place in the order of booting."),
                "delete_on_termination": Property(
                    Type.BOOLEAN, "Whether the disk goes with the server."
                ),
                "device_name": Property(Type.STRING, "Name of the device in the server."),
                "device_type": Property(
                    Type.STRING,
                    "Kind of the device.",
                    constraints=(AllowedValues(["cdrom", "disk"]),),
                ),
                "disk_bus": Property(
                    Type.STRING,
                    "Bus of the device.",
                    constraints=(
                        AllowedValues(["ide", "lame_bus", "sata", "scsi", "usb", "virtio"]),
                    ),
                ),
                "ephemeral_format": Property(
                    Type.STRING,
                    "File system of a blank disk.",
                    constraints=(AllowedValues(["ext2", "ext3", "ext4", "xfs", "ntfs"]),),
                    support=since("8.0.0"),
                ),
                "ephemeral_size": Property(
                    Type.INTEGER,
                    "Size of a blank disk in GiB.",
                    constraints=(Range(min=1),),
                    support=since("8.0.0"),
                ),
                "image": Property(
                    Type.STRING,
                    "Image, by name or id.",
                    constraints=(Custom("glance.image"),),
                    finder=Finder("image", "image"),
                    support=since("7.0.0"),
                ),
                "image_id": Property(
                    Type.STRING,
                    "Old name of image.",
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
                "snapshot_id": Property(
                    Type.STRING,
                    "Snapshot that a volume is made from.",
                    constraints=(Custom("cinder.snapshot"),),
                ),
                "swap_size": Property(Type.INTEGER, "Size of a swap disk in MiB."),
                "volume_id": Property(
                    Type.STRING, "Volume.", constraints=(Custom("cinder.volume"),)
                ),
                "volume_size": Property(Type.INTEGER, "Size of a new volume in GiB."),
                "volume_type": Property(
                    Type.STRING,
                    "Type of a new volume.",
                    constraints=(Custom("cinder.vtype"),),
                    support=since("26.0.0"),
                ),
            },
        ),
    ),
    "config_drive": Property(
        Type.BOOLEAN, "Whether metadata and user data are on a drive of their own."
    ),
    "deployment_swift_data": Property(
        Type.MAP,
        "Object from which deployments are polled by temporary URL.",
        default={},
        update_allowed=True,
        support=since("9.0.0"),
        entries={
            "container": Property(
                Type.STRING, "Name of the container.", constraints=(Length(min=1),)
            ),
            "object": Property(Type.STRING, "Name of the object.", constraints=(Length(min=1),)),
        },
    ),
    "diskConfig": Property(
        Type.STRING,
        "Whether the disk is partitioned to its full size.",
        constraints=(AllowedValues(["AUTO", "MANUAL"]),),
    ),
    "flavor": Property(
        Type.STRING,
        "Flavor, by name or id.",
        required=True,
        update_allowed=True,
        constraints=(Custom("nova.flavor"),),
        finder=Finder("compute", "flavor"),
    ),
    "flavor_update_policy": Property(
        Type.STRING,
        "What a changed flavor does.",
        default="RESIZE",
        update_allowed=True,
        constraints=(AllowedValues(["RESIZE", "REPLACE"]),),
    ),
    "image": Property(
        Type.STRING,
        "Image, by name or id.",
        update_allowed=True,
        constraints=(Custom("glance.image"),),
        finder=Finder("image", "image"),
    ),
    "image_update_policy": Property(
        Type.STRING,
        "What a changed image does.",
        default="REBUILD",
        update_allowed=True,
        constraints=(AllowedValues(["REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"]),),
    ),
    "key_name": Property(
        Type.STRING, "Key pair for logging in.", constraints=(Custom("nova.keypair"),)
    ),
    "metadata": Property(
        Type.MAP,
        "Keys and texts that the compute service keeps with the server.",
        default={},
        update_allowed=True,
    ),
    "name": Property(
        Type.STRING,
        "Name of the object; without one the stack gives it a name.",
        update_allowed=True,
    ),
    "networks": Property(
        Type.LIST,
        "Networks of the server, in order.",
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "allocate_network": Property(
                    Type.STRING,
                    "Leave the networks to the compute service, or have none.",
                    update_allowed=True,
                    constraints=(AllowedValues(["none", "auto"]),),
                    support=since("9.0.0"),
                ),
                "fixed_ip": Property(
                    Type.STRING, "Address in the network.", constraints=(Custom("ip_addr"),)
                ),
                "floating_ip": Property(
                    Type.STRING,
                    "Id of a floating IP that is to lead to the port.",
                    support=since("6.0.0"),
                ),
                "network": Property(
                    Type.STRING,
                    "Network, by name or id.",
                    constraints=(Custom("neutron.network"),),
                    finder=Finder("network", "network"),
                ),
                "port": Property(
                    Type.STRING,
                    "Port, by name or id.",
                    constraints=(Custom("neutron.port"),),
                    finder=Finder("network", "port"),
                ),
                "port_extra_properties": Property(
                    Type.MAP,
                    "Further properties of the port that is made.",
                    update_allowed=True,
                    support=since("6.0.0"),
                    entries={
                        "admin_state_up": Property(
                            Type.BOOLEAN,
                            "Whether the object is switched on.",
                            default=True,
                            update_allowed=True,
                        ),
                        "allowed_address_pairs": Property(
                            Type.LIST,
                            "Further addresses that the port may send from.",
                            update_allowed=True,
                            items=Property(
                                Type.MAP,
                                entries={
                                    "ip_address": Property(
                                        Type.STRING,
                                        "Address, or range where one is allowed.",
                                        required=True,
                                        constraints=(Custom("ip_or_cidr"),),
                                    ),
                                    "mac_address": Property(
                                        Type.STRING,
                                        "Hardware address.",
                                        constraints=(Custom("mac_addr"),),
                                    ),
                                },
                            ),
                        ),
                        "binding:vnic_type": Property(
                            Type.STRING,
                            "Kind of the virtual interface.",
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
                        "mac_address": Property(
                            Type.STRING, "Hardware address.", constraints=(Custom("mac_addr"),)
                        ),
                        "no_fixed_ips": Property(
                            Type.BOOLEAN,
                            "Whether the port is to have no address.",
                            default=False,
                            update_allowed=True,
                            support=since("16.0.0"),
                        ),
                        "port_security_enabled": Property(
                            Type.BOOLEAN,
                            "Whether the service guards ports against forged addresses.",
                            update_allowed=True,
                            support=since("5.0.0"),
                        ),
                        "propagate_uplink_status": Property(
                            Type.BOOLEAN,
                            "Whether the state of the uplink is passed on.",
                            update_allowed=True,
                            support=since("15.0.0"),
                        ),
                        "qos_policy": Property(
                            Type.STRING,
                            "Quality of service policy, by name or id.",
                            update_allowed=True,
                            constraints=(Custom("neutron.qos_policy"),),
                            finder=Finder("network", "qos_policy"),
                            support=since("6.0.0"),
                        ),
                        "value_specs": Property(
                            Type.MAP,
                            "Further fields, passed to the service as they are.",
                            default={},
                            update_allowed=True,
                        ),
                    },
                ),
                "subnet": Property(
                    Type.STRING,
                    "Subnet, by name or id.",
                    finder=Finder("network", "subnet"),
                    support=since("5.0.0"),
                ),
                "tag": Property(
                    Type.STRING,
                    "Tag of the interface, visible inside the server.",
                    support=since("9.0.0"),
                ),
                "uuid": Property(
                    Type.STRING,
                    "Old name of network.",
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
        Type.MAP,
        "Files to put into the server, by path.",
        default={},
        support=SupportStatus(Support.DEPRECATED, "12.0.0"),
    ),
    "reservation_id": Property(Type.STRING, "Reservation to use."),
    "scheduler_hints": Property(Type.MAP, "Hints on where to run the server."),
    "security_groups": Property(Type.LIST, "Security groups, by name or id.", default=[]),
    "software_config_transport": Property(
        Type.STRING,
        "How the server gets its software deployments.",
        default="POLL_SERVER_CFN",
        update_allowed=True,
        constraints=(
            AllowedValues(
                ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"]
            ),
        ),
    ),
    "tags": Property(
        Type.LIST,
        "Tags of the object.",
        update_allowed=True,
        support=since("8.0.0"),
        items=Property(Type.STRING),
    ),
    "user_data": Property(
        Type.STRING,
        "Script or configuration for the server's first boot; a software config may be named.",
        default="",
        update_allowed=True,
    ),
    "user_data_format": Property(
        Type.STRING,
        "How user data is handed over.",
        default="HEAT_CFNTOOLS",
        constraints=(AllowedValues(["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"]),),
    ),
    "user_data_update_policy": Property(
        Type.STRING,
        "What changed user data does.",
        default="REPLACE",
        update_allowed=True,
        constraints=(AllowedValues(["REPLACE", "IGNORE", "REBUILD"]),),
        support=since("6.0.0"),
    ),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "accessIPv4": Attribute(
        "IPv4 address by which the server is reached.",
        type=Type.STRING,
        support=SupportStatus(Support.DEPRECATED, "14.0.0", previous=since("2015.1")),
    ),
    "accessIPv6": Attribute(
        "IPv6 address by which the server is reached.",
        type=Type.STRING,
        support=SupportStatus(Support.DEPRECATED, "14.0.0", previous=since("2015.1")),
    ),
    "addresses": Attribute(
        "Addresses by network, with port, subnets and network of each.",
        type=Type.MAP,
        support=SupportStatus(Support.SUPPORTED, "11.0.0", previous=SupportStatus()),
    ),
    "console_urls": Attribute(
        "Addresses of the server's console, by kind.", type=Type.MAP, support=since("2015.1")
    ),
    "first_address": Attribute(
        "First address of the server.",
        support=SupportStatus(
            Support.HIDDEN,
            "5.0.0",
            previous=SupportStatus(Support.DEPRECATED, "2014.2", previous=since("2013.2")),
        ),
    ),
    "instance_name": Attribute("Name of the server on its host.", type=Type.STRING),
    "name": Attribute("Name of the object.", type=Type.STRING),
    "networks": Attribute("Addresses by network, as texts.", type=Type.MAP),
    "os_collect_config": Attribute(
        "Where the server polls its deployments.",
        type=Type.MAP,
        cached=False,
        support=since("9.0.0"),
    ),
    "tags": Attribute("Tags of the object.", type=Type.LIST, support=since("8.0.0")),
    "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
}
