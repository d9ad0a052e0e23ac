"""Rules about environments, with and without their template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, Subject, rule
from stoker.cli.authoring.lint.secret_words import is_hidden, is_placeholder, is_secret_name
from stoker.cli.authoring.lint.views import EnvironmentView
from stoker.kernel.diagnostics import Path, nearest
from stoker.resources.base.registry import Registry

_REGISTRY = "resource_registry"
_OWN_KEYS = frozenset(("base_url", "resources", "hooks", "restricted_actions"))
_ALIKE = 0.85  # minimal similarity of a misspelled type
_VALUES = ("parameters", "parameter_defaults")
_TEMPLATE = """
        parameters:
          length: {type: number, default: 8}
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        ---"""


def _mappings(view: EnvironmentView) -> Iterator[tuple[str, Any, Path]]:
    """Yield names and values of the registry, also of single resources, with their paths."""
    pending: list[tuple[Any, Path]] = [(view.section(_REGISTRY), (_REGISTRY,))]
    while pending:
        section, path = pending.pop(0)
        for name, value in section.items() if isinstance(section, Mapping) else ():
            here = (*path, name)
            if isinstance(value, Mapping):
                pending.append((value, here))
            elif name not in _OWN_KEYS:
                yield str(name), value, here


@rule(
    Group.MAINTAINABILITY,
    "A default of an environment belongs to no parameter of its template.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="It has no effect, unless a nested template has the parameter.",
    remedy="Correct the name, or remove the default.",
    bad=_TEMPLATE
    + """
        parameter_defaults:
          lenght: 9  # here
        """,
    good=_TEMPLATE
    + """
        parameter_defaults:
          length: 9
        """,
)
def unused_parameter_default(view: EnvironmentView) -> Problems:
    """Yield defaults that the template does not declare, if it nests no other templates."""
    template = view.template
    if template is None or any(
        each.type.endswith((".yaml", ".yml")) for each in template.resources
    ):
        return
    if view.section(_REGISTRY):
        return
    for name in view.section("parameter_defaults"):
        if name not in template.parameters:
            yield Problem(f'no parameter is named "{name}"', ("parameter_defaults", name))


@rule(
    Group.MAINTAINABILITY,
    "A value of an environment is the default of the template.",
    level=Level.ALL,
    subject=Subject.ENVIRONMENT,
    why="It has no effect until the default changes, and hides that change then.",
    remedy="Remove it.",
    bad=_TEMPLATE
    + """
        parameters:
          length: 8  # here
        """,
    good=_TEMPLATE
    + """
        parameters:
          length: 9
        """,
)
def value_is_default(view: EnvironmentView) -> Problems:
    """Yield values that are equal to the template's default."""
    for section in _VALUES if view.template is not None else ():
        for name, value in view.section(section).items():
            declared = view.template.parameters.get(name, {}) if view.template is not None else {}
            default = declared.get("default", declared.get("Default"))
            if default is not None and str(default) == str(value):
                yield Problem(f'"{value}" is the default', (section, name))


@rule(
    Group.MAINTAINABILITY,
    "A default of an environment has no effect.",
    subject=Subject.ENVIRONMENT,
    why="The environment also has the parameter under parameters, which has precedence.",
    remedy="Remove one of the values.",
    bad="""
        parameters:
          length: 9
        parameter_defaults:
          length: 10  # here
        """,
    good="""
        parameters:
          length: 9
        """,
)
def overridden_default(view: EnvironmentView) -> Problems:
    """Yield defaults of parameters that have a value, too."""
    given = view.section("parameters")
    for name in view.section("parameter_defaults"):
        if name in given:
            yield Problem(f'"{name}" has a value under parameters', ("parameter_defaults", name))


