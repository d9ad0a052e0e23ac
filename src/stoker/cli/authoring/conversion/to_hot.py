"""Converts CloudFormation to HOT.

Mappings become parameters of type json, since HOT has no mappings. Types of resources stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stoker.cli.authoring.conversion import parameters
from stoker.cli.authoring.conversion.losses import (
    Converted,
    InexpressibleError,
    Losses,
    arguments_of,
    list_in,
    map_in,
    maps_in,
    refuse,
)
from stoker.kernel.diagnostics import Path
from stoker.template.describe.references import version_in

_VERSION = "2021-04-16"
_PSEUDO = {"AWS::StackName": "OS::stack_name", "AWS::AccountId": "OS::project_id"}
_CONDITIONS = {"Fn::Equals": "equals", "Fn::And": "and", "Fn::Or": "or", "Fn::Not": "not"}
_KEYS = {
    "Type": "type",
    "Properties": "properties",
    "Metadata": "metadata",
    "DependsOn": "depends_on",
    "UpdatePolicy": "update_policy",
    "DeletionPolicy": "deletion_policy",
    "Description": "description",
    "Condition": "condition",
}
_VARIABLE = re.compile(r"\$\{(!?)([^{}!]+)\}")
_INTERFACE = "AWS::CloudFormation::Interface"
_NO_VALUE = {"Ref": "AWS::NoValue"}


def to_hot(template: Mapping[str, Any]) -> Converted:
    """Return the template in HOT."""
    return _Conversion(template).run()


class _Conversion:
    def __init__(self, template: Mapping[str, Any]) -> None:
        self._template = template
        version = version_in(template)
        self._functions = version.functions | version.extensions
        self._losses = Losses()
        resources = template.get("Resources")
        self._resources = resources if isinstance(resources, Mapping) else {}
        self._table: Mapping[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Fn::GetAtt": self._get_att,
            "Fn::Join": self._join,
            "Fn::Split": self._split,
            "Fn::Select": self._select,
            "Fn::Sub": self._sub,
            "Fn::If": self._if,
            "Fn::FindInMap": self._find_in_map,
            "Fn::Base64": self._inner,  # the text itself, as the service reads it
            "Fn::Replace": self._replace,
            "Fn::ResourceFacade": lambda name: {"resource_facade": _facade(name)},
            "Fn::Length": lambda value: _yaql("$.data.l.len()", l=self._inner(value)),
        }

    def run(self) -> Converted:
        made: dict[str, Any] = {"heat_template_version": _VERSION}
        if self._template.get("Description"):
            made["description"] = self._template["Description"]
        groups = _groups(map_in(self._template, "Metadata", (), self._losses), self._losses)
        if groups:
            made["parameter_groups"] = groups
        for section in ("Rules", "Transform"):
            if section in self._template:
                self._losses.add((section,), f'HOT has no section like "{section}"')
        declared = {
            name: parameters.to_hot(each, ("Parameters", name), self._losses)
            for name, each in self._section("Parameters").items()
        }
        declared |= {name: _mapping(each) for name, each in self._section("Mappings").items()}
        conditions = {
            name: self._guarded(each, ("Conditions", name), self._condition)
            for name, each in self._section("Conditions").items()
        }
        resources = {
            name: self._resource(each, ("Resources", name))
            for name, each in self._section("Resources").items()
        }
        outputs = {
            name: self._output(each, ("Outputs", name))
            for name, each in self._section("Outputs").items()
        }
        sections = {
            "parameters": declared,
            "conditions": conditions,
            "resources": resources,
            "outputs": outputs,
        }
        made |= {name: section for name, section in sections.items() if section}
        return Converted(made, tuple(self._losses.found))

    def _section(self, name: str) -> Mapping[str, Any]:
        """Return a section without loops, which are reported."""
        section = map_in(self._template, name, (), self._losses)
        loops = [key for key in section if key.startswith("Fn::ForEach")]
        for key in loops:
            self._losses.add((name, key), "HOT has no loops over resources", "use a ResourceGroup")
        entries = {key: each for key, each in section.items() if key not in loops}
        return entries if name == "Conditions" else maps_in({name: entries}, name, self._losses)

    def _resource(self, written: Mapping[str, Any], path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in written.items():
            here = (*path, key)
            if key not in _KEYS:
                self._losses.add(here, f'HOT has no "{key}" of resources')
            elif key == "DeletionPolicy":
                made["deletion_policy"] = str(value).lower()
            elif key in ("Type", "DependsOn", "Description", "Condition"):
                made[_KEYS[key]] = value
            else:
                made[_KEYS[key]] = self._value(value, here)
        return made

    def _output(self, written: Mapping[str, Any], path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, name in (("Description", "description"), ("Condition", "condition")):
            if key in written:
                made[name] = written[key]
        if "Export" in written:
            self._losses.add((*path, "Export"), "HOT has no exports")
        made["value"] = self._value(written.get("Value"), (*path, "Value"))
        return made

    # Values

    def _value(self, value: Any, path: Path) -> Any:
        """Return a value with converted function calls. Report calls that have no equivalent."""
        if isinstance(value, list):
            found = [self._value(each, (*path, index)) for index, each in enumerate(value)]
            return [each for each, old in zip(found, value, strict=True) if old != _NO_VALUE]
        if not isinstance(value, Mapping):
            return value
        name = next(iter(value), None)
        if len(value) == 1 and name in self._functions:
            return self._guarded(value, (*path, str(name)), self._inner)
        return {
            key: self._value(each, (*path, key)) for key, each in value.items() if each != _NO_VALUE
        }

    def _guarded(self, value: Any, path: Path, convert: Callable[[Any], Any]) -> Any:
        try:
            return convert(value)
        except InexpressibleError as error:
            self._losses.add(path, str(error))
            return None

    def _inner(self, value: Any) -> Any:
        """Return the value of an argument. Raise :class:`InexpressibleError`."""
        if isinstance(value, list):
            return [self._inner(each) for each in value if each != _NO_VALUE]
        if not isinstance(value, Mapping):
            return value
        name = next(iter(value), None)
        if len(value) == 1 and name in self._functions:
            if name not in self._table:
                refuse(f"HOT has no function like {name}")
            return self._table[str(name)](value[name])
        return {key: self._inner(each) for key, each in value.items() if each != _NO_VALUE}

    def _ref(self, name: Any) -> Any:
        if not isinstance(name, str):
            refuse("a reference whose name is computed")
        if name in self._resources:
            return {"get_resource": name}
        if name.startswith("AWS::"):
            if name not in _PSEUDO:
                refuse(f"HOT has no parameter like {name}")
            return {"get_param": _PSEUDO[name]}
        return {"get_param": name}

    def _get_att(self, arguments: Any) -> Any:
        if isinstance(arguments, str):
            resource, _, attribute = arguments.partition(".")
            return {"get_attr": [resource, *attribute.split(".")]}
        return {"get_attr": self._inner(arguments_of(arguments, 2))}

    def _join(self, arguments: Any) -> Any:
        return {"list_join": self._inner(arguments)}

    def _split(self, arguments: Any) -> Any:
        return {"str_split": self._inner(arguments_of(arguments, 2, 2))}

    def _select(self, arguments: Any) -> Any:
        if not isinstance(arguments, list) or len(arguments) != 2:
            refuse("Fn::Select with these arguments")
        index, collection = arguments
        chosen = int(index) if isinstance(index, str) and index.isdecimal() else self._inner(index)
        inner = self._inner(collection)
        if isinstance(inner, Mapping) and len(inner) == 1:
            ((name, given),) = inner.items()
            if (
                name in ("get_attr", "str_split")
                and isinstance(given, list)
                and (name == "get_attr" or len(given) == 2)
            ):
                return {name: [*given, chosen]}
            if name == "get_param":
                return {name: [*(given if isinstance(given, list) else [given]), chosen]}
        if isinstance(inner, list) and isinstance(chosen, int) and chosen < len(inner):
            return inner[chosen]
        if isinstance(chosen, int | str | Mapping) and isinstance(inner, list | Mapping):
            return _yaql("$.data.l[$.data.i]", l=inner, i=chosen)
        return refuse("a selection from this value")

    def _sub(self, arguments: Any) -> Any:
        text, values = (
            arguments_of(arguments, 2, 2) if isinstance(arguments, list) else (arguments, {})
        )
        if not isinstance(text, str) or not isinstance(values, Mapping):
            refuse("Fn::Sub of a computed text")
        params: dict[str, Any] = {}
        for match in _VARIABLE.finditer(text):
            literal, name = match.group(1), match.group(2).strip()
            if literal:
                params[match.group()] = f"${{{match.group(2)}}}"
            elif name in values:
                params[match.group()] = self._inner(values[name])
            elif "." in name:
                params[match.group()] = self._get_att(name)
            else:
                params[match.group()] = self._ref(name)
        return {"str_replace": {"template": text, "params": params}} if params else text

    def _if(self, arguments: Any) -> Any:
        written, yes, no = arguments_of(arguments, 3, 3)
        condition = self._condition(written)
        if no == _NO_VALUE:
            return {"if": [condition, self._inner(yes)]}
        if yes == _NO_VALUE:
            return {"if": [{"not": condition}, self._inner(no)]}
        return {"if": [condition, self._inner(yes), self._inner(no)]}

    def _find_in_map(self, arguments: Any) -> Any:
        if len(arguments_of(arguments, 3)) > 3:
            refuse("Fn::FindInMap with a default value")
        name, *keys = arguments
        if not isinstance(name, str):
            refuse("a mapping whose name is computed")
        return {"get_param": [name, *(self._inner(key) for key in keys)]}

    def _replace(self, arguments: Any) -> Any:
        params, template = arguments_of(arguments, 2, 2)
        return {"str_replace": {"template": self._inner(template), "params": self._inner(params)}}

    # Conditions

    def _condition(self, condition: Any) -> Any:
        if not isinstance(condition, Mapping) or len(condition) != 1:
            return condition
        ((name, arguments),) = condition.items()
        if name == "Condition":
            return arguments
        if name not in _CONDITIONS:
            refuse(f"HOT has no {name} in conditions")
        if name == "Fn::Equals":
            return {"equals": [self._compared(each) for each in arguments_of(arguments, 2, 2)]}
        inner = [self._condition(each) for each in arguments_of(arguments, 1)]
        return {_CONDITIONS[name]: inner[0] if name == "Fn::Not" else inner}

    def _compared(self, value: Any) -> Any:
        converted = self._inner(value)
        name = next(iter(converted), None) if isinstance(converted, Mapping) else None
        if name is not None and name not in ("get_param", "yaql"):
            refuse(f"HOT has no {name} in conditions")
        return converted


def _yaql(expression: str, **data: Any) -> dict[str, Any]:
    return {"yaql": {"expression": expression, "data": data}}


def _mapping(entries: Any) -> dict[str, Any]:
    return {"type": "json", "description": "A mapping.", "default": entries}


def _facade(name: Any) -> Any:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() if isinstance(name, str) else name


def _groups(metadata: Mapping[str, Any], losses: Losses) -> list[dict[str, Any]]:
    path: Path = ("Metadata", _INTERFACE)
    interface = map_in(metadata, _INTERFACE, ("Metadata",), losses)
    found = []
    for group in list_in(interface, "ParameterGroups", path, losses):
        if isinstance(group, Mapping):
            label = map_in(group, "Label", path, losses).get("default")
            names = list_in(group, "Parameters", path, losses)
            found.append({"label": label, "parameters": names})
    return found
