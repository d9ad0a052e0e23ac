"""The examples of docs/reference/language.md give the stated results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.evaluating import with_helpers

from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, ResourceType
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.source.source import read

DOCUMENT = Path(__file__).parents[2] / "docs/reference/language.md"
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
AROUND = read(BLOCKS[0]).data
EXAMPLES = [(read(block).data, block) for block in BLOCKS[1:]]
CFN_NAMES = {
    "type": "Type",
    "default": "Default",
    "properties": "Properties",
    "string": "String",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
    "boolean": "Boolean",
}


class Value(ManagedType):
    """Holds a value."""

    type_name = "OS::Heat::Value"
    properties = {"value": Property(Type.ANY)}
    attributes = {"value": Attribute()}

    def create(self, call: Call) -> Outcome:
        return Done("id")

    def delete(self, call: Call) -> Outcome:
        return Done()


class Types:
    def find(self, type_name: str) -> ResourceType | None:
        return Value() if type_name == Value.type_name else None

    def names(self) -> list[str]:
        return [Value.type_name]


class Existing:
    """The resources around the examples, created."""

    def reference(self, name: str) -> Any:
        return f"stack-{name}-abcdefghij2k"

    def attribute(self, name: str, attribute: str) -> Any:
        return AROUND["resources"][name]["properties"][attribute]


def hot(example: dict[str, Any]) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "parameters": AROUND["parameters"],
        "conditions": AROUND["conditions"],
        "resources": AROUND["resources"],
        "outputs": {"example": {"value": example["value"]}},
    }


def cfn(example: dict[str, Any]) -> dict[str, Any]:
    def renamed(data: dict[str, Any]) -> dict[str, Any]:
        return {
            name: {CFN_NAMES[key]: CFN_NAMES.get(str(item), item) for key, item in body.items()}
            for name, body in data.items()
        }

    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Mappings": example.get("mappings", {}),
        "Parameters": renamed(AROUND["parameters"]),
        "Conditions": {"is_web": {"Fn::Equals": [{"Ref": "name"}, "web"]}},
        "Resources": renamed(AROUND["resources"]),
        "Outputs": {"example": {"Value": example["value"]}},
    }


@pytest.mark.parametrize(("example", "text"), EXAMPLES, ids=[text[:60] for _, text in EXAMPLES])
def test_an_example_gives_what_it_says(example: dict[str, Any], text: str) -> None:
    data = cfn(example) if "version" in example else hot(example)
    evaluation = Evaluation(parse(data), with_helpers(files=AROUND["files"]), Types())
    evaluation.validate().raise_errors()
    (output,) = evaluation.outputs(Existing())
    if example.get("error"):
        assert output.error
    else:
        assert (output.error, output.value) == (None, example["gives"])


def test_every_function_is_documented() -> None:
    text = DOCUMENT.read_text()
    from stoker.template.versions import VERSIONS

    for version in VERSIONS:
        for name in version.functions | version.condition_functions | version.extensions:
            assert f"`{name}`" in text, name