@rule(
    Group.SECURITY,
    "A secret is written into an environment.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="Environments are in version control, and in the database of the service.",
    remedy="Pass the secret on the command line with -P NAME=@file, or from a key manager.",
    bad="""
        parameters:
          db_password: gre3nTree  # here
        """,
    good="""
        parameters:
          db_user: shop
        """,
)
def plain_secret_in_environment(view: EnvironmentView) -> Problems:
    """Yield values of parameters that are named like secrets."""
    for section in _VALUES:
        for name, value in view.section(section).items():
            is_value = isinstance(value, str) and value and not is_placeholder(value)
            if is_value and is_secret_name(str(name)):
                yield Problem(f'the secret "{name}" is in the environment', (section, name))


@rule(
    Group.CORRECTNESS,
    "An environment encrypts a parameter that it does not have.",
    subject=Subject.ENVIRONMENT,
    why="The value of the intended parameter is stored without encryption.",
    remedy="Correct the name.",
    bad="""
        parameters:
          db_password: "$secret"
        encrypted_param_names:
          - db_pasword  # here
        """,
    good="""
        parameters:
          db_password: "$secret"
        encrypted_param_names:
          - db_password
        """,
)
def unknown_encrypted_parameter(view: EnvironmentView) -> Problems:
    """Yield encrypted names that resemble a parameter and are none."""
    written = view.data.get("encrypted_param_names")
    known = {*view.section("parameters"), *view.section("parameter_defaults")}
    if view.template is not None:
        known |= view.template.parameters.keys()
    for index, name in enumerate(map(str, written) if isinstance(written, list) else ()):
        near = nearest(name, known) if name not in known else None
        if near is not None:
            message = f'there is no parameter "{name}"'
            path = ("encrypted_param_names", index)
            yield Problem(message, path, suggestion=f'did you mean "{near}"?')


@rule(
    Group.CORRECTNESS,
    "A type is mapped to itself.",
    subject=Subject.ENVIRONMENT,
    why="The mapping has no effect. Usually the value should be a template or another type.",
    remedy="Correct the value, or remove the mapping.",
    bad="""
        resource_registry:
          OS::Nova::Server: OS::Nova::Server  # here
        """,
    good="""
        resource_registry:
          My::Server: OS::Nova::Server
        """,
)
def type_mapped_to_itself(view: EnvironmentView) -> Problems:
    """Yield mappings whose value is their name."""
    for name, value, path in _mappings(view):
        if name == value:
            yield Problem(f'"{name}" is mapped to itself', path)


@rule(
    Group.CORRECTNESS,
    "A type is mapped to a type that does not exist.",
    severity=Severity.ERROR,
    subject=Subject.ENVIRONMENT,
    why="Every stack with the type is refused.",
    remedy="Correct the name of the type.",
    bad="""
        resource_registry:
          My::Server: OS::Nova::Sever  # here
        """,
    good="""
        resource_registry:
          My::Server: OS::Nova::Server
        """,
)
def type_mapped_to_unknown(view: EnvironmentView) -> Problems:
    """Yield values of the registry that resemble a built-in type and are none."""
    registry = Registry()
    names = [name for name, _, _ in _mappings(view)]
    for _, value, path in _mappings(view):
        is_builtin = isinstance(value, str) and value.startswith(("OS::", "AWS::"))
        if not is_builtin or "*" in value or registry.find(value) is not None:
            continue
        if not any(fnmatchcase(value, name) for name in names):
            # Another environment may map a name that resembles no built-in type.
            near = nearest(value, registry.names(), _ALIKE)
            if near is not None:
                advice = f'did you mean "{near}"?'
                yield Problem(f'there is no type "{value}"', path, suggestion=advice)


