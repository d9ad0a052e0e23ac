"""What users read when they make the usual mistakes: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.registry import Registry
from stoker.template.document import parse
from stoker.template.environment import parse_environment
from stoker.template.evaluation import Evaluation
from stoker.template.inputs import Inputs
from stoker.template.source import read

HOT = "heat_template_version: 2021-04-16\n"


@dataclass(frozen=True)
class Mistake:
    name: str
    template: str
    messages: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


MISTAKES = (
    Mistake(
        "a bracket that is not closed",
        HOT
        + """\
resources:
  a: [1
""",
        (
            (
                "stack.yaml:4:1: the text is not valid YAML: while parsing a flow sequence "
                "did not find expected ',' or ']'"
            ),
        ),
    ),
    Mistake(
        "a tab",
        HOT + "resources:\n\ta:\n",
        (
            (
                "stack.yaml:3:1: the text is not valid YAML: while scanning for the next "
                "token found character that cannot start any token (indent with spaces, YAML "
                "takes no tabs)"
            ),
        ),
    ),
    Mistake(
        "an empty text",
        "",
        ("a template needs a version, as heat_template_version: 2021-04-16",),
    ),
    Mistake(
        "a list",
        "- a\n",
        ("stack.yaml:1:1: a template is a map of sections, not a list",),
    ),
    Mistake(
        "no version",
        "resources: {}\n",
        (("stack.yaml:1:1: a template needs a version, as heat_template_version: 2021-04-16"),),
    ),
    Mistake(
        "a version that there is not",
        """\
heat_template_version: 2021-04-17
resources: {}
""",
        (
            (
                'stack.yaml:1:1: heat_template_version: "2021-04-17" is not a version of '
                "heat_template_version; known are 2013-05-23, 2014-10-16, 2015-04-30, "
                "2015-10-15, 2016-04-08, 2016-10-14, 2017-02-24, 2017-09-01, 2018-03-02, "
                "2018-08-31, 2021-04-16, newton, ocata, pike, queens, rocky, wallaby (did you"
                ' mean "2021-04-16"?)'
            ),
        ),
    ),
    Mistake(
        "a misspelt section",
        HOT + "ressources: {}\n",
        (
            (
                'stack.yaml:2:1: ressources: "ressources" is not a section of '
                'heat_template_version 2021-04-16 (did you mean "resources"?)'
            ),
        ),
    ),
    Mistake(
        "resources as a list",
        HOT
        + """\
resources:
  - a
""",
        ("stack.yaml:2:1: resources: resources is a map, not a list",),
    ),
    Mistake(
        "a resource without a type",
        HOT
        + """\
resources:
  a:
    properties: {}
""",
        ('stack.yaml:3:3: resources.a: a resource needs "type"',),
    ),
    Mistake(
        "a misspelt type",
        HOT
        + """\
resources:
  a:
    type: OS::Nova::Sever
""",
        (
            (
                "stack.yaml:4:5: resources.a.type: there is no resource type "
                '"OS::Nova::Sever" (did you mean "OS::Nova::Server"?)'
            ),
        ),
    ),
    Mistake(
        "a misspelt key of a resource",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    propertys: {}
""",
        (
            (
                'stack.yaml:5:5: resources.a.propertys: "propertys" is not a key of a '
                'resource in heat_template_version 2021-04-16 (did you mean "properties"?)'
            ),
        ),
    ),
    Mistake(
        "a key of CloudFormation in HOT",
        HOT
        + """\
resources:
  a:
    Type: OS::Heat::Value
""",
        (
            (
                'stack.yaml:4:5: resources.a.Type: "Type" is not a key of a resource in '
                'heat_template_version 2021-04-16 (did you mean "type"?)'
            ),
            'stack.yaml:3:3: resources.a: a resource needs "type"',
        ),
    ),
    Mistake(
        "a misspelt property",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {valu: 1}
""",
        (
            (
                'stack.yaml:5:18: resources.a.properties.valu: there is no property "valu" '
                'here (did you mean "value"?)'
            ),
            'stack.yaml:5:5: resources.a.properties: the property "value" is required',
        ),
    ),
    Mistake(
        "a required property left out",
        HOT
        + """\
resources:
  a:
    type: OS::Nova::Server
    properties: {name: x}
""",
        ('stack.yaml:5:5: resources.a.properties: the property "flavor" is required',),
    ),
    Mistake(
        "text for a number",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::RandomString
    properties: {length: many}
""",
        ('stack.yaml:5:18: resources.a.properties.length: "many" is not a whole number',),
    ),
    Mistake(
        "a number out of range",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::RandomString
    properties: {length: 5000}
""",
        ("stack.yaml:5:18: resources.a.properties.length: 5000 must be between 1 and 512",),
    ),
    Mistake(
        "a value that is not allowed, deep inside",
        HOT
        + """\
resources:
  a:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
      - protocol: tcp
        direction: inbound
""",
        (
            (
                'stack.yaml:8:9: resources.a.properties.rules[0].direction: "inbound" is not '
                'one of: "ingress", "egress"'
            ),
        ),
    ),
    Mistake(
        "a network that is none",
        HOT
        + """\
resources:
  a:
    type: OS::Neutron::Subnet
    properties: {network: n, cidr: 10.0.0.0/33}
""",
        (
            (
                "stack.yaml:5:30: resources.a.properties.cidr: '10.0.0.0/33' is not a network"
                " such as 10.0.0.0/24 or 2001:db8::/64"
            ),
        ),
    ),
    Mistake(
        "a misspelt reference",
        HOT
        + """\
resources:
  server:
    type: OS::Heat::Value
    properties: {value: {get_resource: sever}}
""",
        (
            (
                "stack.yaml:5:26: resources.server.properties.value.get_resource: there is no"
                ' enabled resource "sever" (did you mean "server"?)'
            ),
        ),
    ),
    Mistake(
        "a resource that needs itself",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {get_resource: a}}
""",
        ("stack.yaml:3:3: resources.a: these resources need each other: a -> a",),
    ),
    Mistake(
        "resources that need each other",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {get_resource: b}}
  b:
    type: OS::Heat::Value
    depends_on: a
    properties: {value: 1}
