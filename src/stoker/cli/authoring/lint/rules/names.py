"""Rules about names, copies, outputs and the size of templates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, Subject, rule
from stoker.cli.authoring.lint.views import DocumentView, TemplateView, texts_in
from stoker.template.describe.references import ReferenceKind

_MOST_RESOURCES = 150
_MOST_LINES = 60
_DEEPEST_CALLS = 6


@rule(
    Group.PORTABILITY,
    "An object has a fixed name.",
    level=Level.STRICT,
    why="""A second stack of the template in the same project has objects that users cannot
        distinguish, or fails where names are unique.""",
    remedy="Leave the name out, or include OS::stack_name.",
    bad="""
        resources:
          network:
            type: OS::Neutron::Net
            properties: {name: internal}  # here
        """,
    good="""
        resources:
          network:
            type: OS::Neutron::Net
            properties:
              name: {list_join: ["-", [{get_param: "OS::stack_name"}, internal]]}
        """,
)
def fixed_name(view: TemplateView) -> Problems:
    """Yield literal names of objects, except of parts without a life of their own."""
    for resource in view.resources:
        name = resource.properties.get("name")
        is_object = resource.type.startswith("OS::") and not resource.type.startswith("OS::Heat::")
        if is_object and isinstance(name, str) and resource.type not in _NAMED and "%" not in name:
            yield Problem(f'the name "{name}" is fixed', resource.at("name"))


_NAMED = frozenset(
    (
        "OS::Designate::RecordSet", "OS::Designate::Zone", "OS::Keystone::Domain",
        "OS::Keystone::Role", "OS::Keystone::Service", "OS::Cinder::VolumeType",
        "OS::Keystone::Region", "OS::Octavia::Flavor",
    )
)  # fmt: skip


@rule(
    Group.CORRECTNESS,
    "Two objects of one type have the same name.",
    why="""Services that look for the name find both, and refuse it as ambiguous. Usually the second
        one was copied.""",
    remedy="Give each object a name of its own.",
    bad="""
        resources:
          blue:
            type: OS::Neutron::Net
            properties: {name: internal}
          green:
            type: OS::Neutron::Net
            properties: {name: internal}  # here
        """,
    good="""
        resources:
          blue:
            type: OS::Neutron::Net
            properties: {name: internal-blue}
          green:
            type: OS::Neutron::Net
            properties: {name: internal-green}
        """,
)
def duplicate_object_name(view: TemplateView) -> Problems:
    """Yield literal names that an earlier resource of the type has, without conditions."""
    seen: dict[tuple[str, str], str] = {}
    for resource in view.resources:
        name = resource.properties.get("name")
        is_conditional = view.dialect.condition in resource.body
        if not isinstance(name, str) or not name or is_conditional or resource.is_member:
            continue
        if resource.type.startswith("OS::") and resource.type not in _REPEATABLE:
            first = seen.setdefault((resource.type, name), resource.name)
            if first != resource.name:
                yield Problem(f'"{first}" has the name "{name}", too', resource.at("name"))


_REPEATABLE = frozenset(
    (
        "OS::Designate::RecordSet", "OS::Heat::SoftwareDeployment", "OS::Heat::Value",
        "OS::Heat::StructuredDeployment", "OS::Heat::SoftwareDeploymentGroup",
        "OS::Heat::SoftwareConfig",
    )
)  # fmt: skip


@rule(
    Group.MAINTAINABILITY,
    "Two resources are equal.",
    level=Level.STRICT,
    why="A change of one is easily forgotten in the other.",
    remedy="Use a group, or a nested template with parameters.",
    bad="""
        resources:
          one:
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
          other:  # here
            type: OS::Nova::Server
            properties: {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
        """,
    good="""
        resources:
          servers:
            type: OS::Heat::ResourceGroup
            update_policy: {rolling_update: {max_batch_size: 1}}
            properties:
              count: 2
              resource_def:
                type: OS::Nova::Server
                properties:
                  {image: debian, flavor: small, key_name: operators, networks: [{port: web}]}
        """,
)
def equal_resources(view: TemplateView, *, properties: int = 3) -> Problems:
    """Yield resources with the type and properties of an earlier one."""
    seen: dict[str, str] = {}
    for resource in view.resources:
        if resource.is_member or len(resource.properties) < properties:
            continue
        text = json.dumps([resource.type, resource.properties], sort_keys=True, default=str)
        first = seen.setdefault(text, resource.name)
        if first != resource.name:
            yield Problem(f'"{resource.name}" is equal to "{first}"', resource.path)


@rule(
    Group.PORTABILITY,
    "A name has characters beyond ASCII.",
    level=Level.STRICT,
    why="Shells, file systems and other tools show or encode them differently.",
    remedy="Use letters, digits, hyphens and underscores.",
    bad="""
        resources:
          größe:  # here
            type: OS::Heat::RandomString
        """,
    good="""
        resources:
          size:
            type: OS::Heat::RandomString
        """,
)
def non_ascii_name(view: TemplateView) -> Problems:
    """Yield names in sections that are not ASCII."""
    for section in _sections(view):
        for name in view.section(section):
            if not name.isascii():
                yield Problem(f'the name "{name}" is not ASCII', (section, name))


def _sections(view: TemplateView) -> tuple[str, ...]:
    dialect = view.dialect
    named = (dialect.parameters, dialect.conditions, dialect.resources, dialect.outputs)
    return tuple(section for section in named if section)


@rule(
    Group.STYLE,
    "Names of a section have two styles.",
    level=Level.ALL,
    severity=Severity.INFO,
    why="Readers remember one style, and misspell names of the other.",
    remedy="Use snake_case in HOT, as its keys do.",
    bad="""
        resources:
          web_server: {type: OS::Heat::RandomString}
          db_server: {type: OS::Heat::RandomString}
          mailServer: {type: OS::Heat::RandomString}  # here
        """,
    good="""
        resources:
          web_server: {type: OS::Heat::RandomString}
          db_server: {type: OS::Heat::RandomString}
          mail_server: {type: OS::Heat::RandomString}
        """,
)
def mixed_name_styles(view: TemplateView) -> Problems:
    """Yield names whose style fewer names of their section have."""
    for section in _sections(view):
        styles: dict[str, list[str]] = {}
        for name in view.section(section):
            for style, pattern in _STYLES.items():
                if pattern.fullmatch(name):
                    styles.setdefault(style, []).append(name)
        if len(styles) < 2:
            continue
        usual = max(styles, key=lambda style: len(styles[style]))
        for style, names in styles.items():
            for name in names if style != usual else ():
                yield Problem(f'"{name}" is {style}, others are {usual}', (section, name))


_STYLES: Mapping[str, re.Pattern[str]] = {
    "snake_case": re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+"),
    "kebab-case": re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+"),
    "camelCase": re.compile(r"[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+"),
    "PascalCase": re.compile(r"(?:[A-Z][a-z0-9]+){2,}"),
}


@rule(
    Group.STYLE,
    "A name says nothing.",
    level=Level.ALL,
    severity=Severity.INFO,
    why="Events and errors have the name, and readers have to look up its purpose each time.",
    remedy="Name the resource by its purpose.",
    bad="""
        resources:
          resource1: {type: OS::Heat::RandomString}  # here
        """,
    good="""
        resources:
          session_secret: {type: OS::Heat::RandomString}
        """,
)
def meaningless_name(view: TemplateView) -> Problems:
    """Yield resources that are named resource, test, foo or by one letter."""
    for name in view.section(view.dialect.resources):
        if re.fullmatch(r"(?i)(?:my_?)?(?:resource|res|test|foo|bar|thing)_?\d*|[a-z]\d*", name):
            yield Problem(f'the name "{name}" says nothing', (view.dialect.resources, name))


@rule(
    Group.MAINTAINABILITY,
    "An output only repeats a parameter.",
    level=Level.STRICT,
    why="Users of the stack know the value, as they gave it.",
    remedy="Remove the output, or return an attribute of a resource.",
    bad="""
        parameters:
          zone: {type: string, description: Zone}
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: zone}}}
        outputs:
          zone:
            description: Zone
            value: {get_param: zone}  # here
        """,
    good="""
        parameters:
          zone: {type: string, description: Zone}
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: zone}}}
        outputs:
          zone:
            description: Zone
            value: {get_attr: [text, value]}
        """,
)
def output_repeats_parameter(view: TemplateView) -> Problems:
    """Yield outputs whose value is a parameter."""
    for reference in view.references:
        is_whole = len(reference.path) == 4 and reference.path[0] == view.dialect.outputs
        if is_whole and reference.kind is ReferenceKind.PARAMETER and not reference.rest:
            yield Problem(f'the output is the parameter "{reference.name}"', reference.path[:3])


@rule(
    Group.MAINTAINABILITY,
    "Two outputs have the same value.",
    level=Level.STRICT,
    why="One of them is superfluous, or should be another value.",
    remedy="Remove or correct one of them.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          one: {value: {get_attr: [text, value]}, description: Text}
          other: {value: {get_attr: [text, value]}, description: Text}  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        outputs:
          one: {value: {get_resource: text}, description: Text}
        """,
)
def duplicate_output(view: TemplateView) -> Problems:
    """Yield outputs whose value an earlier one has."""
    seen: dict[str, str] = {}
    for name, body in view.outputs.items():
        written = body.get(view.dialect.value)
        if not isinstance(written, dict):
            continue
        first = seen.setdefault(json.dumps(written, sort_keys=True, default=str), name)
        if first != name:
            yield Problem(f'"{first}" has the same value', (view.dialect.outputs, name))


