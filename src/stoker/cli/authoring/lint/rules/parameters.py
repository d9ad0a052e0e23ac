"""Rules about declarations of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView
from stoker.kernel.diagnostics import Path
from stoker.template.describe.references import ReferenceKind

_BOOLEANS = frozenset(("true", "false", "True", "False", "yes", "no", "on", "off"))
# Constraint that checks the existence of the object that a property names.
_CHECKS: Mapping[str, str] = {
    "flavor": "nova.flavor",
    "floating_network": "neutron.network",
    "image": "glance.image",
    "key_name": "nova.keypair",
    "network": "neutron.network",
    "subnet": "neutron.subnet",
    "volume_type": "cinder.vtype",
}


def _kind(declaration: Mapping[str, Any]) -> str:
    return str(declaration.get("type", declaration.get("Type", ""))).lower()


def _constraints(view: TemplateView, name: str) -> Iterator[tuple[Mapping[str, Any], Path]]:
    """Yield the constraints of a parameter of HOT."""
    written = view.parameters[name].get("constraints")
    for index, each in enumerate(written if isinstance(written, list) else ()):
        if isinstance(each, Mapping):
            yield each, (view.dialect.parameters, name, "constraints", index)


def _allowed(view: TemplateView, name: str) -> Iterator[tuple[list[Any], Path]]:
    """Yield the lists of allowed values of a parameter."""
    own = view.parameters[name].get("AllowedValues")
    if isinstance(own, list):
        yield own, (view.dialect.parameters, name, "AllowedValues")
    for constraint, path in _constraints(view, name):
        values = constraint.get("allowed_values")
        if isinstance(values, list):
            yield values, (*path, "allowed_values")


@rule(
    Group.CORRECTNESS,
    "A parameter has two constraints of one kind.",
    why="A value must fulfil both, which is rarely intended for two ranges or two lists.",
    remedy="Merge them into one constraint.",
    bad="""
        parameters:
          length:
            type: number
            constraints:
              - range: {min: 8}
              - range: {max: 64}  # here
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
    good="""
        parameters:
          length:
            type: number
            constraints:
              - range: {min: 8, max: 64}
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
)
def duplicate_constraint(view: TemplateView) -> Problems:
    """Yield constraints whose kind an earlier one has, except patterns."""
    for name in view.parameters:
        seen: set[str] = set()
        for constraint, path in _constraints(view, name):
            kinds = [key for key in constraint if key in ("range", "length", "allowed_values")]
            if seen.intersection(kinds):
                yield Problem(f"there is another constraint {kinds[0]}", path)
            seen.update(kinds)


@rule(
    Group.CORRECTNESS,
    "An allowed value is listed twice.",
    why="Usually the second one should be another value.",
    remedy="Correct or remove it.",
    bad="""
        parameters:
          size:
            type: string
            default: small
            constraints:
              - allowed_values:
                  - small
                  - small  # here
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: size}}}
        """,
    good="""
        parameters:
          size:
            type: string
            default: small
            constraints:
              - allowed_values:
                  - small
                  - large
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: size}}}
        """,
)
def duplicate_allowed_value(view: TemplateView) -> Problems:
    """Yield allowed values that are equal to an earlier one."""
    for name in view.parameters:
        for values, path in _allowed(view, name):
            seen: set[str] = set()
            for index, value in enumerate(values):
                if str(value) in seen:
                    yield Problem(f'"{value}" is listed twice', (*path, index))
                seen.add(str(value))


@rule(
    Group.MAINTAINABILITY,
    "A parameter allows only one value.",
    level=Level.STRICT,
    why="Users cannot choose, so it is a constant.",
    remedy="Write the value into the template, or allow others.",
    bad="""
        parameters:
          size:
            type: string
            description: Size
            constraints: [{allowed_values: [small]}]  # here
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: size}}}
        """,
    good="""
        parameters:
          size:
            type: string
            description: Size
            constraints: [{allowed_values: [small, large]}]
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: size}}}
        """,
)
def single_allowed_value(view: TemplateView) -> Problems:
    """Yield lists of one allowed value."""
    for name in view.parameters:
        for values, path in _allowed(view, name):
            if len(values) == 1:
                yield Problem(f'"{name}" can only be "{values[0]}"', path)


@rule(
    Group.CORRECTNESS,
    "A boolean is declared as text.",
    level=Level.STRICT,
    why="""Only its exact spelling has an effect: users who write True, yes or 1 get the other
        behaviour, without an error.""",
    remedy="Declare the parameter with the type boolean.",
    bad="""
        parameters:
          wanted:
            type: string  # here
            default: "true"
            description: Whether the service starts
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: wanted}}}
        """,
    good="""
        parameters:
          wanted:
            type: boolean
            default: true
            description: Whether the service starts
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: wanted}}}
        """,
)
def boolean_as_text(view: TemplateView) -> Problems:
    """Yield text parameters of HOT whose default and allowed values are words of booleans."""
    for name, declaration in view.parameters.items() if view.is_hot else ():
        values = [value for each, _ in _allowed(view, name) for value in each]
        values += [declaration["default"]] if declaration.get("default") is not None else []
        if _kind(declaration) == "string" and values and {*map(str, values)} <= _BOOLEANS:
            yield Problem(f'"{name}" is a boolean', (view.dialect.parameters, name, "type"))


@rule(
    Group.MAINTAINABILITY,
    "A number is declared as text.",
    level=Level.ALL,
    why="Values that are no numbers fail late, in the service that gets them.",
    remedy="Declare the parameter with the type number.",
    bad="""
        parameters:
          port:
            type: string  # here
            default: "8080"
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: port}}}
        """,
    good="""
        parameters:
          port:
            type: number
            default: 8080
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: port}}}
        """,
)
def number_as_text(view: TemplateView) -> Problems:
    """Yield text parameters whose default is a number."""
    for name, declaration in view.parameters.items():
        default = declaration.get(view.dialect.default)
        is_number = str(default).isdigit() and not str(default).startswith("0")
        key = "type" if view.is_hot else "Type"
        if _kind(declaration) == "string" and is_number and not isinstance(default, bool):
            yield Problem(f'"{name}" is a number', (view.dialect.parameters, name, key))


@rule(
    Group.MAINTAINABILITY,
    "A parameter names an object without checking that it exists.",
    level=Level.STRICT,
    why="A misspelled image or network fails in the middle of a deployment, not before it.",
    remedy="Add the custom constraint of the kind of object.",
    bad="""
        parameters:
          image: {type: string, description: Image of the server}  # here
        resources:
          server:
            type: OS::Nova::Server
            properties:
              image: {get_param: image}
              flavor: small
              key_name: operators
              networks: [{port: web}]
        """,
    good="""
        parameters:
          image:
            type: string
            description: Image of the server
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
def parameter_without_check(view: TemplateView) -> Problems:
    """Yield parameters that are the value of a property for an object, without constraints."""
    seen: set[str] = set()
    for reference in view.references if view.is_hot else ():
        key = str(reference.path[-2]) if len(reference.path) > 1 else ""
        declaration = view.parameters.get(reference.name)
        is_whole = reference.kind is ReferenceKind.PARAMETER and not reference.rest
        if not is_whole or key not in _CHECKS or declaration is None or reference.name in seen:
            continue
        if reference.path[0] != "resources" or declaration.get("constraints"):
            continue
        seen.add(reference.name)
        message = f'nothing checks that the value of "{reference.name}" exists'
        advice = f"custom_constraint: {_CHECKS[key]}"
        yield Problem(message, (view.dialect.parameters, reference.name), suggestion=advice)


