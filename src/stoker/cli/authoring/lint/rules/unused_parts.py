"""Rules about parts of a template that nothing uses."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView
from stoker.kernel.diagnostics import nearest
from stoker.template.describe.references import ReferenceKind

_PARAMETERS = (ReferenceKind.PARAMETER,)
# Keys of parameter groups: an entry there is no use of the parameter.
_GROUP_KEYS = frozenset(("parameters", "Parameters"))


@rule(
    Group.MAINTAINABILITY,
    "Nothing uses a parameter.",
    why="""Users set it and expect an effect. Often the reference to it was misspelled, or was
        removed with the resource that used it.""",
    remedy="Use the parameter, or remove it.",
    bad="""
        parameters:
          image: {type: string}
          image_name: {type: string}  # here
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: {get_param: image}
              flavor: small
              networks: [{network: internal}]
        """,
    good="""
        parameters:
          image: {type: string}
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: {get_param: image}
              flavor: small
              networks: [{network: internal}]
        """,
)
def unused_parameter(view: TemplateView) -> Problems:
    """Yield parameters without references."""
    used = set()
    for reference in view.references:
        if reference.kind in _PARAMETERS and reference.function not in _GROUP_KEYS:
            used.add(reference.name)
    if "" in used or not view.section(view.dialect.resources):
        return  # A function computes the name of a parameter, which may be any.
    for name in view.parameters:
        if name not in used:
            yield Problem(f'nothing uses the parameter "{name}"', (view.dialect.parameters, name))


@rule(
    Group.MAINTAINABILITY,
    "Nothing uses a condition.",
    why="""A resource or output that should depend on the condition probably does not, and always
        exists.""",
    remedy='Use it in "condition" or "if", or remove it.',
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}  # here
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
def unused_condition(view: TemplateView) -> Problems:
    """Yield conditions without references."""
    if view.has_loops:
        return
    used = view.names_referred(ReferenceKind.CONDITION)
    for name in view.conditions:
        if name not in used:
            yield Problem(f'nothing uses the condition "{name}"', (view.dialect.conditions, name))


@rule(
    Group.MAINTAINABILITY,
    "Nothing uses a mapping.",
    why="Its values have no effect, though they look as if they had.",
    remedy="Use it with Fn::FindInMap, or remove it.",
    bad="""
        HeatTemplateFormatVersion: 2012-12-12
        Mappings:
          Sizes:  # here
            small: {flavor: m1.small}
        Resources:
          Text: {Type: OS::Heat::RandomString}
        """,
    good="""
        HeatTemplateFormatVersion: 2012-12-12
        Mappings:
          Sizes:
            small: {length: 8}
        Resources:
          Text:
            Type: OS::Heat::RandomString
            Properties: {length: {Fn::FindInMap: [Sizes, small, length]}}
        """,
)
def unused_mapping(view: TemplateView) -> Problems:
    """Yield mappings without references."""
    used = view.names_referred(ReferenceKind.MAPPING)
    if "" in used or view.has_loops or not view.dialect.mappings:
        return
    for name in view.section(view.dialect.mappings):
        if name not in used:
            yield Problem(f'nothing uses the mapping "{name}"', (view.dialect.mappings, name))


@rule(
    Group.MAINTAINABILITY,
    "A parameter is in no group, though the template has parameter groups.",
    level=Level.STRICT,
    why="Forms that follow the groups do not show it, or show it at an unexpected place.",
    remedy="Add it to a group.",
    bad="""
        parameter_groups:
          - {label: Text, parameters: [length]}
        parameters:
          length: {type: number, default: 8}
          salt: {type: string, default: ""}  # here
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: {get_param: length}, salt: {get_param: salt}}
        """,
    good="""
        parameter_groups:
          - {label: Text, parameters: [length, salt]}
        parameters:
          length: {type: number, default: 8}
          salt: {type: string, default: ""}
        resources:
          text:
            type: OS::Heat::RandomString
            properties: {length: {get_param: length}, salt: {get_param: salt}}
        """,
)
def ungrouped_parameter(view: TemplateView) -> Problems:
    """Yield parameters in no group."""
    grouped = {each.name for each in view.references if each.function in _GROUP_KEYS}
    for name in view.parameters if grouped else ():
        if name not in grouped:
            near = nearest(name, grouped - view.parameters.keys())
            advice = None if near is None else f'a group names "{near}"'
            message = f'the parameter "{name}" is in no group'
            yield Problem(message, (view.dialect.parameters, name), suggestion=advice)


def _has_description(body: Mapping[str, object]) -> bool:
    return bool(body.get("description") or body.get("Description"))


@rule(
    Group.MAINTAINABILITY,
    "A parameter has no description.",
    level=Level.STRICT,
    why="Users of the template see only the name, and guess form and effect of the value.",
    remedy="Describe the effect of the value, with an example where its form is not obvious.",
    bad="""
        parameters:
          zone_name: {type: string, default: nova}  # here
        resources:
          zone: {type: OS::Heat::Value, properties: {value: {get_param: zone_name}}}
        """,
    good="""
        parameters:
          zone_name: {type: string, default: nova, description: Availability zone of all servers}
        resources:
          zone: {type: OS::Heat::Value, properties: {value: {get_param: zone_name}}}
        """,
)
def parameter_without_description(view: TemplateView) -> Problems:
    """Yield parameters without a description."""
    for name, declaration in view.parameters.items():
        if not _has_description(declaration):
            message = f'the parameter "{name}" has no description'
            yield Problem(message, (view.dialect.parameters, name))


@rule(
    Group.MAINTAINABILITY,
    "An output has no description.",
    level=Level.STRICT,
    why="Outputs are the interface of a stack; clients show their descriptions.",
    remedy="Describe the value.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          id: {value: {get_resource: text}}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          id: {value: {get_resource: text}, description: Name of the random string}
        """,
)
def output_without_description(view: TemplateView) -> Problems:
    """Yield outputs without a description."""
    for name, body in view.outputs.items():
        if not _has_description(body):
            yield Problem(f'the output "{name}" has no description', (view.dialect.outputs, name))


@rule(
    Group.MAINTAINABILITY,
    "A template has no description.",
    level=Level.STRICT,
    why="Lists of stacks show the description; without one, readers have to infer the purpose.",
    remedy="Add a description of one or two sentences.",
    bad="""
        heat_template_version: 2021-04-16  # here
        resources:
          text: {type: OS::Heat::RandomString}
        """,
    good="""
        heat_template_version: 2021-04-16
        description: A random text
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def template_without_description(view: TemplateView) -> Problems:
    """Yield one problem for a template without a description."""
    if not _has_description(view.data):
        yield Problem("the template has no description", (view.version.key,))