@rule(
    Group.MAINTAINABILITY,
    "A template has very many resources.",
    level=Level.ALL,
    why="It is too long to review as a whole, and each update plans all of its resources.",
    remedy="Move parts to nested templates.",
    bad="heat_template_version: 2021-04-16\nresources:  # here\n"
    + "".join(f"  text_{number}: {{type: OS::Heat::RandomString}}\n" for number in range(151)),
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
        """,
)
def too_many_resources(view: TemplateView, *, resources: int = _MOST_RESOURCES) -> Problems:
    """Yield a template above a number of resources."""
    count = len(view.section(view.dialect.resources))
    if count > resources:
        yield Problem(f"the template has {count} resources", (view.dialect.resources,))


@rule(
    Group.MAINTAINABILITY,
    "A long script is inside the template.",
    level=Level.ALL,
    why="Editors, linters and tests of the script's language cannot be used.",
    remedy="Move it to a file beside the template, and use get_file.",
    bad="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              config: |  # here
                #!/bin/sh
        """.rstrip()
    + "\n                true" * 61
    + "\n          deployment:\n            type: OS::Heat::SoftwareDeployment\n"
    "            properties: {config: {get_resource: config}, server: web}\n        ",
    good="""
        resources:
          config:
            type: OS::Heat::SoftwareConfig
            properties:
              config: |
                #!/bin/sh
                true
          deployment:
            type: OS::Heat::SoftwareDeployment
            properties: {config: {get_resource: config}, server: web}
        """,
)
def long_inline_script(view: TemplateView, *, lines: int = _MOST_LINES) -> Problems:
    """Yield texts of many lines."""
    for text in view.texts:
        if text.value.count("\n") > lines:
            yield Problem(f"the text has {text.value.count(chr(10))} lines", text.path)


