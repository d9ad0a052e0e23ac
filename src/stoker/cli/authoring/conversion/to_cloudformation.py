"""Converts HOT to CloudFormation, as this service reads it.

Types of resources stay: ``OS::`` types work in both dialects.
"""

from __future__ import annotations

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
from stoker.template.source.source import find_file

_PSEUDO = {"OS::stack_name": "AWS::StackName", "OS::project_id": "AWS::AccountId"}
_CONDITIONS = {"equals": "Fn::Equals", "and": "Fn::And", "or": "Fn::Or", "not": "Fn::Not"}
_KEYS = {
    "type": "Type",
    "properties": "Properties",
    "metadata": "Metadata",
    "depends_on": "DependsOn",
    "update_policy": "UpdatePolicy",
    "deletion_policy": "DeletionPolicy",
    "description": "Description",
    "condition": "Condition",
}
_OF_MEMBERS = ("attributes", "outputs", "outputs_list")  # attributes with the name of another one
_POLICIES = {"delete": "Delete", "retain": "Retain", "snapshot": "Snapshot"}


def to_cloudformation(template: Mapping[str, Any], files: Mapping[str, str]) -> Converted:
    """Return the template in CloudFormation. ``files`` become texts in it."""
    return _Conversion(template, files).run()


class _Conversion:
    def __init__(self, template: Mapping[str, Any], files: Mapping[str, str]) -> None:
        self._template = template
        self._files = files
        self._functions = version_in(template).functions
        self._losses = Losses()
        self._conditions: dict[str, Any] = {}
        self._table: Mapping[str, Callable[[Any], Any]] = {
            "get_param": self._get_param,
            "get_resource": lambda name: {"Ref": _plain(name, "a resource")},
            "get_attr": self._get_attr,
            "list_join": self._list_join,
            "str_split": self._str_split,
            "str_replace": self._str_replace,
            "str_replace_strict": self._str_replace,
            "if": self._if,
            "get_file": self._get_file,
            "resource_facade": lambda name: {"Fn::ResourceFacade": _facade(name)},
        }

    def run(self) -> Converted:
        made: dict[str, Any] = {"AWSTemplateFormatVersion": "2010-09-09"}
        template = self._template
        if template.get("description"):
            made["Description"] = template["description"]
        groups = list_in(template, "parameter_groups", (), self._losses)
        if groups:
            made["Metadata"] = {"AWS::CloudFormation::Interface": _interface(groups)}
        declared = self._section("parameters")
        converted = {
            name: parameters.to_cfn(each, ("parameters", name), self._losses)
            for name, each in declared.items()
        }
        for name, each in self._section("conditions").items():
            path: Path = ("conditions", name)
            self._conditions[name] = self._guarded(each, path, self._condition)
        resources = {
            name: self._resource(each, ("resources", name))
            for name, each in self._section("resources").items()
        }
        outputs = {
            name: self._output(each, ("outputs", name))
            for name, each in self._section("outputs").items()
        }
        sections = {
            "Parameters": converted,
            "Conditions": self._conditions,
            "Resources": resources,
            "Outputs": outputs,
        }
        made |= {name: section for name, section in sections.items() if section}
        return Converted(made, tuple(self._losses.found))

    def _section(self, name: str) -> Mapping[str, Any]:
        if name == "conditions":
            return map_in(self._template, name, (), self._losses)
        return maps_in(self._template, name, self._losses)

    def _resource(self, written: Mapping[str, Any], path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in written.items():
            here = (*path, key)
            if key not in _KEYS:
                self._losses.add(here, f'CloudFormation has no "{key}" of resources')
            elif key == "condition":
                made["Condition"] = self._guarded(value, here, self._named_condition)
            elif key == "deletion_policy" and isinstance(value, str):
                made["DeletionPolicy"] = _POLICIES.get(value.lower(), value)
            elif key in ("type", "depends_on", "description"):
                made[_KEYS[key]] = value
            else:
                made[_KEYS[key]] = self._value(value, here)
        return made

    def _output(self, written: Mapping[str, Any], path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if "description" in written:
            made["Description"] = written["description"]
        if "condition" in written:
            here = (*path, "condition")
            made["Condition"] = self._guarded(written["condition"], here, self._named_condition)
        made["Value"] = self._value(written.get("value"), (*path, "value"))
        return made

    # Values

    def _value(self, value: Any, path: Path) -> Any:
        """Return a value with converted function calls. Report calls that have no equivalent."""
        if isinstance(value, list):
            return [self._value(each, (*path, index)) for index, each in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        if len(value) == 1:
            ((name, arguments),) = value.items()
            if name in self._functions:
                return self._guarded(
                    arguments, (*path, name), lambda given: self._call(name, given)
                )
        return {key: self._value(each, (*path, key)) for key, each in value.items()}

    def _guarded(self, value: Any, path: Path, convert: Callable[[Any], Any]) -> Any:
        try:
            return convert(value)
        except InexpressibleError as error:
            self._losses.add(path, str(error))
            return None

    def _inner(self, value: Any) -> Any:
        """Return the value of an argument. Raise :class:`InexpressibleError`."""
        if isinstance(value, list):
            return [self._inner(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        if len(value) == 1:
            ((name, arguments),) = value.items()
            if name in self._functions:
                return self._call(name, arguments)
        return {key: self._inner(each) for key, each in value.items()}

    def _call(self, name: str, arguments: Any) -> Any:
        if name not in self._table:
            if name.startswith("Fn::") or name == "Ref":
                return {name: self._inner(arguments)}
            refuse(f"CloudFormation has no function like {name}")
        return self._table[name](arguments)

    def _get_param(self, arguments: Any) -> Any:
        name, *rest = arguments_of(arguments, 1) if isinstance(arguments, list) else [arguments]
        name = _plain(name, "a parameter")
        if name == "OS::stack_id":
            refuse("AWS::StackId is an ARN, and not the id of the stack")
        return self._selected({"Ref": _PSEUDO.get(name, name)}, rest)

    def _get_attr(self, arguments: Any) -> Any:
        if not isinstance(arguments, list) or len(arguments) < 2:
            refuse("all attributes of a resource at once")
        resource, attribute, *rest = arguments
        if rest and attribute in _OF_MEMBERS:
            refuse(f"CloudFormation has no {attribute} of the members of a group")
        return self._selected({"Fn::GetAtt": [resource, self._inner(attribute)]}, rest)

    def _selected(self, value: Any, path: list[Any]) -> Any:
        for part in path:
            index = self._inner(part)
            if isinstance(part, list) or (isinstance(part, Mapping) and index == part):
                refuse("a path with a list or a map in it")
            value = {"Fn::Select": [str(index) if isinstance(index, int) else index, value]}
        return value

    def _list_join(self, arguments: Any) -> Any:
        if not isinstance(arguments, list) or len(arguments) < 2:
            refuse("list_join with these arguments")
        delimiter, *lists = arguments
        if len(lists) > 1:
            if not all(isinstance(each, list) for each in lists):
                refuse("list_join of several lists of which one is computed")
            lists = [[item for each in lists for item in each]]
        items = lists[0]
        if isinstance(items, list):
            return {"Fn::Join": [delimiter, [self._as_text(each) for each in items]]}
        return {"Fn::Join": [delimiter, self._inner(items)]}

    def _as_text(self, value: Any) -> Any:
        """Return a value where HOT writes lists and maps as JSON, and CloudFormation does not."""
        converted = self._inner(value)
        is_data = isinstance(value, list) or (isinstance(value, Mapping) and converted == value)
        return {"Fn::ToJsonString": converted} if is_data else converted

    def _str_split(self, arguments: Any) -> Any:
        if not isinstance(arguments, list) or len(arguments) not in (2, 3):
            refuse("str_split with these arguments")
        split = {"Fn::Split": [arguments[0], self._inner(arguments[1])]}
        return self._selected(split, arguments[2:])

    def _str_replace(self, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):
            refuse("str_replace with computed arguments")
        params, template = arguments.get("params"), arguments.get("template")
        if isinstance(params, Mapping) and params.keys().isdisjoint(self._functions):
            converted = {key: self._as_text(each) for key, each in params.items()}
        else:
            converted = self._inner(params)
        return {"Fn::Replace": [converted, self._inner(template)]}

    def _if(self, arguments: Any) -> Any:
        if not isinstance(arguments, list) or len(arguments) not in (2, 3):
            refuse("if with these arguments")
        condition, yes, *no = arguments
        otherwise = self._inner(no[0]) if no else {"Ref": "AWS::NoValue"}
        return {"Fn::If": [self._named_condition(condition), self._inner(yes), otherwise]}

    def _get_file(self, arguments: Any) -> Any:
        name = _plain(arguments, "a file")
        found = find_file(name, self._files, None)
        if found is None:
            refuse(f"there is no file {name}, whose text would be in the template")
        return self._files[found]

    # Conditions

    def _named_condition(self, condition: Any) -> str:
        """Return the name of a condition; one that is written in place gets a name."""
        if isinstance(condition, str):
            return condition
        converted = self._condition(condition)
        for name, known in self._conditions.items():
            if known == converted:
                return name
        name = f"Condition{len(self._conditions) + 1}"
        self._conditions[name] = converted
        return name

    def _condition(self, condition: Any) -> Any:
        if isinstance(condition, bool):
            return {"Fn::Equals": ["true", "true" if condition else "false"]}
        if isinstance(condition, str):
            return {"Condition": condition}
        if not isinstance(condition, Mapping) or len(condition) != 1:
            refuse("this condition")
        ((name, arguments),) = condition.items()
        if name == "get_param":
            return {"Fn::Equals": [{"Ref": _plain(arguments, "a parameter")}, "true"]}
        if name not in _CONDITIONS:
            refuse(f"CloudFormation has no {name} in conditions")
        if name == "equals":
            return {"Fn::Equals": [self._inner(each) for each in arguments_of(arguments, 2, 2)]}
        inner = [arguments] if name == "not" else arguments_of(arguments, 1)
        return {_CONDITIONS[name]: [self._condition(each) for each in inner]}


def _plain(name: Any, what: str) -> str:
    if not isinstance(name, str):
        refuse(f"{what} whose name is computed")
    return name


def _facade(name: Any) -> Any:
    return {
        "metadata": "Metadata",
        "deletion_policy": "DeletionPolicy",
        "update_policy": "UpdatePolicy",
    }.get(name, name)


def _interface(groups: list[Any]) -> dict[str, Any]:
    found = [
        {
            "Label": {"default": group.get("label") or group.get("description") or ""},
            "Parameters": group.get("parameters") or [],
        }
        for group in groups
        if isinstance(group, Mapping)
    ]
    return {"ParameterGroups": found}
