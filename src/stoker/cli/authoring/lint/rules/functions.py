"""Rules about calls of functions without effect, and of old ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView

_REPLACES = ("str_replace", "str_replace_strict", "str_replace_vstrict")
_VARIABLE = re.compile(r"\$\{([^!{}][^{}]*)\}")


@rule(
    Group.CORRECTNESS,
    "A placeholder does not occur in its text.",
    why="The value is not used. Usually the placeholder is misspelled in one of the two places.",
    remedy="Correct the placeholder, or remove it.",
    bad="""
        parameters:
          port: {type: number, default: 80}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value:
                str_replace:
                  template: listen $port
                  params: {$prot: {get_param: port}}  # here
        """,
    good="""
        parameters:
          port: {type: number, default: 80}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value:
                str_replace:
                  template: listen $port
                  params: {$port: {get_param: port}}
        """,
)
def unused_placeholder(view: TemplateView) -> Problems:
    """Yield keys of params that a literal template does not have."""
    for call in view.calls_of(*_REPLACES):
        written = call.arguments if isinstance(call.arguments, Mapping) else {}
        template, params = written.get("template"), written.get("params")
        if not isinstance(template, str) or not isinstance(params, Mapping):
            continue
        if view.call_in(params) is not None:
            continue
        for name in params:
            # A value may contain the placeholder, as replacements are made one after the other.
            others = str([value for key, value in params.items() if key != name])
            if str(name) not in template and str(name) not in others:
                path = (*call.path, "params", name)
                yield Problem(f'"{name}" does not occur in the template', path)


@rule(
    Group.MAINTAINABILITY,
    "A text is filled without placeholders.",
    why="The function returns its template. Often the params were forgotten.",
    remedy="Write the text without the function.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: {str_replace: {template: listen, params: {}}}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: listen
        """,
)
def replace_without_params(view: TemplateView) -> Problems:
    """Yield str_replace with an empty map of params."""
    for call in view.calls_of(*_REPLACES):
        if isinstance(call.arguments, Mapping) and call.arguments.get("params") in ({}, None):
            yield Problem("there is nothing to replace", call.path)


@rule(
    Group.CORRECTNESS,
    "A placeholder is the start of another one.",
    level=Level.STRICT,
    why="""The order of replacements decides the result: with $db and $db_name, the text $db_name
        may become the value of $db with "_name" behind it.""",
    remedy="Choose placeholders that do not start with another one, as {db} and {db_name}.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value:
                str_replace:
                  template: $db $db_name
                  params:
                    $db: one
                    $db_name: other  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value:
                str_replace:
                  template: "{db} {db_name}"
                  params:
                    "{db}": one
                    "{db_name}": other
        """,
)
def overlapping_placeholders(view: TemplateView) -> Problems:
    """Yield placeholders that contain another one of the same call."""
    for call in view.calls_of(*_REPLACES):
        written = call.arguments if isinstance(call.arguments, Mapping) else {}
        params = written.get("params")
        names = [str(name) for name in params] if isinstance(params, Mapping) else []
        for name in names:
            inner = next((each for each in names if each != name and each in name), None)
            if inner is not None:
                yield Problem(f'"{name}" contains "{inner}"', (*call.path, "params", name))


@rule(
    Group.MAINTAINABILITY,
    "A join has one element.",
    level=Level.STRICT,
    why="The result is the element.",
    remedy="Write the element without the function.",
    bad="""
        parameters:
          name: {type: string, description: Name}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: {list_join: [",", [{get_param: name}]]}  # here
        """,
    good="""
        parameters:
          name: {type: string, description: Name}
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: {get_param: name}
        """,
)
def join_of_one(view: TemplateView) -> Problems:
    """Yield joins of a literal list with one entry that is not a list."""
    for call in view.calls_of("list_join", "Fn::Join"):
        written = call.arguments
        if not isinstance(written, list) or len(written) != 2 or not isinstance(written[1], list):
            continue
        entry = written[1][0] if len(written[1]) == 1 else None
        inner = view.call_in(entry)
        if (
            isinstance(entry, str)
            or (inner is not None and inner[0] in ("str_replace", "get_file"))
            or (inner is not None and inner[0] in ("get_param", "Ref") and _is_text(view, inner[1]))
        ):
            yield Problem("there is only one element", call.path)


def _is_text(view: TemplateView, parameter: object) -> bool:
    declared = view.parameters.get(str(parameter), {})
    return declared.get("type", declared.get("Type")) in ("string", "number", "String", "Number")


@rule(
    Group.MAINTAINABILITY,
    "A function joins, merges or selects constants.",
    level=Level.STRICT,
    why="The result is known, and easier to read than the call.",
    remedy="Write the result.",
    bad="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: {list_join: ["-", [web, server]]}  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::Value
            properties:
              value: web-server
        """,
)
def constant_call(view: TemplateView) -> Problems:
    """Yield calls of pure functions whose arguments have no calls."""
    names = ("list_join", "Fn::Join", "list_concat", "map_merge", "Fn::Select", "str_split")
    for call in view.calls_of(*names):
        is_constant = isinstance(call.arguments, list) and not _has_calls(view, call.arguments)
        # Long texts are joined from lines in older templates.
        if is_constant and "\n" not in str(call.arguments[:1]) and "\\n" not in str(call.arguments):
            yield Problem(f"the result of {call.function} is constant", call.path)


