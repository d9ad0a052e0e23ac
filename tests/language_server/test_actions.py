"""Code actions: remedies, conversions and extraction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from stoker.cli.authoring.language_server.actions.actions import code_actions
from stoker.cli.authoring.language_server.session import Session
from stoker.cli.authoring.language_server.settings import Settings
from stoker.cli.authoring.language_server.text import Text
from stoker.cli.offline import check
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs
from tests.language_server.editor import opened

HEAD = "heat_template_version: 2021-04-16\n"


class Actions:
    """Asks for code actions without a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = Session(Settings())

    def of(
        self, text: str, start: int, end: int, name: str = "main.yaml"
    ) -> list[types.CodeAction]:
        path = self.folder / name
        document = self.session.documents.open(path.as_uri(), text, 1)
        self.session.models.forget()
        found = self.session.checker.check(document).found.get(path, ())
        where = document.text.range(start, end)
        at = [each for each in found if each.range.start.line == where.start.line]
        model = self.session.models.of(document)
        return code_actions(model, where, at, can_create=True)

    def fixed(self, text: str, at: str, title: str, name: str = "main.yaml") -> str:
        """Return the text after the action whose title has these words."""
        place = text.index(at) + len(at)
        actions = self.of(text, place, place, name)
        action = next((each for each in actions if title in each.title), None)
        assert action is not None, [each.title for each in actions]
        assert action.edit is not None
        assert action.edit.changes is not None
        (edits,) = action.edit.changes.values()
        return edited(text, edits)


def edited(content: str, edits: Any) -> str:
    text = Text(content)
    spans = sorted(((*text.span(each.range), each.new_text) for each in edits), reverse=True)
    for start, end, new in spans:
        content = f"{content[:start]}{new}{content[end:]}"
    return content


@pytest.fixture
def actions(tmp_path: Path) -> Iterator[Actions]:
    found = Actions(tmp_path)
    yield found
    found.session.close()


