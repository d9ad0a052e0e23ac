"""Properties and attributes of OS::Nova::Server."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.shared.networks.ports import PROPERTIES as PORT_PROPERTIES
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Finder, Interruption, Property, Type
from stoker.schema.support import Support, SupportStatus, deprecated, hidden, since

_REBUILT = Interruption(
    "the server is rebuilt: it restarts with a new disk, and the contents of the old disk are lost"
)
# Entries of both formats of block devices.
_DEVICE: Mapping[str, Property] = {
    "delete_on_termination": declare.boolean("Delete the volume together with the server."),
    "snapshot_id": declare.by_name("cinder.snapshot", "Snapshot to create a volume from"),
    "volume_id": declare.by_name("cinder.volume", "Volume"),
    "volume_size": declare.integer("Size of a new volume in GiB."),
}

PROPERTIES: Mapping[str, Property] = {
    "admin_pass": declare.string(
        "Password of the server's administrator.", update_allowed=True, sensitive=True
    ),
    "admin_user": declare.string(
        "No longer used.", support=hidden("5.0.0", deprecated("2014.1", was="2013.2"))
    ),
    "availability_zone": declare.string("Availability zone of the server."),
    "block_device_mapping": declare.records(
        "Volumes of the server, in the older format.",
        entries={
            **_DEVICE,
            "device_name": declare.string("Device name in the server.", required=True),
        },
    ),
    "block_device_mapping_v2": declare.records(
        "Disks of the server.",
        support=since("2015.1"),
        entries={
            "boot_index": declare.integer("Position in the boot order."),
            **_DEVICE,
            "device_name": declare.string("Device name in the server."),
            "device_type": declare.choice(["cdrom", "disk"], "Type of the device."),
            "disk_bus": declare.choice(
                ["ide", "lame_bus", "sata", "scsi", "usb", "virtio"], "Bus of the device."
            ),
            "ephemeral_format": declare.choice(
                ["ext2", "ext3", "ext4", "xfs", "ntfs"],
                "File system of an ephemeral disk.",
                support=since("8.0.0"),
            ),
            "ephemeral_size": declare.at_least(
                1, "Size of an ephemeral disk in GiB.", support=since("8.0.0")
            ),
            "image": declare.by_name("glance.image", "Image", support=since("7.0.0")),
            "image_id": declare.old_name(
                "image", "glance.image", hidden("9.0.0", deprecated("7.0.0", was="5.0.0"))
            ),
            "swap_size": declare.integer("Size of a swap disk in MiB."),
            "volume_type": declare.by_name(
                "cinder.vtype", "Type of a new volume", support=since("26.0.0")
            ),
        },
    ),
    "config_drive": declare.boolean("Provide metadata and user data on a configuration drive."),
    "deployment_swift_data": declare.mapping(
        "Object in the object store for POLL_TEMP_URL.",
        default={},
        update_allowed=True,
        support=since("9.0.0"),
        entries={
            "container": declare.string("Name of the container.", constraints=(Length(min=1),)),
            "object": declare.string("Name of the object.", constraints=(Length(min=1),)),
        },
    ),
    "diskConfig": declare.choice(
        ["AUTO", "MANUAL"], "Whether the disk is partitioned to its full size."
    ),
    "flavor": declare.by_name(
        "nova.flavor",
        "Flavor",
        required=True,
        update_allowed=True,
        interruption=Interruption("the server is resized and restarted"),
    ),
    "flavor_update_policy": declare.choice(
        ["RESIZE", "REPLACE"],
        "How a changed flavor is applied.",
        default="RESIZE",
        update_allowed=True,
    ),
    "image": declare.by_name("glance.image", "Image", update_allowed=True, interruption=_REBUILT),
    "image_update_policy": declare.choice(
        ["REBUILD", "REPLACE", "REBUILD_PRESERVE_EPHEMERAL"],
        "How a changed image is applied.",
        default="REBUILD",
        update_allowed=True,
    ),
    "key_name": declare.checked("nova.keypair", "Key pair for SSH access."),
    "metadata": declare.mapping(
        "Metadata of the server.",
        default={},
        update_allowed=True,
    ),
    "name": declare.NAME,
    "networks": declare.records(
        "Networks of the server, in order.",
        update_allowed=True,
        interruption=Interruption("connections through changed interfaces are interrupted"),
        entries={
            "allocate_network": declare.choice(
                ["none", "auto"],
                "Let the compute service choose a network, or have none.",
                update_allowed=True,
                support=since("9.0.0"),
            ),
            "fixed_ip": declare.checked("ip_addr", "Address in the network."),
            "floating_ip": declare.string(
                "Id of a floating IP to associate with the port.", support=since("6.0.0")
            ),
            "network": declare.by_name("neutron.network", "Network"),
            "port": declare.by_name("neutron.port", "Port"),
            "port_extra_properties": declare.mapping(
                "Additional properties of the port.",
                update_allowed=True,
                support=since("6.0.0"),
                entries=PORT_PROPERTIES,
            ),
            "subnet": declare.string(
                "Subnet, by name or id.", finder=Finder("network", "subnet"), support=since("5.0.0")
            ),
            "tag": declare.string(
                "Tag of the interface, visible inside the server.", support=since("9.0.0")
            ),
            "uuid": declare.old_name(
                "network", "neutron.network", hidden("5.0.0", deprecated("2014.1"))
            ),
        },
    ),
    "personality": declare.mapping(
        "Files to write to the server, by path.", default={}, support=deprecated("12.0.0")
    ),
    "reservation_id": declare.string("Reservation to use."),
    "scheduler_hints": declare.mapping("Scheduler hints."),
    "security_groups": declare.sequence("Security groups, by name or id.", default=[]),
    "software_config_transport": declare.choice(
        ["POLL_SERVER_CFN", "POLL_SERVER_HEAT", "POLL_TEMP_URL", "ZAQAR_MESSAGE"],
        "Transport of software deployments to the server.",
        default="POLL_SERVER_CFN",
        update_allowed=True,
    ),
    "tags": declare.tags("8.0.0"),
    "user_data": declare.string(
        "Script or configuration for the first boot, or a software config.",
        default="",
        update_allowed=True,
        interruption=replace(_REBUILT, unless=("user_data_update_policy", "IGNORE")),
    ),
    "user_data_format": declare.choice(
        ["HEAT_CFNTOOLS", "RAW", "SOFTWARE_CONFIG"],
        "Format of the user data.",
        default="HEAT_CFNTOOLS",
    ),
    "user_data_update_policy": declare.choice(
        ["REPLACE", "IGNORE", "REBUILD"],
        "How changed user data are applied.",
        default="REPLACE",
        update_allowed=True,
        support=since("6.0.0"),
    ),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "accessIPv4": Attribute(
        "IPv4 address for access to the server.",
        type=Type.STRING,
        support=deprecated("14.0.0", was="2015.1"),
    ),
    "accessIPv6": Attribute(
        "IPv6 address for access to the server.",
        type=Type.STRING,
        support=deprecated("14.0.0", was="2015.1"),
    ),
    "addresses": Attribute(
        "Addresses by network, each with its port, subnets and network.",
        type=Type.MAP,
        support=SupportStatus(Support.SUPPORTED, "11.0.0", previous=SupportStatus()),
    ),
    "console_urls": Attribute(
        "URL of the server's console, by type.", type=Type.MAP, support=since("2015.1")
    ),
    "first_address": Attribute(
        "First address of the server.", support=hidden("5.0.0", deprecated("2014.2", was="2013.2"))
    ),
    "instance_name": Attribute("Name of the server on its host.", type=Type.STRING),
    "name": Attribute("Name of the object.", type=Type.STRING),
    "networks": Attribute("Addresses by network, as strings.", type=Type.MAP),
    "os_collect_config": Attribute(
        "Configuration with the place where the server polls for deployments.",
        type=Type.MAP,
        cached=False,
        support=since("9.0.0"),
    ),
    "tags": Attribute("Tags of the object.", type=Type.LIST, support=since("8.0.0")),
    "show": declare.SHOW,
}
