"""Rules about resources that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import Resource, TemplateView
from stoker.template.describe.references import ReferenceKind


@rule(
    Group.SECURITY,
    "No server or port has a security group of the template.",
    why="""The rules protect nothing: the servers have the default group of the project instead, or
        another one.""",
    remedy="Add it to security_groups of a port or server, or remove it.",
    bad="""
        resources:
          web:  # here
            type: OS::Neutron::SecurityGroup
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
        """,
    good="""
        resources:
          web:
            type: OS::Neutron::SecurityGroup
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              security_groups: [{get_resource: web}]
        """,
)
def unused_security_group(view: TemplateView) -> Problems:
    """Yield security groups without references in templates with servers or ports."""
    if not _has_servers(view):
        return
    groups = ("OS::Neutron::SecurityGroup", "AWS::EC2::SecurityGroup")
    for resource in _unused(view, groups):
        yield Problem(f'nothing has the security group "{resource.name}"', resource.path)


def _has_servers(view: TemplateView) -> bool:
    """Return whether a template has anything that can have a security group or an address."""
    types = ("OS::Nova::Server", "OS::Neutron::Port", "AWS::EC2::Instance")
    return any(view.of_type(*types)) or any("::" not in each.type for each in view.resources)


def _unused(view: TemplateView, types: tuple[str, ...]) -> Iterator[Resource]:
    """Yield resources of these types that no other part refers to."""
    used = view.names_referred(ReferenceKind.RESOURCE, ReferenceKind.ATTRIBUTE, ReferenceKind.NAME)
    if "" in used or view.has_loops:
        return
    for resource in view.of_type(*types):
        name = resource.properties.get("name")
        is_named = isinstance(name, str) and _count(view, name) > 1
        if resource.name not in used and not resource.is_member and not is_named:
            yield resource


def _count(view: TemplateView, name: str) -> int:
    """Return how often a text is written."""
    return sum(text.value == name for text in view.texts)


@rule(
    Group.COST,
    "No server, router or trunk has a port of the template.",
    level=Level.STRICT,
    why="A port without a user takes an address of its subnet, and counts against the quota.",
    remedy="Name it in networks of a server, or remove it.",
    bad="""
        resources:
          port:  # here
            type: OS::Neutron::Port
            properties: {network: internal}
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, networks: [{network: internal}]}
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, networks: [{port: {get_resource: port}}]}
        """,
)
def unused_port(view: TemplateView) -> Problems:
    """Yield ports without references."""
    for resource in _unused(view, ("OS::Neutron::Port",)):
        yield Problem(f'nothing uses the port "{resource.name}"', resource.path)


@rule(
    Group.COST,
    "No server has a volume of the template.",
    level=Level.STRICT,
    why="A volume that is not attached costs as much as one that is.",
    remedy="Attach it, or remove it.",
    bad="""
        resources:
          data:  # here
            type: OS::Cinder::Volume
            deletion_policy: Retain
            properties: {size: 10}
        """,
    good="""
        resources:
          data:
            type: OS::Cinder::Volume
            deletion_policy: Retain
            properties: {size: 10}
          attachment:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
        """,
)
def unused_volume(view: TemplateView) -> Problems:
    """Yield volumes without references."""
    for resource in _unused(view, ("OS::Cinder::Volume", "AWS::EC2::Volume")):
        yield Problem(f'nothing uses the volume "{resource.name}"', resource.path)


@rule(
    Group.COST,
    "No port or server has a floating IP of the template.",
    why="Providers charge for reserved addresses, also for unused ones.",
    remedy="Give it a port_id, associate it, or return its address as an output.",
    bad="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          address:  # here
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public}
        """,
    good="""
        resources:
          port:
            type: OS::Neutron::Port
            properties: {network: internal}
          address:
            type: OS::Neutron::FloatingIP
            properties: {floating_network: public, port_id: {get_resource: port}}
        """,
)
def unused_floating_ip(view: TemplateView) -> Problems:
    """Yield floating IPs without a port that nothing refers to, in templates with servers."""
    if not _has_servers(view):
        return
    for resource in _unused(view, ("OS::Neutron::FloatingIP", "OS::Nova::FloatingIP")):
        if not resource.has("port_id"):
            yield Problem(f'nothing uses the floating IP "{resource.name}"', resource.path)


@rule(
    Group.MAINTAINABILITY,
    "No deployment uses a software configuration.",
    why="The configuration runs on no server.",
    remedy="Name it in config of a deployment or as user_data of a server, or remove it.",
    bad="""
        resources:
          setup:  # here
            type: OS::Heat::SoftwareConfig
            properties:
              config: |
                #!/bin/sh
                apt-get update
        """,
    good="""
        resources:
          setup:
            type: OS::Heat::SoftwareConfig
            properties:
              config: |
                #!/bin/sh
                apt-get update
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: setup}, server: web}
        """,
)
def unused_software_config(view: TemplateView) -> Problems:
    """Yield configurations without references."""
    types = (
        "OS::Heat::SoftwareConfig", "OS::Heat::StructuredConfig", "OS::Heat::SoftwareComponent",
        "OS::Heat::CloudConfig", "OS::Heat::MultipartMime",
    )  # fmt: skip
    for resource in _unused(view, types):
        yield Problem(f'nothing runs the configuration "{resource.name}"', resource.path)


