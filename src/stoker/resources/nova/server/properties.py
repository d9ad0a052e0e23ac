"""What OS::Nova::Server declares."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.resources.declare import (
    NAME,
    SHOW,
    at_least,
    by_name,
    checked,
    choice,
    old_name,
    tags,
)
from stoker.resources.ports import PROPERTIES as PORT_PROPERTIES
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import Support, SupportStatus, deprecated, hidden, since

_DEVICE: Mapping[str, Property] = {
    "delete_on_termination": Property(Type.BOOLEAN, "Whether the disk goes with the server."),
    "snapshot_id": checked("cinder.snapshot", "Snapshot that a volume is made from."),
    "volume_id": checked("cinder.volume", "Volume."),
    "volume_size": Property(Type.INTEGER, "Size of a new volume in GiB."),
}
"""What both forms of block devices have."""

PROPERTIES: Mapping[str, Property] = {
    "admin_pass": Property(
        Type.STRING, "Password of the server's administrator.", update_allowed=True, sensitive=True
    ),
    "admin_user": Property(
        Type.STRING, "No longer used.", support=hidden("5.0.0", deprecated("2014.1", was="2013.2"))
    ),
    "availability_zone": Property(Type.STRING, "Availability zone of the server."),
    "block_device_mapping": Property(
        Type.LIST,
        "Volumes of the server, in the older form.",
        items=Property(
            Type.MAP,
            entries={
                **_DEVICE,
                "device_name": Property(
                    Type.STRING, "Name of the device in the server.", required=True
                ),
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
                **_DEVICE,
                "device_name": Property(Type.STRING, "Name of the device in the server."),
                "device_type": choice(["cdrom", "disk"], "Kind of the device."),
                "disk_bus": choice(
                    ["ide", "lame_bus", "sata", "scsi", "usb", "virtio"], "Bus of the device."
                ),
                "ephemeral_format": choice(
                    ["ext2", "ext3", "ext4", "xfs", "ntfs"],
                    "File system of a blank disk.",
                    support=since("8.0.0"),
                ),
                "ephemeral_size": at_least(
                    1, "Size of a blank disk in GiB.", support=since("8.0.0")
                ),
                "image": by_name("glance.image", "Image", support=since("7.0.0")),
                "image_id": old_name(
                    "image", "glance.image", hidden("9.0.0", deprecated("7.0.0", was="5.0.0"))
                ),
                "swap_size": Property(Type.INTEGER, "Size of a swap disk in MiB."),
                "volume_type": checked(
                    "cinder.vtype", "Type of a new volume.", support=since("26.0.0")
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
    "diskConfig": choice(["AUTO", "MANUAL"], "Whether the disk is partitioned to its full size."),
    "flavor": by_name("nova.flavor", "Flavor", required=True, update_allowed=True),
    "flavor_update_policy": choice(
        ["RESIZE", "REPLACE"], "What a changed flavor does.", default="RESIZE", update_allowed=True
    ),
    "image": by_name("glance.image", "Image", update_allowed=True),
    "image_update_policy": choice(
        ["REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"],
        "What a changed image does.",
        default="REBUILD",
        update_allowed=True,
    ),
    "key_name": checked("nova.keypair", "Key pair for logging in."),
    "metadata": Property(
        Type.MAP,
        "Keys and texts that the compute service keeps with the server.",
        default={},
        update_allowed=True,
    ),
    "name": NAME,
    "networks": Property(
        Type.LIST,
        "Networks of the server, in order.",
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "allocate_network": choice(
                    ["none", "auto"],
                    "Leave the networks to the compute service, or have none.",
                    update_allowed=True,
                    support=since("9.0.0"),
                ),
                "fixed_ip": checked("ip_addr", "Address in the network."),
                "floating_ip": Property(
                    Type.STRING,
                    "Id of a floating IP that is to lead to the port.",
                    support=since("6.0.0"),
                ),
                "network": by_name("neutron.network", "Network"),
                "port": by_name("neutron.port", "Port"),
                "port_extra_properties": Property(
                    Type.MAP,
                    "Further properties of the port that is made.",
                    update_allowed=True,
                    support=since("6.0.0"),
                    entries=PORT_PROPERTIES,
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
                "uuid": old_name(
                    "network", "neutron.network", hidden("5.0.0", deprecated("2014.1"))
                ),
            },
        ),
    ),
    "personality": Property(
        Type.MAP, "Files to put into the server, by path.", default={}, support=deprecated("12.0.0")
    ),
    "reservation_id": Property(Type.STRING, "Reservation to use."),
    "scheduler_hints": Property(Type.MAP, "Hints on where to run the server."),
    "security_groups": Property(Type.LIST, "Security groups, by name or id.", default=[]),
    "software_config_transport": choice(
        ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"],
        "How the server gets its software deployments.",
        default="POLL_SERVER_CFN",
        update_allowed=True,
    ),
    "tags": tags("8.0.0"),
    "user_data": Property(
        Type.STRING,
        "Script or configuration for the server's first boot; a software config may be named.",
        default="",
        update_allowed=True,
    ),
    "user_data_format": choice(
        ["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"],
        "How user data is handed over.",
        default="HEAT_CFNTOOLS",
    ),
    "user_data_update_policy": choice(
        ["REPLACE", "IGNORE", "REBUILD"],
        "What changed user data does.",
        default="REPLACE",
        update_allowed=True,
        support=since("6.0.0"),
    ),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "accessIPv4": Attribute(
        "IPv4 address by which the server is reached.",
        type=Type.STRING,
        support=deprecated("14.0.0", was="2015.1"),
    ),
    "accessIPv6": Attribute(
        "IPv6 address by which the server is reached.",
        type=Type.STRING,
        support=deprecated("14.0.0", was="2015.1"),
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
        "First address of the server.", support=hidden("5.0.0", deprecated("2014.2", was="2013.2"))
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
    "show": SHOW,
}