""",
        ("stack.yaml:3:3: resources.a: these resources need each other: a -> b -> a",),
    ),
    Mistake(
        "a misspelt attribute",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: 1}
outputs:
  o:
    value: {get_attr: [a, valeu]}
""",
        (
            (
                'stack.yaml:8:27: outputs.o.value.get_attr[1]: "a" of type OS::Heat::Value '
                'has no attribute "valeu" (did you mean "value"?)'
            ),
        ),
    ),
    Mistake(
        "get_attr of a name alone",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: 1}
outputs:
  o:
    value: {get_attr: a}
""",
        ("stack.yaml:8:13: outputs.o.value.get_attr: the arguments are a list, not text",),
    ),
    Mistake(
        "a misspelt parameter",
        HOT
        + """\
parameters:
  image: {type: string, default: x}
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {get_param: imag}}
""",
        (
            (
                "stack.yaml:7:26: resources.a.properties.value.get_param: there is no "
                'parameter "imag" (did you mean "image"?)'
            ),
        ),
    ),
    Mistake(
        "depends_on of nothing",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::None
    depends_on: b
""",
        ('stack.yaml:5:5: resources.a.depends_on: there is no resource "b"',),
    ),
    Mistake(
        "a parameter without a value",
        HOT
        + """\
parameters:
  image: {type: string}
""",
        (
            (
                'stack.yaml:3:3: parameters.image: the parameter "image" has no default and '
                "no value is given for it (give it with --parameter image=VALUE or in an "
                "environment)"
            ),
        ),
    ),
    Mistake(
        "a value for a misspelt parameter",
        HOT
        + """\
parameters:
  image: {type: string, default: x}
""",
        (
            (
                'stack.yaml:2:1: parameters.imge: a value is given for "imge", which the '
                'template does not declare (did you mean "image"?)'
            ),
        ),
        parameters={"imge": "x"},
    ),
    Mistake(
        "text for a parameter that is a number",
        HOT
        + """\
parameters:
  n: {type: number}
""",
        ('stack.yaml:3:3: parameters.n: "many" is not a number',),
        parameters={"n": "many"},
    ),
    Mistake(
        "a boolean that is none",
        HOT
        + """\
parameters:
  n: {type: boolean}
""",
        ('stack.yaml:3:3: parameters.n: "maybe" is neither true nor false',),
        parameters={"n": "maybe"},
    ),
    Mistake(
        "JSON that is none",
        HOT
        + """\
parameters:
  n: {type: json}
""",
        (
            (
                'stack.yaml:3:3: parameters.n: "{a" is not JSON: Expecting property name '
                "enclosed in double quotes: line 1 column 2 (char 1)"
            ),
        ),
        parameters={"n": "{a"},
    ),
    Mistake(
        "a value that a parameter does not allow",
        HOT
        + """\
parameters:
  n:
    type: string
    constraints:
    - allowed_values: [small, large]
""",
        ('stack.yaml:3:3: parameters.n: "medium" is not one of: "small", "large"',),
        parameters={"n": "medium"},
    ),
    Mistake(
        "a value that is too short, with a description of the constraint",
        HOT
        + """\
parameters:
  n:
    type: string
    constraints:
    - length: {min: 8}
      description: a password has 8 characters
""",
        (
            (
                'stack.yaml:3:3: parameters.n: a password has 8 characters ("short" has 5 '
                "characters; there must be at least 8)"
            ),
        ),
        parameters={"n": "short"},
    ),
    Mistake(
        "a value that does not match",
        HOT
        + """\
parameters:
  n:
    type: string
    constraints:
    - allowed_pattern: "[a-z]+"
""",
        ('stack.yaml:3:3: parameters.n: "A1" does not match the pattern [a-z]+',),
        parameters={"n": "A1"},
    ),
    Mistake(
        "a type of parameters that there is not",
        HOT
        + """\
parameters:
  n: {type: int}
""",
        (
            (
                'stack.yaml:3:7: parameters.n.type: there is no parameter type "int" (one of:'
                " string, number, comma_delimited_list, json, boolean)"
            ),
        ),
    ),
    Mistake(
        "a misspelt key of a parameter",
        HOT
        + """\
parameters:
  n: {type: string, defualt: x}
""",
        (
            (
                'stack.yaml:3:21: parameters.n.defualt: a parameter cannot have "defualt" in '
                'this version of the language (did you mean "default"?)'
            ),
        ),
    ),
    Mistake(
        "a parameter without a type",
        HOT
        + """\
parameters:
  n: {default: x}
""",
        (
            (
                "stack.yaml:3:3: parameters.n: the parameter has no type (one of: string, "
                "number, comma_delimited_list, json, boolean)"
            ),
        ),
    ),
    Mistake(
        "a default of the wrong type",
        HOT
        + """\
parameters:
  n: {type: number, default: x}
""",
        ('stack.yaml:3:3: parameters.n: "x" is not a number',),
    ),
    Mistake(
        "a function of a later version",
        """\
heat_template_version: 2013-05-23
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {yaql: {expression: "1", data: {}}}}
""",
        (
            (
                'stack.yaml:5:26: resources.a.properties.value.yaql: "yaql" is no function in'
                " heat_template_version 2013-05-23, and stays as it is (heat_template_version"
                " 2016-10-14 has it)"
            ),
        ),
    ),
    Mistake(
        "a misspelt function",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {list_joi: [",", [a]]}}