@rule(
    Group.MAINTAINABILITY,
    "A pattern of a parameter is not explained.",
    level=Level.STRICT,
    why="Users get the regular expression as the error message.",
    remedy="Add a description to the constraint.",
    bad="""
        parameters:
          code:
            type: string
            description: Code of the site
            constraints:
              - allowed_pattern: "[A-Z]{3}"  # here
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: code}}}
        """,
    good="""
        parameters:
          code:
            type: string
            description: Code of the site
            constraints:
              - allowed_pattern: "[A-Z]{3}"
                description: three capital letters
        resources:
          text: {type: OS::Heat::Value, properties: {value: {get_param: code}}}
        """,
)
def unexplained_pattern(view: TemplateView) -> Problems:
    """Yield patterns without a description."""
    for name, declaration in view.parameters.items():
        for constraint, path in _constraints(view, name):
            if "allowed_pattern" in constraint and not constraint.get("description"):
                yield Problem("the pattern has no description", path)
        if "AllowedPattern" in declaration and not declaration.get("ConstraintDescription"):
            path = (view.dialect.parameters, name, "AllowedPattern")
            yield Problem("the pattern has no ConstraintDescription", path)


@rule(
    Group.MAINTAINABILITY,
    "Two parameters have the same label.",
    level=Level.STRICT,
    why="Forms show labels in place of names, so that users cannot distinguish the two.",
    remedy="Give each parameter a label of its own.",
    bad="""
        parameters:
          min: {type: number, label: Size, default: 1, description: Smallest size}
          max: {type: number, label: Size, default: 9, description: Largest size}  # here
        resources:
          one: {type: OS::Heat::Value, properties: {value: [{get_param: min}, {get_param: max}]}}
        """,
    good="""
        parameters:
          min: {type: number, label: Smallest size, default: 1, description: Smallest size}
          max: {type: number, label: Largest size, default: 9, description: Largest size}
        resources:
          one: {type: OS::Heat::Value, properties: {value: [{get_param: min}, {get_param: max}]}}
        """,
)
def duplicate_label(view: TemplateView) -> Problems:
    """Yield labels that an earlier parameter has."""
    seen: set[str] = set()
    for name, declaration in view.parameters.items():
        label = declaration.get("label")
        if isinstance(label, str) and label in seen:
            yield Problem(
                f'another parameter has the label "{label}"', (view.dialect.parameters, name)
            )
        seen.add(str(label))