@rule(
    Group.CORRECTNESS,
    "No wait condition uses a handle.",
    why="The stack does not wait for the signals that servers send to the handle.",
    remedy="Add a wait condition with this handle, or remove the handle.",
    bad="""
        resources:
          handle:  # here
            type: OS::Heat::WaitConditionHandle
        """,
    good="""
        resources:
          handle:
            type: OS::Heat::WaitConditionHandle
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600}
          command:
            type: OS::Heat::Value
            properties: {value: {get_attr: [handle, curl_cli]}}
        """,
)
def handle_without_condition(view: TemplateView) -> Problems:
    """Yield handles that no wait condition refers to."""
    conditions = {
        view.resource_in(resource.properties.get(key))
        for types, key in _CONDITIONS
        for resource in view.of_type(*types)
    }
    for resource in view.of_type(*_HANDLES):
        is_used = resource.name in conditions or _is_passed_on(view, resource.name)
        if not is_used and not resource.is_member and not view.has_loops:
            message = f'no wait condition uses the handle "{resource.name}"'
            yield Problem(message, resource.path)


_HANDLES = (
    "OS::Heat::WaitConditionHandle", "AWS::CloudFormation::WaitConditionHandle",
    "OS::Heat::SwiftSignalHandle",
)  # fmt: skip
_CONDITIONS = (
    (("OS::Heat::WaitCondition", "OS::Heat::SwiftSignal"), "handle"),
    (("AWS::CloudFormation::WaitCondition",), "Handle"),
)


def _is_passed_on(view: TemplateView, name: str) -> bool:
    """Return whether an output or a nested template gets a resource."""
    users = [each.path for each in view.resource_references if each.name == name]
    if any(path[0] == view.dialect.outputs for path in users):
        return True
    resources = {str(path[1]) for path in users}
    return any("::" not in each.type for each in view.resources if each.name in resources)


@rule(
    Group.CORRECTNESS,
    "A wait condition waits for a handle that no server gets.",
    level=Level.STRICT,
    why="Unless a user sends the signal by hand, the stack fails when the timeout ends.",
    remedy="Pass curl_cli, endpoint or token of the handle to a server, as with str_replace.",
    bad="""
        resources:
          handle:
            type: OS::Heat::WaitConditionHandle
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600}  # here
        """,
    good="""
        resources:
          handle:
            type: OS::Heat::WaitConditionHandle
          ready:
            type: OS::Heat::WaitCondition
            properties: {handle: {get_resource: handle}, timeout: 600}
          server:
            type: OS::Nova::Server
            properties:
              image: debian
              flavor: small
              networks: [{network: internal}]
              user_data:
                str_replace:
                  params: {notify: {get_attr: [handle, curl_cli]}}
                  template: |
                    #!/bin/sh
                    notify --data-binary '{"status": "SUCCESS"}'
        """,
)
def wait_condition_without_sender(view: TemplateView) -> Problems:
    """Yield wait conditions whose handle is used by nothing else."""
    if view.has_loops:
        return
    for types, key in _CONDITIONS:
        for resource in view.of_type(*types):
            handle = view.resource_in(resource.properties.get(key))
            if handle is None or view.by_name[handle].type not in _HANDLES:
                continue
            others = [
                each
                for each in view.resource_references
                if each.name in ("", handle)
                and each.function != view.dialect.depends_on
                and each.path[: len(resource.at(key))] != resource.at(key)
            ]
            if not others:
                message = f'nothing can signal the handle "{handle}"'
                yield Problem(message, resource.at(key))


@rule(
    Group.MAINTAINABILITY,
    "Nothing triggers a scaling policy.",
    level=Level.STRICT,
    why="No alarm and no output has its address, so that only signals by hand reach it.",
    remedy="Name its alarm_url or signal_url in an alarm or an output, or remove it.",
    bad="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 3
              resource: {type: OS::Heat::RandomString}
          grow:  # here
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 60
        """,
    good="""
        resources:
          group:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: 1
              max_size: 3
              resource: {type: OS::Heat::RandomString}
          grow:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {get_resource: group}
              adjustment_type: change_in_capacity
              scaling_adjustment: 1
              cooldown: 60
        outputs:
          grow:
            value: {get_attr: [grow, signal_url]}
        """,
)
def unused_scaling_policy(view: TemplateView) -> Problems:
    """Yield scaling policies without references."""
    for resource in _unused(view, ("OS::Heat::ScalingPolicy", "AWS::AutoScaling::ScalingPolicy")):
        yield Problem(f'nothing triggers the policy "{resource.name}"', resource.path)


@rule(
    Group.CORRECTNESS,
    "An index variable of a group is used nowhere in its definition.",
    level=Level.STRICT,
    why="All members are equal, though the author wanted to number them.",
    remedy="Use the variable, as in a name, or remove index_var.",
    bad="""
        resources:
          group:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1}}
            properties:
              count: 2
              index_var: "%n%"  # here
              resource_def:
                type: OS::Heat::Value
                properties: {value: member-%index%}
        """,
    good="""
        resources:
          group:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1}}
            properties:
              count: 2
              index_var: "%n%"
              resource_def:
                type: OS::Heat::Value
                properties: {value: member-%n%}
        """,
)
def unused_index_variable(view: TemplateView) -> Problems:
    """Yield index variables that do not occur in the definition."""
    for resource in view.of_type("OS::Heat::ResourceGroup"):
        variable = resource.properties.get("index_var")
        if isinstance(variable, str) and variable not in str(resource.properties["resource_def"]):
            yield Problem(f'nothing uses the index "{variable}"', resource.at("index_var"))