""",
        (
            (
                'stack.yaml:5:26: resources.a.properties.value.list_joi: "list_joi" is no '
                'function, and stays as it is (did you mean "list_join"?)'
            ),
        ),
    ),
    Mistake(
        "list_join of text",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {list_join: [a, b]}}
""",
        (
            (
                "stack.yaml:5:41: resources.a.properties.value.list_join[1]: only lists can "
                "be joined, not text"
            ),
        ),
    ),
    Mistake(
        "a misspelt argument",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {str_replace: {tmpl: x}}}
""",
        (
            (
                "stack.yaml:5:26: resources.a.properties.value.str_replace: the argument "
                '"template" is missing'
            ),
        ),
    ),
    Mistake(
        "a placeholder that does not occur",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {str_replace_strict: {template: x, params: {y: 1}}}}
""",
        (
            (
                "stack.yaml:5:60: resources.a.properties.value.str_replace_strict.params: not"
                " found in the template: y"
            ),
        ),
    ),
    Mistake(
        "a file that was not sent",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {get_file: boot.sh}}
""",
        (
            (
                'stack.yaml:5:26: resources.a.properties.value.get_file: the file "boot.sh" '
                'did not come with the request, which has it under "files"'
            ),
        ),
    ),
    Mistake(
        "an expression that is not closed",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Value
    properties: {value: {yaql: {expression: "$.data.(", data: {}}}}
""",
        (
            (
                "stack.yaml:5:33: resources.a.properties.value.yaql.expression: the "
                "expression is not valid: Parse error: unexpected end of statement"
            ),
        ),
    ),
    Mistake(
        "a condition that there is not",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::None
    condition: prod
""",
        ('stack.yaml:5:5: resources.a.condition: there is no condition "prod"',),
    ),
    Mistake(
        "a condition that is text",
        HOT
        + """\
conditions:
  prod: maybe
resources:
  a:
    type: OS::Heat::None
    condition: prod
""",
        (
            (
                "stack.yaml:7:5: resources.a.condition: a condition is a boolean, a function "
                "that gives one, or a name, not text"
            ),
            (
                "stack.yaml:3:3: conditions.prod: a condition is a boolean, a function that "
                "gives one, or a name, not text"
            ),
        ),
    ),
    Mistake(
        "conditions that need each other",
        HOT
        + """\
conditions:
  a: {not: b}
  b: {not: a}
""",
        (
            "stack.yaml:3:3: conditions.a: the conditions form a circle: a -> b -> a",
            "stack.yaml:4:3: conditions.b: the conditions form a circle: a -> b -> a",
        ),
    ),
    Mistake(
        "a misspelt key of an output",
        HOT
        + """\
outputs:
  o:
    valeu: 1
""",
        ('stack.yaml:3:3: outputs.o: an output needs "value"',),
    ),
    Mistake(
        "a nested template that was not sent",
        HOT
        + """\
resources:
  a:
    type: lib/web.yaml
""",
        (
            (
                'stack.yaml:4:5: resources.a.type: the template "lib/web.yaml" did not come '
                'with the request, which has it under "files"'
            ),
        ),
    ),
    Mistake(
        "a misspelt property of a nested template",
        HOT
        + """\
resources:
  a:
    type: web.yaml
    properties: {imag: 1}
""",
        (
            (
                'stack.yaml:5:18: resources.a.properties.imag: there is no property "imag" '
                'here (did you mean "image"?)'
            ),
            'stack.yaml:5:5: resources.a.properties: the property "image" is required',
        ),
        files={"web.yaml": HOT + "parameters:\n  image: {type: string}\n"},
    ),
    Mistake(
        "a mistake inside a nested template",
        HOT
        + """\
resources:
  a:
    type: web.yaml
""",
        (
            (
                'web.yaml:3:7: resources.s.type: there is no resource type "OS::Nova::Sever" '
                '(did you mean "OS::Nova::Server"?)'
            ),
        ),
        files={"web.yaml": HOT + "resources:\n  s: {type: OS::Nova::Sever}\n"},
    ),
    Mistake(
        "a misspelt section of an environment",
        HOT,
        (('parametrs: an environment has no section "parametrs" (did you mean "parameters"?)'),),
        environment={"parametrs": {}},
    ),
    Mistake(
        "a deletion policy that there is not",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::None
    deletion_policy: keep
""",
        (
            (
                "stack.yaml:5:5: resources.a.deletion_policy: a deletion policy is one of "
                "delete, retain, snapshot, not 'keep'"
            ),
        ),
    ),
    Mistake(
        "two resources of one name",
        HOT
        + """\
resources:
  a: {type: OS::Heat::None}
  a: {type: OS::Heat::None}
""",
        ('stack.yaml:4:3: the key "a" is given twice in one map',),
    ),
    Mistake(
        "a function of HOT in CloudFormation",
        """\
AWSTemplateFormatVersion: 2010-09-09
Resources:
  a:
    Type: OS::Heat::Value
    Properties: {value: {get_param: x}}
""",
        (
            (
                'stack.yaml:5:26: Resources.a.Properties.value.get_param: "get_param" is no '
                "function in AWSTemplateFormatVersion 2010-09-09, and stays as it is "
                "(heat_template_version 2013-05-23 has it)"
            ),
        ),
    ),
    Mistake(
        "a reference to nothing in CloudFormation",
        """\
AWSTemplateFormatVersion: 2010-09-09
Resources:
  a:
    Type: OS::Heat::Value
    Properties: {value: {Ref: x}}
""",
        (
            (
                "stack.yaml:5:26: Resources.a.Properties.value.Ref: there is no parameter and"
                ' no enabled resource "x"'
            ),
        ),
    ),
    Mistake(
        "a key that a mapping does not have",
        """\
AWSTemplateFormatVersion: 2010-09-09
Mappings:
  M: {a: {b: c}}
Resources:
  a:
    Type: OS::Heat::Value
    Properties: {value: {"Fn::FindInMap": [M, x, b]}}
""",
        (
            (
                "stack.yaml:7:47: Resources.a.Properties.value.Fn::FindInMap[1]: there is no "
                'key "x" in Mappings.M'
            ),
        ),
    ),
    Mistake(
        "text for seconds",
        HOT
        + """\
resources:
  a:
    type: OS::Heat::Delay
    properties: {min_wait: soon}
""",
        ('stack.yaml:5:18: resources.a.properties.min_wait: "soon" is not a number',),
    ),
    Mistake(
        "a resource that is text",
        HOT
        + """\
resources:
  a: OS::Heat::None
""",
        ("stack.yaml:3:3: resources.a: a resource is a map, not text",),
    ),
)


def _messages(mistake: Mistake, types: Registry) -> tuple[str, ...]:
    try:
        inputs = Inputs(
            parameters=mistake.parameters,
            environment=parse_environment(mistake.environment),
            files=mistake.files,
        )
        template = parse(read(mistake.template, "stack.yaml"))
        return tuple(str(found) for found in Evaluation(template, inputs, types).validate())
    except DiagnosticError as error:
        return tuple(str(found) for found in error.diagnostics)


@pytest.fixture(scope="module")
def types() -> Registry:
    return Registry()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_explained(mistake: Mistake, types: Registry) -> None:
    assert _messages(mistake, types) == mistake.messages