@rule(
    Group.MAINTAINABILITY,
    "Two names differ only in case or separators.",
    why="Readers and writers confuse them, and a reference to the wrong one is no error.",
    remedy="Rename one of them.",
    bad="""
        parameters:
          web_port: {type: number, default: 80}
          webport: {type: number, default: 8080}  # here
        resources:
          one: {type: OS::Heat::Value, properties: {value: {get_param: web_port}}}
          two: {type: OS::Heat::Value, properties: {value: {get_param: webport}}}
        """,
    good="""
        parameters:
          web_port: {type: number, default: 80}
          admin_port: {type: number, default: 8080}
        resources:
          one: {type: OS::Heat::Value, properties: {value: {get_param: web_port}}}
          two: {type: OS::Heat::Value, properties: {value: {get_param: admin_port}}}
        """,
)
def similar_names(view: TemplateView) -> Problems:
    """Yield parameters and resources whose name resembles an earlier one of their section."""
    for section in (view.dialect.parameters, view.dialect.resources, view.dialect.conditions):
        seen: dict[str, str] = {}
        for name in view.section(section):
            plain = name.replace("_", "").replace("-", "").lower()
            first = seen.setdefault(plain, name)
            if first != name:
                yield Problem(f'"{name}" resembles "{first}"', (section, name))


@rule(
    Group.MAINTAINABILITY,
    "A parameter has no constraints.",
    level=Level.ALL,
    why="Wrong values are only noticed by services, in the middle of a deployment.",
    remedy="Add a range, a length, a pattern, allowed values or a custom constraint.",
    bad="""
        parameters:
          length: {type: number, default: 8}  # here
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
    good="""
        parameters:
          length:
            type: number
            default: 8
            constraints: [{range: {min: 1, max: 512}}]
        resources:
          text: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
        """,
)
def parameter_without_constraints(view: TemplateView) -> Problems:
    """Yield parameters of text and numbers without any constraint."""
    keys = (
        "constraints", "AllowedValues", "AllowedPattern", "MinLength", "MaxLength", "MinValue",
        "MaxValue", "CustomConstraint",
    )  # fmt: skip
    for name, declaration in view.parameters.items():
        is_simple = _kind(declaration) in ("string", "number")
        if is_simple and not any(declaration.get(key) for key in keys):
            yield Problem(f'"{name}" has no constraints', (view.dialect.parameters, name))