@rule(
    Group.MAINTAINABILITY,
    "A mapping is hidden by one with a wildcard, or hides it.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="""The exact name has precedence over the wildcard. Readers who see one of the two draw the
        wrong conclusion.""",
    remedy="Name each type, without wildcards.",
    bad="""
        resource_registry:
          "My::*": "OS::Nova::*"
          My::Server: server.yaml  # here
        """,
    good="""
        resource_registry:
          My::Server: server.yaml
        """,
)
def shadowed_mapping(view: EnvironmentView) -> Problems:
    """Yield exact names that a wildcard of the registry matches, too."""
    found = list(_mappings(view))
    wildcards = [name for name, _, _ in found if "*" in name]
    for name, _, path in found:
        other = next((each for each in wildcards if each != name and fnmatchcase(name, each)), None)
        if other is not None:
            yield Problem(f'"{other}" matches the type, too', path)


@rule(
    Group.CORRECTNESS,
    "A type with data is mapped to nothing.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="OS::Heat::None has no object: existing volumes are deleted with their data.",
    remedy="Check the plan of existing stacks, or remove the mapping.",
    bad="""
        resource_registry:
          OS::Cinder::Volume: OS::Heat::None  # here
        """,
    good="""
        resource_registry:
          My::Monitoring: OS::Heat::None
        """,
)
def data_mapped_to_nothing(view: EnvironmentView) -> Problems:
    """Yield types of objects with data that are mapped to OS::Heat::None."""
    registry = Registry()
    for name, value, path in _mappings(view):
        type_ = registry.find(name) if value == "OS::Heat::None" else None
        if type_ is not None and type_.has_data:
            yield Problem(f'"{name}" is mapped to nothing', path)


@rule(
    Group.RELIABILITY,
    "A hook stops each operation.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="The stack waits at the hook until a user clears it. Hooks for tests are easily forgotten.",
    remedy="Remove the hook when it is no longer needed.",
    bad="""
        resource_registry:
          resources:
            web:
              hooks: [pre-create]  # here
        """,
    good="""
        resource_registry:
          My::Server: OS::Nova::Server
        """,
)
def hook_in_environment(view: EnvironmentView) -> Problems:
    """Yield hooks of resources."""
    pending: list[tuple[Any, Path]] = [(view.section(_REGISTRY), (_REGISTRY,))]
    while pending:
        section, path = pending.pop(0)
        for name, value in section.items() if isinstance(section, Mapping) else ():
            if name == "hooks" and value:
                yield Problem("operations stop at the hook", (*path, name))
            elif isinstance(value, Mapping):
                pending.append((value, (*path, name)))


@rule(
    Group.CORRECTNESS,
    "A merge strategy belongs to a parameter that the environment does not have.",
    subject=Subject.ENVIRONMENT,
    why="It has no effect. Usually the name is misspelled.",
    remedy="Correct the name.",
    bad="""
        parameters:
          settings: {port: 80}
        parameter_merge_strategies:
          setting: merge  # here
        """,
    good="""
        parameters:
          settings: {port: 80}
        parameter_merge_strategies:
          settings: merge
        """,
)
def unused_merge_strategy(view: EnvironmentView) -> Problems:
    """Yield strategies whose name resembles a parameter and is none."""
    known = {*view.section("parameters"), *view.section("parameter_defaults")}
    for name in view.section("parameter_merge_strategies"):
        near = nearest(str(name), known) if name not in known and name != "default" else None
        if near is not None:
            path = ("parameter_merge_strategies", name)
            yield Problem(
                f'there is no parameter "{name}"', path, suggestion=f'did you mean "{near}"?'
            )


@rule(
    Group.SECURITY,
    "A secret of an environment is stored without encryption.",
    level=Level.STRICT,
    subject=Subject.ENVIRONMENT,
    why="""The database has the values of an environment in plain text, except those of hidden
        parameters and of those in encrypted_param_names.""",
    remedy="Add the name to encrypted_param_names.",
    bad="""
        parameters:
          db_password: "$secret"  # here
        """,
    good="""
        parameters:
          db_password: "$secret"
        encrypted_param_names: [db_password]
        """,
)
def unencrypted_secret(view: EnvironmentView) -> Problems:
    """Yield parameters named like secrets that are not to be encrypted, unless they are hidden."""
    written = view.data.get("encrypted_param_names")
    encrypted = set(map(str, written)) if isinstance(written, list) else set()
    declared = {} if view.template is None else view.template.parameters
    for section in _VALUES:
        for name, value in view.section(section).items():
            is_safe = name in encrypted or is_hidden(declared.get(name, {}))
            if isinstance(value, str) and value and is_secret_name(str(name)) and not is_safe:
                yield Problem(f'the secret "{name}" is not encrypted', (section, name))