def _has_calls(view: TemplateView, value: object) -> bool:
    if view.call_in(value) is not None:
        return True
    if isinstance(value, Mapping):
        return any(_has_calls(view, inner) for inner in value.values())
    return isinstance(value, list) and any(_has_calls(view, inner) for inner in value)


@rule(
    Group.MAINTAINABILITY,
    "A list or map is combined from one part.",
    level=Level.STRICT,
    why="The result is the part.",
    remedy="Write the part without the function.",
    bad="""
        parameters:
          names: {type: comma_delimited_list, description: Names}
        resources:
          list:
            type: OS::Heat::Value
            properties:
              value: {list_concat: [{get_param: names}]}  # here
        """,
    good="""
        parameters:
          names: {type: comma_delimited_list, description: Names}
        resources:
          list:
            type: OS::Heat::Value
            properties:
              value: {get_param: names}
        """,
)
def combination_of_one(view: TemplateView) -> Problems:
    """Yield list_concat and map_merge with one argument."""
    for call in view.calls_of("list_concat", "list_concat_unique", "map_merge"):
        is_unique = call.function == "list_concat_unique"
        if isinstance(call.arguments, list) and len(call.arguments) == 1 and not is_unique:
            yield Problem("there is only one part", call.path)


@rule(
    Group.MAINTAINABILITY,
    "A choice returns true or false.",
    level=Level.STRICT,
    why="The condition itself is the value, so the choice hides it.",
    remedy="Use the parameter that the condition compares, or a boolean parameter.",
    bad="""
        parameters:
          wanted: {type: boolean, default: true, description: Whether it starts}
        conditions:
          is_wanted: {equals: [{get_param: wanted}, true]}
        resources:
          value:
            type: OS::Heat::Value
            properties:
              value: {if: [is_wanted, true, false]}  # here
        """,
    good="""
        parameters:
          wanted: {type: boolean, default: true, description: Whether it starts}
        resources:
          value:
            type: OS::Heat::Value
            properties:
              value: {get_param: wanted}
        """,
)
def choice_of_booleans(view: TemplateView) -> Problems:
    """Yield choices between true and false."""
    for call in view.calls_of("if", "Fn::If"):
        written = call.arguments
        if (
            isinstance(written, list)
            and len(written) == 3
            and {*map(str, written[1:])} == {"True", "False"}
        ):
            yield Problem("the choice only repeats its condition", call.path)


@rule(
    Group.MAINTAINABILITY,
    "Fn::Sub has nothing to substitute.",
    why="The function returns its text. Often a $ before a brace is missing.",
    remedy="Write the text without the function, or add the variable.",
    bad="""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          Text:
            Type: OS::Heat::Value
            Properties: {value: {Fn::Sub: "port {Port}"}}  # here
        """,
    good="""
        AWSTemplateFormatVersion: 2010-09-09
        Parameters:
          Port: {Type: Number}
        Resources:
          Text:
            Type: OS::Heat::Value
            Properties: {value: {Fn::Sub: "port ${Port}"}}
        """,
)
def sub_without_variables(view: TemplateView) -> Problems:
    """Yield Fn::Sub of literal texts without a variable."""
    for call in view.calls_of("Fn::Sub"):
        written = call.arguments
        text = written[0] if isinstance(written, list) and written else written
        if isinstance(text, str) and "${" not in text and not view.has_loops:
            yield Problem("the text has no ${...}", call.path)


@rule(
    Group.CORRECTNESS,
    "A value of Fn::Sub does not occur in its text.",
    why="The value is not used. Usually its name is misspelled in one of the two places.",
    remedy="Correct the name, or remove the value.",
    bad="""
        AWSTemplateFormatVersion: 2010-09-09
        Parameters:
          Port: {Type: Number}
        Resources:
          Text:
            Type: OS::Heat::Value
            Properties:
              value:
                Fn::Sub:
                  - "port ${Port}"
                  - {Prot: 80}  # here
        """,
    good="""
        AWSTemplateFormatVersion: 2010-09-09
        Resources:
          Text:
            Type: OS::Heat::Value
            Properties:
              value:
                Fn::Sub:
                  - "port ${Port}"
                  - {Port: 80}
        """,
)
def unused_sub_value(view: TemplateView) -> Problems:
    """Yield entries of the map of Fn::Sub that its text does not name."""
    for call in view.calls_of("Fn::Sub"):
        written = call.arguments
        if (
            not isinstance(written, list)
            or len(written) != 2
            or not isinstance(written[1], Mapping)
        ):
            continue
        used = {name.strip() for name in _VARIABLE.findall(str(written[0]))}
        for name in written[1]:
            if name not in used and view.call_in(written[1]) is None:
                yield Problem(f'"{name}" does not occur in the text', (*call.path, 1, name))
