"""The function for each name in each version of the language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from stoker.template.functions import (
    cfn,
    expressions,
    lists,
    logic,
    maps,
    references,
    strings,
    substitution,
)
from stoker.template.functions.failure import SHAPE, failed
from stoker.template.functions.scope import Function, Scope
from stoker.template.versions import CFN, Version

# The newest form of each function.
_FUNCTIONS: Mapping[str, Function] = {
    "Fn::And": logic.and_,
    "Fn::Base64": cfn.base64,
    "Fn::Cidr": substitution.cidr,
    "Fn::Equals": logic.equals,
    "Fn::FindInMap": cfn.find_in_map,
    "Fn::GetAZs": cfn.get_azs,
    "Fn::GetAtt": cfn.get_att,
    "Fn::If": logic.if_,
    "Fn::ImportValue": references.import_value,
    "Fn::Join": strings.list_join_plain,
    "Fn::Length": cfn.length,
    "Fn::MemberListToMap": cfn.member_list_to_map,
    "Fn::Not": logic.fn_not,
    "Fn::Or": logic.or_,
    "Fn::Replace": cfn.fn_replace,
    "Fn::ResourceFacade": cfn.fn_resource_facade,
    "Fn::Select": cfn.select,
    "Fn::Split": cfn.fn_split,
    "Fn::Sub": substitution.sub,
    "Fn::ToJsonString": cfn.to_json_string,
    "Ref": cfn.ref,
    "and": logic.and_,
    "contains": logic.contains,
    "digest": strings.digest,
    "equals": logic.equals,
    "filter": lists.filter_,
    "get_attr": references.get_attr,
    "get_file": references.get_file,
    "get_param": references.get_param,
    "get_resource": references.get_resource,
    "if": logic.if_or_absent,
    "list_concat": lists.list_concat,
    "list_concat_unique": lists.list_concat_unique,
    "list_join": strings.list_join,
    "make_url": strings.make_url,
    "map_merge": maps.map_merge,
    "map_replace": maps.map_replace,
    "not": logic.not_,
    "or": logic.or_,
    "repeat": lists.repeat,
    "resource_facade": cfn.resource_facade,
    "str_replace": strings.str_replace,
    "str_replace_strict": strings.str_replace_strict,
    "str_replace_vstrict": strings.str_replace_vstrict,
    "str_split": strings.str_split,
    "yaql": expressions.yaql,
}
NAMES = frozenset(_FUNCTIONS)  # functions of all versions

# Earlier forms of functions: the first version without the form, the name, and the form.
_EARLIER: tuple[tuple[str, str, Function], ...] = (
    ("2015-10-15", "get_attr", references.get_attr_of_name),
    ("2015-10-15", "list_join", strings.list_join_plain),
    ("2015-10-15", "str_replace", strings.str_replace_plain),
    ("2016-10-14", "repeat", lists.repeat_lists),
    ("2017-09-01", "repeat", lists.repeat_combined),
    ("2021-04-16", "if", logic.if_),
)


@cache
def functions_of(version: Version) -> Mapping[str, Function]:
    """Return the functions of resources and outputs."""
    table = {name: _form(version, name) for name in version.functions | version.extensions}
    table |= {name: _removed(name, version) for name in version.removed}
    return table


@cache
def condition_functions_of(version: Version) -> Mapping[str, Function]:
    """Return the functions of conditions; all others of the version raise an error."""
    table: dict[str, Function] = {
        name: _refusal(f'"{name}" cannot be used in a condition')
        for name in version.functions | version.extensions | version.removed
    }
    for name in version.condition_functions | version.condition_extensions:
        table[name] = cfn.ref_param if name == "Ref" else _form(version, name)
    return table


def _form(version: Version, name: str) -> Function:
    if version.dialect is not CFN:
        for until, earlier, function in _EARLIER:
            if earlier == name and version.name < until:
                return function
    return _FUNCTIONS[name]


# Advice for functions that a version no longer has.
_INSTEAD: Mapping[str, str] = {
    "Fn::Base64": "leave it out: user data is encoded when it is sent",
    "Fn::GetAZs": "name the availability zone",
    "Fn::Join": "use list_join",
    "Fn::MemberListToMap": "write the map",
    "Fn::Replace": "use str_replace",
    "Fn::ResourceFacade": "use resource_facade",
    "Fn::Select": "use get_param or get_attr with a path",
    "Fn::Split": "use str_split",
    "Ref": "use get_param or get_resource",
}


def _removed(name: str, version: Version) -> Function:
    message = f"The function {name} is not supported in this version of HOT. ({version.name})"
    return _refusal(message, _INSTEAD.get(name))


def _refusal(message: str, suggestion: str | None = None) -> Function:
    def refuse(arguments: Any, scope: Scope) -> Any:
        raise failed(SHAPE, message, suggestion=suggestion)

    return refuse