@pytest.mark.parametrize(
    ("text", "at", "title", "result"),
    [
        (
            f"{HEAD}resources: {{a: {{type: OS::Nova::Sever}}}}\n",
            "resources",
            'Replace with "OS::Nova::Server"',
            f"{HEAD}resources: {{a: {{type: OS::Nova::Server}}}}\n",
        ),
        (
            f"{HEAD}resource: {{}}\n",
            "resour",
            'Replace with "resources"',
            f"{HEAD}resources: {{}}\n",
        ),
        (
            f"{HEAD}resources:\n  a:\n    type: OS::Heat::Value\n    properties:\n      valeu: 1\n",
            "valeu",
            'Replace with "value"',
            f"{HEAD}resources:\n  a:\n    type: OS::Heat::Value\n    properties:\n      value: 1\n",
        ),
        (
            (
                f"{HEAD}parameters: {{size: {{type: string}}}}\n"
                "outputs:\n  o: {value: {get_param: sise}}\n"
            ),
            "value: {",
            'Replace with "size"',
            (
                f"{HEAD}parameters: {{size: {{type: string}}}}\n"
                "outputs:\n  o: {value: {get_param: size}}\n"
            ),
        ),
        (
            (
                f"{HEAD}resources: {{net: {{type: OS::Neutron::Net}}}}\n"
                "outputs:\n  o: {value: {get_attr: [net, subnts]}}\n"
            ),
            "value: {",
            'Replace with "subnets"',
            (
                f"{HEAD}resources: {{net: {{type: OS::Neutron::Net}}}}\n"
                "outputs:\n  o: {value: {get_attr: [net, subnets]}}\n"
            ),
        ),
        (
            (
                "AWSTemplateFormatVersion: '2010-09-09'\nParameters: {Image: {Type: String}}\n"
                "Outputs:\n  O: {Value: !Sub 'x ${Imgae} y'}\n"
            ),
            "Value: ",
            'Replace with "Image"',
            (
                "AWSTemplateFormatVersion: '2010-09-09'\nParameters: {Image: {Type: String}}\n"
                "Outputs:\n  O: {Value: !Sub 'x ${Image} y'}\n"
            ),
        ),
        (
            (
                f"{HEAD}resources:\n  a:\n    type: OS::Nova::Server\n    properties:\n"
                "      flavor: {get_param: flavor}\n"
            ),
            "flavor: {",
            'Declare the parameter "flavor"',
            (
                f"{HEAD}parameters:\n  flavor:\n    type: string\n\n"
                "resources:\n  a:\n    type: OS::Nova::Server\n    properties:\n"
                "      flavor: {get_param: flavor}\n"
            ),
        ),
        (
            (
                f"{HEAD}parameters:\n  a:\n    type: string  # one\n\nresources:\n  g:\n"
                "    type: OS::Heat::RandomString\n    properties: {length: {get_param: length}}\n"
            ),
            "properties: {len",
            'Declare the parameter "length"',
            (
                f"{HEAD}parameters:\n  a:\n    type: string  # one\n  length:\n    type: number\n\n"
                "resources:\n  g:\n"
                "    type: OS::Heat::RandomString\n    properties: {length: {get_param: length}}\n"
            ),
        ),
        (
            (
                f"{HEAD}parameters: {{flavor: {{type: string}}}}\nresources:\n  a:\n"
                "    type: OS::Nova::Server\n"
            ),
            "  a",
            "Add required properties: flavor",
            (
                f"{HEAD}parameters: {{flavor: {{type: string}}}}\nresources:\n  a:\n"
                "    type: OS::Nova::Server\n    properties:\n      flavor:\n"
                "        get_param: flavor\n"
            ),
        ),
        (
            (
                f"{HEAD}resources:\n  a:\n    type: OS::Neutron::Subnet\n    properties:\n"
                "      cidr: 10.0.0.0/8\n  b: {type: OS::Heat::None}\n"
            ),
            "properties",
            "Add required properties: network",
            (
                f"{HEAD}resources:\n  a:\n    type: OS::Neutron::Subnet\n    properties:\n"
                "      cidr: 10.0.0.0/8\n      network: ''\n  b: {type: OS::Heat::None}\n"
            ),
        ),
        (
            (
                '{"heat_template_version": "2021-04-16", "outputs":\n'
                ' {"o": {"value": {"get_param": "size"}}}}\n'
            ),
            '"o"',
            'Declare the parameter "size"',
            (
                '{"heat_template_version": "2021-04-16", "outputs":\n'
                ' {"o": {"value": {"get_param": "size"}}},'
                ' "parameters": {"size": {"type": "string"}}}\n'
            ),
        ),
        (
            "AWSTemplateFormatVersion: 2010-09-09\nResources: {}\n",
            "Version: ",
            "Put the version into quotes",
            'AWSTemplateFormatVersion: "2010-09-09"\nResources: {}\n',
        ),
    ],
)
def test_finding_is_remedied(actions: Actions, text: str, at: str, title: str, result: str) -> None:
    assert actions.fixed(text, at, title) == result


def value_of(text: str) -> Any:
    """Return the value of the output "o"."""
    evaluation = Evaluation(parse(text), Inputs(), Registry())
    (found,) = (each for each in evaluation.outputs(_NoFacts()) if each.name == "o")
    assert found.error is None
    return found.value


class _NoFacts:
    """Facts of resources that are named after themselves."""

    def reference(self, name: str) -> Any:
        return f"<{name}>"

    def attribute(self, name: str, attribute: str) -> Any:
        return f"<{name}.{attribute}>"


CFN = """\
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  A: {Type: String, Default: one}
Resources:
  Net: {Type: OS::Neutron::Net}
Outputs:
  o:
    Value: """
