"""Rules about old functions, attributes, types and versions of the language."""

from __future__ import annotations

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView
from stoker.template.versions import CFN

_OLDEST_VERSION = "2018-08-31"


@rule(
    Group.DEPRECATION,
    "A function of CloudFormation is used in HOT.",
    why="Later versions of HOT do not have it, so that the template cannot be moved to them.",
    remedy="Use the function of HOT: get_param, get_resource, list_join, str_split or str_replace.",
    bad="""
        heat_template_version: 2013-05-23
        parameters:
          name: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {Ref: name}}  # here
        """,
    good="""
        heat_template_version: 2013-05-23
        parameters:
          name: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_param: name}}
        """,
)
def cfn_function_in_hot(view: TemplateView) -> Problems:
    """Yield calls of Ref and Fn:: in versions of HOT that still have them."""
    for call in view.calls if view.is_hot else ():
        is_own = call.function in view.version.functions
        if is_own and (call.function == "Ref" or call.function.startswith("Fn::")):
            yield Problem(f"later versions do not have {call.function}", call.path)


@rule(
    Group.DEPRECATION,
    "An attribute is deprecated.",
    level=Level.STRICT,
    why="Another attribute has replaced it, and services may stop to report it.",
    remedy="Use the attribute in the message.",
    bad="""
        resources:
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
        outputs:
          address: {value: {get_attr: [server, first_address]}}  # here
        """,
    good="""
        resources:
          server:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
        outputs:
          address: {value: {get_attr: [server, addresses, internal, 0, addr]}}
        """,
)
def deprecated_attribute(view: TemplateView) -> Problems:
    """Yield references to attributes that the type declares as deprecated."""
    for reference in view.resource_references:
        resource = view.by_name.get(reference.name)
        first = reference.rest[0] if reference.rest else None
        type_ = None if resource is None else view.type_of(resource)
        if type_ is None or not isinstance(first, str) or first not in type_.attributes:
            continue
        support = type_.attributes[first].support
        if str(support.status) in ("DEPRECATED", "HIDDEN"):
            message = f'the attribute "{first}" is deprecated'
            yield Problem(message, reference.path, suggestion=support.message)


@rule(
    Group.DEPRECATION,
    "A template has an old version of the language.",
    level=Level.STRICT,
    why="It lacks conditions and functions of later versions, and reads some values differently.",
    remedy="Use heat_template_version 2018-08-31 or later. Compare with stoker plan before.",
    bad="""
        heat_template_version: 2013-05-23  # here
        description: A text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        heat_template_version: 2018-08-31
        description: A text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def old_version(view: TemplateView, *, oldest: str = _OLDEST_VERSION) -> Problems:
    """Yield versions of HOT before a date."""
    if view.is_hot and view.version.name < oldest and view.version.key in view.data:
        yield Problem(f"the version {view.version.name} is old", (view.version.key,))


@rule(
    Group.PORTABILITY,
    "A version is given by the name of a release.",
    level=Level.STRICT,
    why="Older services know only some of the names. Readers have to know the dates.",
    remedy="Write the date.",
    bad="""
        heat_template_version: rocky  # here
        description: A text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        heat_template_version: 2018-08-31
        description: A text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def named_version(view: TemplateView) -> Problems:
    """Yield names of releases as versions."""
    written = view.data.get(view.version.key)
    if view.is_hot and written in view.version.aliases:
        message = f'"{written}" is the version {view.version.name}'
        yield Problem(message, (view.version.key,))


@rule(
    Group.PORTABILITY,
    "A HOT template has types of AWS.",
    level=Level.STRICT,
    why="""These types imitate AWS with few of its properties. The types of OpenStack have more, and
        are in all installations.""",
    remedy="Use the type of OpenStack.",
    bad="""
        resources:
          data:
            type: AWS::EC2::Volume  # here
            deletion_policy: Retain
            properties: {Size: "10", AvailabilityZone: {get_param: zone}}
          attachment:
            type: OS::Cinder::VolumeAttachment
            properties: {volume_id: {get_resource: data}, instance_uuid: web}
        parameters:
          zone: {type: string, description: Availability zone}
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
def aws_type_in_hot(view: TemplateView) -> Problems:
    """Yield resources of HOT whose type is one of AWS."""
    for resource in view.resources if view.dialect is not CFN else ():
        if resource.type.startswith("AWS::"):
            key = "type"
            yield Problem(f"{resource.type} is a type of AWS", (*resource.path, key))
