"""Rules about servers, images and key pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.views import TemplateView, as_number, is_chosen

_SERVER = "OS::Nova::Server"
_SERVERS = (_SERVER, "AWS::EC2::Instance")
_UUID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}", re.IGNORECASE
)


@rule(
    Group.PORTABILITY,
    "The id of an object is written into a property.",
    level=Level.STRICT,
    why="""Ids differ between clouds, and between projects. The template fails elsewhere, and also
        here when the object is replaced, as images are with each release.""",
    remedy="Use a name, or a parameter with a custom constraint.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: 3fa85f64-5717-4562-b3fc-2c963f66afa6  # here
              flavor: small
              key_name: operators
              networks: [{port: web}]
        """,
    good="""
        parameters:
          image:
            type: string
            description: Name or id of the image
            constraints: [{custom_constraint: glance.image}]
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: {get_param: image}
              flavor: small
              key_name: operators
              networks: [{port: web}]
        """,
)
def hard_coded_id(view: TemplateView) -> Problems:
    """Yield texts of resources that are an id of 32 hexadecimal digits."""
    for text in view.texts:
        is_exempt = text.key in ("salt", "import_id", "external_id", "tags")
        if is_exempt or text.path[0] != view.dialect.resources:
            continue
        if _UUID.fullmatch(text.value):
            yield Problem("the id is only valid in one cloud", text.path)


@rule(
    Group.PORTABILITY,
    "The name of an image, flavor or key pair is written into a server.",
    level=Level.ALL,
    why="Names of images and flavors differ between clouds.",
    remedy="Make it a parameter, with the usual name as its default.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian-12  # here
              flavor: m1.small  # here
              networks: [{port: web}]
        """,
    good="""
        parameters:
          image: {type: string, default: debian-12}
          flavor: {type: string, default: m1.small}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: {get_param: image}
              flavor: {get_param: flavor}
              networks: [{port: web}]
        """,
)
def hard_coded_image(view: TemplateView) -> Problems:
    """Yield literal names of images, flavors and key pairs."""
    for server in view.of_type(*_SERVERS):
        for key in ("image", "flavor", "key_name", "ImageId", "InstanceType", "KeyName"):
            value = server.properties.get(key)
            if isinstance(value, str) and value and not _UUID.fullmatch(value):
                yield Problem(f'"{value}" may not exist in another cloud', server.at(key))


@rule(
    Group.PORTABILITY,
    "An availability zone is written into a resource.",
    level=Level.STRICT,
    why="Zones have other names in each cloud.",
    remedy="Leave it out, or make it a parameter.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              key_name: operators
              networks: [{port: web}]
              availability_zone: zone-b  # here
        """,
    good="""
        parameters:
          zone: {type: string, default: nova, description: Availability zone of the server}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              key_name: operators
              networks: [{port: web}]
              availability_zone: {get_param: zone}
        """,
)
def hard_coded_zone(view: TemplateView) -> Problems:
    """Yield literal availability zones."""
    for resource in view.resources:
        for key in ("availability_zone", "AvailabilityZone"):
            if isinstance(resource.properties.get(key), str):
                yield Problem("the zone is only valid in one cloud", resource.at(key))


@rule(
    Group.RELIABILITY,
    "Users cannot log in to a server.",
    level=Level.STRICT,
    why="Without a key pair, a password or user data, nobody can see why the server fails.",
    remedy="Set key_name.",
    bad="""
        resources:
          server:  # here
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, networks: [{port: web}]}
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
        """,
)
def server_without_key(view: TemplateView) -> Problems:
    """Yield servers without key, password and user data."""
    ways = ("key_name", "admin_pass", "user_data", "KeyName", "UserData")
    for server in view.of_type(*_SERVERS):
        if not any(map(server.has, ways)):
            yield Problem("the server has no key_name", server.path)


@rule(
    Group.CORRECTNESS,
    "Two block devices of a server have the same name or boot index.",
    severity=Severity.ERROR,
    why="The compute service refuses the server, or leaves out one of the devices.",
    remedy="Give each device its own device_name and boot_index.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              flavor: small
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian, volume_size: 10, device_name: vda, boot_index: 0}
                - {volume_id: data, device_name: vda}  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              flavor: small
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian, volume_size: 10, device_name: vda, boot_index: 0}
                - {volume_id: data, device_name: vdb}
        """,
)
def block_device_conflict(view: TemplateView) -> Problems:
    """Yield block devices with the name or index of an earlier one."""
    for server in view.of_type(_SERVER):
        for key in ("block_device_mapping_v2", "block_device_mapping"):
            seen: set[tuple[str, str]] = set()
            for entry, path in view.entries(server.properties.get(key), server.at(key)):
                if not isinstance(entry, Mapping) or is_chosen(path):
                    continue
                name = view.constant(entry.get("device_name"))
                index = as_number(view.constant(entry.get("boot_index")))
                marks = [("name", name.removeprefix("/dev/"))] if isinstance(name, str) else []
                marks += [("boot index", str(index))] if index is not None and index >= 0 else []
                for mark in marks:
                    if mark in seen:
                        yield Problem(f"another device has the {mark[0]} {mark[1]}", path)
                        break
                seen.update(marks)


@rule(
    Group.COST,
    "The boot volume of a server stays when the server is deleted.",
    level=Level.STRICT,
    why="""Without delete_on_termination each replaced or deleted server leaves a volume behind that
        is in no stack, and costs money.""",
    remedy="Set delete_on_termination, to false if the volume is to stay.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              flavor: small
              key_name: operators
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian, volume_size: 10, boot_index: 0}  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              flavor: small
              key_name: operators
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian, volume_size: 10, boot_index: 0, delete_on_termination: true}
        """,
)
def boot_volume_stays(view: TemplateView) -> Problems:
    """Yield volumes that a server makes and that have no delete_on_termination."""
    key = "block_device_mapping_v2"
    for server in view.of_type(_SERVER):
        for entry, path in view.entries(server.properties.get(key), server.at(key)):
            if not isinstance(entry, Mapping) or "delete_on_termination" in entry:
                continue
            if "volume_size" in entry and any(each in entry for each in ("image", "snapshot_id")):
                yield Problem("the volume stays when the server is deleted", path)