HOT = f"""\
{HEAD}parameters:
  a: {{type: string, default: one}}
  ab: {{type: string, default: two}}
resources:
  net: {{type: OS::Neutron::Net}}
outputs:
  o:
    value: """


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (f"{CFN}!Join ['', [x, !Ref A, '-${{', !GetAtt Net.name]]\n", "Fn::Sub", "!Sub "),
        (f"{CFN}{{'Fn::Join': ['/', [x, {{Ref: A}}]]}}\n", "Fn::Sub", "x/${A}"),
        (
            f"{CFN}\n      Fn::Join:\n      - '.'\n      - [x, !Ref A, !Ref Net]\n",
            "Fn::Sub",
            "Fn::Sub: ",
        ),
        (f"{CFN}!Join ['', [x, !Select [0, [y]], '${{q}}', '${{!q}}']]\n", "Fn::Sub", "Value1"),
        (f"{CFN}!Sub 'a ${{A}} ${{!b}} ${{Net.name}}'\n", "Fn::Join", "!Join "),
        (
            f"{CFN}{{'Fn::Replace': [{{$x: !Ref A, $xy: 2}}, 'a $x $xy ${{q}}']}}\n",
            "Fn::Sub",
            "${x}",
        ),
        (
            f"{HOT}{{list_join: ['-', [$a, {{get_param: a}}, {{get_param: ab}}]]}}\n",
            "str_replace",
            "params",
        ),
        (
            f"{HOT}\n      list_join:\n      - ''\n      - - 'x '\n        - get_resource: net\n",
            "str_replace",
            "template: x ${net}",
        ),
    ],
)
def test_conversion_keeps_the_value(actions: Actions, text: str, title: str, expected: str) -> None:
    at = next(word for word in ("Join", "Replace", "Sub", "list_join") if word in text)
    converted = actions.fixed(text, at, f"Convert to {title}")
    assert expected in converted
    assert value_of(converted) == value_of(text)


PARENT = f"""\
{HEAD}
parameters:
  size: {{type: string, default: small}}
  unused: {{type: string, default: x}}

conditions:
  big: {{equals: [{{get_param: size}}, large]}}

resources:
  net:
    type: OS::Neutron::Net
  # The part that moves.
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: {{get_resource: net}}  # kept
      cidr: 10.0.0.0/24
      name: {{list_join: ['-', [{{get_param: size}}, {{get_attr: [net, name]}}]]}}
  port:
    type: OS::Neutron::Port
    condition: big
    depends_on: [net, subnet]
    properties:
      network: {{get_resource: net}}
      fixed_ips: [{{subnet: {{get_resource: subnet}}}}]
  last:
    type: OS::Heat::Value
    depends_on: subnet
    properties:
      value: {{get_attr: [subnet, cidr]}}

outputs:
  id: {{value: {{get_resource: subnet}}}}
"""


def test_extracted_resources_are_valid(actions: Actions, tmp_path: Path) -> None:
    start, end = PARENT.index("  subnet:"), PARENT.index("  last:")
    action = next(each for each in actions.of(PARENT, start, end) if "Extract" in each.title)
    assert action.edit is not None
    created, inner, outer = action.edit.document_changes or ()
    assert isinstance(created, types.CreateFile)
    assert isinstance(inner, types.TextDocumentEdit)
    assert isinstance(outer, types.TextDocumentEdit)
    parent, child = tmp_path / "main.yaml", tmp_path / "subnet.yaml"
    assert created.uri == child.as_uri()
    child.write_text(edited("", inner.edits))
    parent.write_text(edited(PARENT, outer.edits))
    assert check(parent, [], {})[0] == []
    assert check(child, [], {})[0] == []
    moved, kept = child.read_text(), parent.read_text()
    assert "network: {get_param: net}  # kept" in moved
    assert "unused" not in moved
    assert "type: subnet.yaml" in kept
    assert "depends_on: subnet" in kept
    assert "{get_attr: [subnet, subnet_cidr]}" in kept
    assert "id: {value: {get_attr: [subnet, subnet]}}" in kept


def test_whole_section_is_not_extracted(actions: Actions) -> None:
    found = actions.of(PARENT, PARENT.index("  net:"), PARENT.index("outputs"))
    assert not any("Extract" in each.title for each in found)


async def test_editor_gets_actions_for_its_findings(tmp_path: Path) -> None:
    text = f"{HEAD}resources: {{a: {{type: OS::Nova::Sever}}}}\n"
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", text)
        (finding,) = await editor.findings(uri)
        found = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                finding.range,
                types.CodeActionContext([finding]),
            )
        )
        (action,) = found or ()
        assert isinstance(action, types.CodeAction)
        assert action.kind == types.CodeActionKind.QuickFix
        (changed,) = editor.edited(action.edit).values()
        editor.replace_all(uri, changed)
        await editor.findings_with(uri, "flavor")
