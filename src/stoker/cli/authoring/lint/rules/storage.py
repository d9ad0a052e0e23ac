"""Rules about volumes, shares, databases, containers and secrets."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.cli.authoring.lint.networks import network_of
from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.views import TemplateView

_ATTACHMENTS = {
    "OS::Cinder::VolumeAttachment": ("volume_id", "instance_uuid", "mountpoint"),
    "AWS::EC2::VolumeAttachment": ("VolumeId", "InstanceId", "Device"),
}


@rule(
    Group.RELIABILITY,
    "Data of users is deleted with its resource.",
    level=Level.STRICT,
    why="""A deleted stack, a renamed resource or a replacement deletes the volume, share or
        database with all data, unless there is a deletion policy.""",
    remedy="Write deletion_policy: Retain or Snapshot, or Delete if the data may go.",
    bad="""
        resources:
          data:  # here
            type: OS::Cinder::Volume
            properties: {size: 10}
          attachment:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
        """,
    good="""
        resources:
          data:
            type: OS::Cinder::Volume
            deletion_policy: Snapshot
            properties: {size: 10}
          attachment:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
        """,
)
def data_without_deletion_policy(view: TemplateView) -> Problems:
    """Yield resources with data that have no deletion policy."""
    for resource in view.resources:
        type_ = view.type_of(resource)
        has_data = type_ is not None and type_.has_data
        if (
            has_data
            and not resource.is_member
            and view.dialect.deletion_policy not in resource.body
        ):
            message = f'the data of "{resource.name}" is deleted with it'
            yield Problem(message, resource.path, suggestion="deletion_policy: Retain")


@rule(
    Group.CORRECTNESS,
    "A volume is attached to two servers.",
    severity=Severity.ERROR,
    why="""The volume service refuses the second attachment. With a type for several attachments,
        most file systems lose data.""",
    remedy="Give each server a volume of its own, or use a share.",
    bad="""
        resources:
          one:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
          other:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: db}  # here
          data:
            type: OS::Cinder::Volume
            properties: {size: 10}
        """,
    good="""
        resources:
          one:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
          other:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: more}, instance_uuid: db}
          data:
            type: OS::Cinder::Volume
            properties: {size: 10}
          more:
            type: OS::Cinder::Volume
            properties: {size: 10}
        """,
)
def volume_attached_twice(view: TemplateView) -> Problems:
    """Yield attachments of a volume that an earlier one attaches."""
    for type_name, (volume, _, _) in _ATTACHMENTS.items():
        seen: dict[str, str] = {}
        for resource in view.of_type(type_name):
            name = view.resource_in(resource.properties.get(volume))
            if name is None or "condition" in resource.body or "Condition" in resource.body:
                continue
            owner = view.by_name[name]
            if owner.has("multiattach") or owner.has("volume_type"):
                continue
            first = seen.setdefault(name, resource.name)
            if first != resource.name:
                yield Problem(f'"{first}" attaches "{name}", too', resource.at(volume))


@rule(
    Group.CORRECTNESS,
    "Two volumes have the same device in one server.",
    severity=Severity.ERROR,
    why="The compute service refuses the second attachment.",
    remedy="Choose another mountpoint, or leave it out.",
    bad="""
        resources:
          data:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: data, instance_uuid: web, mountpoint: /dev/vdb}
          logs:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: logs, instance_uuid: web, mountpoint: /dev/vdb}  # here
        """,
    good="""
        resources:
          data:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: data, instance_uuid: web, mountpoint: /dev/vdb}
          logs:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: logs, instance_uuid: web, mountpoint: /dev/vdc}
        """,
)
def attachment_device_conflict(view: TemplateView) -> Problems:
    """Yield attachments with the device of an earlier one, or of a block device of the server."""
    for type_name, (_, server_key, device_key) in _ATTACHMENTS.items():
        seen: dict[tuple[str, str], str] = {}
        for resource in view.of_type(type_name):
            written = resource.properties.get(server_key)
            server = view.resource_in(written) or (written if isinstance(written, str) else None)
            device = view.constant(resource.properties.get(device_key))
            if server is None or not isinstance(device, str) or resource.has_copies:
                continue
            key = (server, device.removeprefix("/dev/"))
            first = seen.setdefault(key, resource.name)
            if first != resource.name and "condition" not in resource.body:
                yield Problem(f'"{first}" has {device} already', resource.at(device_key))
            elif key[1] in _block_devices(view, server):
                yield Problem(f'"{server}" has {device} already', resource.at(device_key))


def _block_devices(view: TemplateView, server: str) -> set[str]:
    """Return the names of the block devices of a server."""
    resource = view.by_name.get(server)
    if resource is None:
        return set()
    written = resource.properties.get("block_device_mapping_v2")
    names = (
        view.constant(each.get("device_name"))
        for each, _ in view.entries(written, ())
        if isinstance(each, Mapping)
    )
    return {name.removeprefix("/dev/") for name in names if isinstance(name, str)}


@rule(
    Group.SECURITY,
    "A share is open to every address.",
    why="Every server that reaches the share service can read the files, and often change them.",
    remedy="Admit the network of the servers.",
    bad="""
        resources:
          files:
            type: OS::Manila::Share
            properties:
              share_protocol: NFS
              size: 10
              access_rules:
                - {access_type: ip, access_to: 0.0.0.0/0, access_level: rw}  # here
        """,
    good="""
        resources:
          files:
            type: OS::Manila::Share
            properties:
              share_protocol: NFS
              size: 10
              access_rules:
                - {access_type: ip, access_to: 10.0.0.0/24, access_level: rw}
        """,
)
def open_share(view: TemplateView) -> Problems:
    """Yield access rules of shares that admit every address."""
    for share in view.of_type("OS::Manila::Share"):
        written = share.properties.get("access_rules")
        for entry, path in view.entries(written, share.at("access_rules")):
            to = view.constant(entry.get("access_to")) if isinstance(entry, Mapping) else None
            range_ = network_of(to)
            if range_ is not None and range_.prefixlen == 0:
                yield Problem("every address can use the share", path)


@rule(
    Group.SECURITY,
    "A share is public for all projects.",
    level=Level.STRICT,
    why="Every project of the cloud sees the share and its export location.",
    remedy="Remove is_public.",
    bad="""
        resources:
          files:
            type: OS::Manila::Share
            deletion_policy: Retain
            properties: {share_protocol: NFS, size: 10, is_public: true}  # here
        """,
    good="""
        resources:
          files:
            type: OS::Manila::Share
            deletion_policy: Retain
            properties: {share_protocol: NFS, size: 10}
        """,
)
def public_share(view: TemplateView) -> Problems:
    """Yield shares that are public."""
    for share in view.of_type("OS::Manila::Share"):
        if view.constant(share.properties.get("is_public")) is True:
            yield Problem("the share is visible for all projects", share.at("is_public"))


@rule(
    Group.SECURITY,
    "Everybody can write to a container.",
    why="Others can store anything at your cost, and exchange the objects that you offer.",
    remedy="Name the projects and users that may write.",
    bad="""
        resources:
          uploads:
            type: OS::Swift::Container
            properties: {X-Container-Write: "*:*"}  # here
        """,
    good="""
        resources:
          uploads:
            type: OS::Swift::Container
            properties: {X-Container-Write: "shop:uploader"}
        """,
)
def world_writable_container(view: TemplateView) -> Problems:
    """Yield containers with a write rule for everybody."""
    for container in view.of_type("OS::Swift::Container"):
        written = view.constant(container.properties.get("X-Container-Write"))
        if isinstance(written, str) and any(each in written for each in ("*:*", ".r:*")):
            yield Problem("everybody can write", container.at("X-Container-Write"))


@rule(
    Group.SECURITY,
    "Everybody can read a container.",
    level=Level.STRICT,
    why="Backups and uploads are often in containers that were opened for a few public files.",
    remedy="Keep public files in a container of their own, and ignore the finding there.",
    bad="""
        resources:
          files:
            type: OS::Swift::Container
            properties: {X-Container-Read: ".r:*,.rlistings"}  # here
        """,
    good="""
        resources:
          files:
            type: OS::Swift::Container
            properties: {X-Container-Read: "shop:reader"}
        """,
)
def public_container(view: TemplateView) -> Problems:
    """Yield containers and buckets that everybody can read."""
    for container in view.of_type("OS::Swift::Container"):
        written = view.constant(container.properties.get("X-Container-Read"))
        if isinstance(written, str) and (".r:*" in written or "*:*" in written):
            yield Problem("everybody can read", container.at("X-Container-Read"))
    for bucket in view.of_type("AWS::S3::Bucket"):
        control = view.constant(bucket.properties.get("AccessControl"))
        if isinstance(control, str) and control.startswith("Public"):
            yield Problem("everybody can read", bucket.at("AccessControl"))


@rule(
    Group.RELIABILITY,
    "All objects of a container are deleted with it.",
    level=Level.STRICT,
    why="PurgeOnDelete deletes everything that users have stored, also by a mistaken update.",
    remedy="Leave it out: the delete of a container with objects fails then.",
    bad="""
        resources:
          uploads:
            type: OS::Swift::Container
            properties: {PurgeOnDelete: true}  # here
        """,
    good="""
        resources:
          uploads:
            type: OS::Swift::Container
            deletion_policy: Retain
        """,
)
def container_purged(view: TemplateView) -> Problems:
    """Yield containers that are emptied when they are deleted."""
    for container in view.of_type("OS::Swift::Container"):
        if view.constant(container.properties.get("PurgeOnDelete")) is True:
            yield Problem(
                "all objects are deleted with the container", container.at("PurgeOnDelete")
            )


@rule(
    Group.SECURITY,
    "A type of volumes has no encryption.",
    level=Level.STRICT,
    why="Disks that leave the data centre, and other users of the storage, can be read.",
    remedy="Add an OS::Cinder::EncryptedVolumeType for the type.",
    bad="""
        resources:
          fast:  # here
            type: OS::Cinder::VolumeType
            properties: {name: fast}
        """,
    good="""
        resources:
          fast:
            type: OS::Cinder::VolumeType
            properties: {name: fast}
          encryption:
            type: OS::Cinder::EncryptedVolumeType
            properties: {volume_type: {get_resource: fast}, provider: luks, cipher: aes-xts-plain64}
        """,
)
def unencrypted_volume_type(view: TemplateView) -> Problems:
    """Yield types of volumes that no encryption refers to."""
    encrypted = {
        view.resource_in(each.properties.get("volume_type"))
        for each in view.of_type("OS::Cinder::EncryptedVolumeType")
    }
    for kind in view.of_type("OS::Cinder::VolumeType"):
        if kind.name not in encrypted:
            yield Problem(f'volumes of the type "{kind.name}" are not encrypted', kind.path)


@rule(
    Group.SECURITY,
    "A user or group gets the role of an administrator.",
    level=Level.STRICT,
    why="The role admin gives control of the whole cloud in most installations.",
    remedy="Use the role member or reader, or a role of its own.",
    bad="""
        resources:
          operator:
            type: OS::Keystone::UserRoleAssignment
            properties:
              user: operator
              roles: [{role: admin, project: shop}]  # here
        """,
    good="""
        resources:
          operator:
            type: OS::Keystone::UserRoleAssignment
            properties:
              user: operator
              roles: [{role: member, project: shop}]
        """,
)
def admin_role(view: TemplateView) -> Problems:
    """Yield assignments of the role admin."""
    types = (
        "OS::Keystone::UserRoleAssignment", "OS::Keystone::GroupRoleAssignment",
        "OS::Keystone::User", "OS::Keystone::Group",
    )  # fmt: skip
    for resource in view.of_type(*types):
        written = resource.properties.get("roles")
        for entry, path in view.entries(written, resource.at("roles")):
            if isinstance(entry, Mapping) and view.constant(entry.get("role")) == "admin":
                yield Problem("the role admin gives control of the cloud", path)