@rule(
    Group.MAINTAINABILITY,
    "Calls of functions are nested deeply.",
    level=Level.ALL,
    why="Readers cannot see the result.",
    remedy="Compute parts in OS::Heat::Value resources or in conditions.",
    bad="""
        parameters:
          one: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value:
                list_join:
                  - ","
                  - - list_join:
                        - ","
                        - - list_join:
                              - ","
                              - - list_join:
                                    - ","
                                    - - list_join:
                                          - ","
                                          - - list_join:
                                                - ","
                                                - [{get_param: one}]  # here
        """,
    good="""
        parameters:
          one: {type: string}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: {list_join: [",", [{get_param: one}, two]]}
        """,
)
def deep_calls(view: TemplateView, *, calls: int = _DEEPEST_CALLS) -> Problems:
    """Yield calls inside a number of others."""
    for call in view.calls:
        depth = sum(part in view.functions for part in call.path[2:])
        if depth == calls + 1:
            yield Problem(f"the call is inside {calls} others", call.path)


@rule(
    Group.PORTABILITY,
    "A file has an absolute path.",
    subject=Subject.BOTH,
    why="The path only exists on the machine of the author.",
    remedy="Use a path relative to the template.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: {get_file: /home/author/init.sh}}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties: {value: "echo"}
        """,
    also=("missing-file",),
)
def absolute_path(view: DocumentView) -> Problems:
    """Yield files of templates and registries with an absolute path."""
    for path, name in _files(view):
        if re.match(r"/(?!usr/share/)|file:/|[A-Za-z]:[\\/]|~/", name):
            yield Problem(f'"{name}" is an absolute path', path)


@rule(
    Group.SECURITY,
    "A template or file is fetched without encryption.",
    subject=Subject.BOTH,
    why="Others on the way can change the template, and with it the whole stack.",
    remedy="Use https, or a file beside the template.",
    bad="""
        resources:
          text:
            type: http://127.0.0.1:9/member.yaml  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
        """,
    also=("missing-file",),
)
def file_over_http(view: DocumentView) -> Problems:
    """Yield files with an http address."""
    for path, name in _files(view):
        if name.lower().startswith("http://"):
            yield Problem(f'"{name}" is fetched without encryption', path)


def _files(view: DocumentView) -> list[tuple[tuple[str | int, ...], str]]:
    """Return the files in a template, or in the registry of an environment."""
    if isinstance(view, TemplateView):
        kind = ReferenceKind.FILE
        return [(each.path, each.name) for each in view.references if each.kind is kind]
    registry = texts_in(view.section("resource_registry"), ("resource_registry",))
    return [(each.path, each.value) for each in registry if "::" not in each.value]