@rule(
    Group.COST,
    "A server boots from a volume and has an image, too.",
    why="The image is ignored, and readers expect that the server has it.",
    remedy="Remove the image, or the volume with boot index 0.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: debian  # here
              flavor: small
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian-12, volume_size: 10, boot_index: 0}
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              flavor: small
              networks: [{port: web}]
              block_device_mapping_v2:
                - {image: debian-12, volume_size: 10, boot_index: 0}
        """,
)
def two_boot_sources(view: TemplateView) -> Problems:
    """Yield servers with an image and a block device with boot index 0."""
    key = "block_device_mapping_v2"
    for server in view.of_type(_SERVER):
        written = server.properties.get("image")
        if not isinstance(written, str) or not written:
            continue
        for entry, _ in view.entries(server.properties.get(key), ()):
            index = entry.get("boot_index") if isinstance(entry, Mapping) else None
            if as_number(view.constant(index)) == 0:
                yield Problem("the server boots from a volume instead", server.at("image"))
                break


@rule(
    Group.CORRECTNESS,
    "The name of a server cannot be its host name.",
    level=Level.STRICT,
    why="""Cloud-init makes the name the host name. Spaces and underscores are not allowed in names
        of hosts, so services and certificates fail with it.""",
    remedy="Use letters, digits and hyphens.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              name: web_server 1  # here
              image: debian
              flavor: small
              key_name: operators
              networks: [{port: web}]
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties:
              name: web-server-1
              image: debian
              flavor: small
              key_name: operators
              networks: [{port: web}]
        """,
)
def unfit_server_name(view: TemplateView) -> Problems:
    """Yield literal names of servers with characters that host names cannot have."""
    for server in view.of_type(_SERVER):
        for name, path in view.constants(server.properties.get("name"), server.at("name")):
            if isinstance(name, str) and "%" not in name and not _HOST.fullmatch(name):
                yield Problem(f'"{name}" cannot be the name of a host', path)


_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?")


@rule(
    Group.RELIABILITY,
    "The servers of a group may all be on one host.",
    level=Level.ALL,
    why="A failure of the host stops all members together.",
    remedy="Add a server group with the policy soft-anti-affinity, and name it in scheduler_hints.",
    bad="""
        resources:
          servers:
            type: OS::Heat::ResourceGroup
            properties:
              count: 3
              resource_def:  # here
                type: OS::Nova::Server
                properties: {image: debian, flavor: small, networks: [{network: internal}]}
        """,
    good="""
        resources:
          apart:
            type: OS::Nova::ServerGroup
            properties: {policies: [soft-anti-affinity]}
          servers:
            type: OS::Heat::ResourceGroup
            properties:
              count: 3
              resource_def:
                type: OS::Nova::Server
                properties:
                  image: debian
                  flavor: small
                  networks: [{network: internal}]
                  scheduler_hints: {group: {get_resource: apart}}
        """,
)
def group_on_one_host(view: TemplateView) -> Problems:
    """Yield definitions of servers in groups without scheduler hints."""
    for server in view.of_type(_SERVER):
        if server.is_member and not server.has("scheduler_hints"):
            yield Problem("all members may be on one host", server.path)


@rule(
    Group.SECURITY,
    "An image is downloaded without encryption.",
    why="Others on the way can exchange the image, and with it all servers.",
    remedy="Use an https address.",
    bad="""
        resources:
          image:
            type: OS::Glance::WebImage
            properties:
              container_format: bare
              disk_format: qcow2
              location: http://images.example.org/debian.qcow2  # here
        """,
    good="""
        resources:
          image:
            type: OS::Glance::WebImage
            properties:
              container_format: bare
              disk_format: qcow2
              location: https://images.example.org/debian.qcow2
        """,
)
def image_over_http(view: TemplateView) -> Problems:
    """Yield locations of images with http."""
    for image in view.of_type("OS::Glance::WebImage", "OS::Glance::Image"):
        location = view.constant(image.properties.get("location"))
        if isinstance(location, str) and location.startswith("http://"):
            yield Problem("the image is downloaded without encryption", image.at("location"))


@rule(
    Group.SECURITY,
    "An image is visible for all projects.",
    level=Level.STRICT,
    why="Every project can start and download it, with everything that it contains.",
    remedy="Use the visibility private or shared.",
    bad="""
        resources:
          image:
            type: OS::Glance::WebImage
            properties:
              container_format: bare
              disk_format: qcow2
              location: https://images.example.org/debian.qcow2
              visibility: public  # here
        """,
    good="""
        resources:
          image:
            type: OS::Glance::WebImage
            properties:
              container_format: bare
              disk_format: qcow2
              location: https://images.example.org/debian.qcow2
              visibility: private
        """,
)
def public_image(view: TemplateView) -> Problems:
    """Yield images that are public or for the community."""
    for image in view.of_type("OS::Glance::WebImage"):
        if view.constant(image.properties.get("visibility")) in ("public", "community"):
            yield Problem("every project can use the image", image.at("visibility"))
