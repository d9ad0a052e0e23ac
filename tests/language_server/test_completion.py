"""Completion while a document is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from stoker.cli.authoring.language_server.checking import Checker
from stoker.cli.authoring.language_server.completion.completer import complete
from stoker.cli.authoring.language_server.completion.places import place_at
from stoker.cli.authoring.language_server.documents import Documents
from stoker.cli.authoring.language_server.models import Models
from tests.language_server.editor import opened

HEAD = """\
heat_template_version: 2021-04-16
parameters:
  image: {type: string, description: The image}
  size: {type: string, constraints: [{allowed_values: [small, large]}]}
conditions:
  big: {equals: [{get_param: size}, large]}
resources:
  net:
    type: OS::Neutron::Net
"""
CFN = """\
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Image: {Type: String}
Mappings:
  Sizes:
    small: {flavor: m1.small}
Resources:
  Net:
    Type: OS::Neutron::Net
"""


class Completions:
    """Completes without a server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents = Documents()
        self.checker = Checker(self.documents)
        self.models = Models(self.documents, self.checker)

    def items(
        self, marked: str, name: str = "main.yaml", *, has_snippets: bool = True
    ) -> list[types.CompletionItem]:
        offset = marked.index("|")
        text = marked[:offset] + marked[offset + 1 :]
        document = self.documents.open((self.folder / name).as_uri(), text, 1)
        self.models.forget()
        found = complete(document, offset, self.models, has_snippets=has_snippets)
        return sorted(found, key=lambda item: item.sort_text or "")

    def labels(self, marked: str, name: str = "main.yaml") -> list[str]:
        return [item.label for item in self.items(marked, name)]

    def inserted(self, marked: str, label: str, name: str = "main.yaml") -> str:
        """Return the text after a completion was accepted, with the places of its snippet."""
        offset = marked.index("|")
        text = marked[:offset] + marked[offset + 1 :]
        item = next(each for each in self.items(marked, name) if each.label == label)
        assert isinstance(item.text_edit, types.TextEdit)
        document = self.documents.of_uri((self.folder / name).as_uri())
        assert document is not None
        start, end = document.text.span(item.text_edit.range)
        assert start <= offset <= end
        return f"{text[:start]}{item.text_edit.new_text}{text[end:]}"


@pytest.fixture
def completions(tmp_path: Path) -> Iterator[Completions]:
    found = Completions(tmp_path)
    yield found
    found.models.close()
    found.checker.close()


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("|", "heat_template_version"),
        ("hea|", "heat_template_version"),
        ("heat_template_version: |", "2021-04-16"),
        ("heat_template_version: 2021-04-16\n|", "resources"),
        ("heat_template_version: 2021-04-16\nreso|\n", "resources"),
        (f"{HEAD}  server:\n    |", "type"),
        (f"{HEAD}  server:\n    ty|", "type"),
        (f"{HEAD}  server:\n    type: |", "OS::Nova::Server"),
        (f"{HEAD}  server:\n    type: OS::Nova::|\n", "OS::Nova::Server"),
        (f"{HEAD}  server:\n    type: OS::Nova::Server\n    |", "properties"),
        (f"{HEAD}  server:\n    type: OS::Nova::Server\n    prop|\n", "properties"),
        (f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      |", "flavor"),
        (f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties: {{fl|", "flavor"),
        (
            (
                f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      networks:\n"
                "      - |\n      image: x\noutputs: {}\n"
            ),
            "fixed_ip",
        ),
        (
            (
                f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      networks:\n"
                "        - port: x\n          |\n"
            ),
            "subnet",
        ),
        (
            (
                f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n"
                "      user_data_format: |\n      image: x\n"
            ),
            "SOFTWARE_CONFIG",
        ),
        (
            (
                f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n"
                "      config_drive: |\n"
            ),
            "true",
        ),
        (
            f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      image: |\n",
            "{get_param: image}",
        ),
        (
            f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      image: {{|}}\n",
            "get_param",
        ),
        (
            (
                f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n"
                "      image: {get_param: |}\n"
            ),
            "image",
        ),
        (
            (
                f"{HEAD}  g:\n    type: OS::Heat::ResourceGroup\n    properties:\n"
                "      resource_def:\n        type: OS::Nova::Server\n        properties:\n"
                "          |\n"
            ),
            "flavor",
        ),
        (
            (
                f"{HEAD}  g:\n    type: OS::Heat::ResourceGroup\n    properties:\n"
                "      resource_def:\n        type: |\n"
            ),
            "OS::Nova::Server",
        ),
        (f"{HEAD}outputs:\n  o:\n    value: {{get_resource: |\n", "net"),
        (f"{HEAD}outputs:\n  o:\n    value: {{get_attr: [|\n", "net"),
        (f"{HEAD}outputs:\n  o:\n    value: {{get_attr: [net, |]}}\n", "subnets"),
        (
            f"{HEAD}outputs:\n  o:\n    value: {{get_attr: [net, sub|\n  p:\n    value: 1\n",
            "subnets",
        ),
        (f"{HEAD}outputs:\n  o:\n    value:\n      get_attr: [net, |\n", "subnets"),
        (f"{HEAD}outputs:\n  o:\n    value:\n      |\n", "get_attr"),
        (f"{HEAD}outputs:\n  o:\n    |\n", "value"),
        (f"{HEAD}outputs:\n  o:\n    value: {{str_replace: {{|\n", "template"),
        (f"{HEAD}outputs:\n  o:\n    value: {{if: [|, 1, 2]}}\n", "big"),
        (f"{HEAD}    condition: |\n", "big"),
        (f"{HEAD}  b:\n    type: OS::Heat::None\n    depends_on: |\n", "net"),
        (f"{HEAD}  b:\n    type: OS::Heat::None\n    depends_on: [|]\n", "net"),
        (f"{HEAD}    deletion_policy: |\n", "Retain"),
        ("heat_template_version: 2021-04-16\nparameters:\n  a:\n    |\n", "constraints"),
        (
            "heat_template_version: 2021-04-16\nparameters:\n  a:\n    type: |\n",
            "comma_delimited_list",
        ),
        (
            (
                "heat_template_version: 2021-04-16\nparameters:\n  a:\n    type: string\n"
                "    constraints:\n      - |\n"
            ),
            "allowed_values",
        ),
        (
            (
                "heat_template_version: 2021-04-16\nparameters:\n  a:\n    type: string\n"
                "    constraints:\n      - custom_constraint: |\n"
            ),
            "glance.image",
        ),
        (
            (
                "heat_template_version: 2021-04-16\nparameters:\n  a:\n    type: string\n"
                "    constraints:\n      - length: {|}\n"
            ),
            "min",
        ),
        (
            (
                "heat_template_version: 2021-04-16\nparameters:\n  a:\n    type: string\n"
                "    constraints: [{allowed_values: [x, y]}]\n    default: |\n"
            ),
            "y",
        ),
        (
            (
                "heat_template_version: 2021-04-16\nparameters: {a: {type: string}}\n"
                "parameter_groups:\n- parameters:\n  - |\n"
            ),
            "a",
        ),
        (f"{HEAD}conditions:\n  other: {{|}}\n", "equals"),
        (f"{CFN}Outputs:\n  O:\n    Value: !Ref |\n", "Image"),
        (f"{CFN}Outputs:\n  O:\n    Value: !GetAtt |\n", "Net.subnets"),
        (f"{CFN}Outputs:\n  O:\n    Value: !GetAtt Net.|\n", "Net.subnets"),
        (f"{CFN}Outputs:\n  O:\n    Value: !Sub 'a ${{|'\n", "Image"),
        (f"{CFN}Outputs:\n  O:\n    Value: !FindInMap [Sizes, |]\n", "small"),
        (f"{CFN}Outputs:\n  O:\n    Value: {{'Fn::FindInMap': [Sizes, small, |]}}\n", "flavor"),
        (f"{CFN}  S:\n    Type: OS::Nova::Server\n    Properties:\n      |\n", "flavor"),
        ('{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"a": {"|"}}}', "Type"),
        (
            (
                '{"heat_template_version": "2021-04-16",\n'
                ' "resources": {"a": {"type": "OS::Heat::Value", "properties": {"va|'
            ),
            "value",
        ),
        (
            '{"heat_template_version": "2021-04-16", "resources": {"a": {"type": "|"}}}',
            "OS::Heat::Value",
        ),
    ],
)
def test_word_is_offered(completions: Completions, marked: str, expected: str) -> None:
    assert expected in completions.labels(marked)


@pytest.mark.parametrize(
    ("marked", "label", "result"),
    [
        (f"{HEAD}  s:\n    typ|\n", "type", f"{HEAD}  s:\n    type: \n"),
        (f"{HEAD}  s:\n    typ|e: x\n", "type", f"{HEAD}  s:\n    type: x\n"),
        (
            f"{HEAD}outputs:\n  o: {{value: {{get_param: im|}}}}\n",
            "image",
            f"{HEAD}outputs:\n  o: {{value: {{get_param: image}}}}\n",
        ),
        (
            f"{HEAD}  s:\n    type: OS::Neutron::Subnet\n    properties:\n      |",
            "network",
            f"{HEAD}  s:\n    type: OS::Neutron::Subnet\n    properties:\n      network: ",
        ),
        (
            f"{HEAD}  s:\n    type: OS::Nova::Server\n    |",
            "properties",
            f"{HEAD}  s:\n    type: OS::Nova::Server\n    properties:\n    flavor: $1".replace(
                "    flavor", "  flavor"
            ),
        ),
        (
            f"{CFN}Outputs:\n  O: {{Value: !Sub 'a ${{Im|}} b'}}\n",
            "Image",
            f"{CFN}Outputs:\n  O: {{Value: !Sub 'a ${{Image}} b'}}\n",
        ),
        ('{"Resources": {"a": {"Type": "OS::Heat::None", |}}}', "Condition", None),
    ],
)
def test_accepted_word_replaces_the_written_one(
    completions: Completions, marked: str, label: str, result: str | None
) -> None:
    expected = result or marked.replace("|", '"Condition": ')
    assert completions.inserted(marked, label) == expected


def test_required_properties_come_first(completions: Completions) -> None:
    start = f"{HEAD}  s:\n    type: OS::Neutron::FloatingIPAssociation\n    properties:\n      |"
    labels = completions.labels(start)
    assert labels[:3] == ["required properties", "floatingip_id", "port_id"]
    done = completions.inserted(start, "required properties")
    assert done.endswith("properties:\n      floatingip_id: $1\nport_id: $2")
    labels = completions.labels(f"{start[:-1]}port_id: x\n      |")
    assert labels[0] == "floatingip_id"
    assert "port_id" not in labels


def test_client_without_snippets_gets_plain_text(completions: Completions) -> None:
    for item in completions.items(f"{HEAD}outputs: {{o: {{value: |", has_snippets=False):
        assert item.insert_text_format is types.InsertTextFormat.PlainText
        assert isinstance(item.text_edit, types.TextEdit)
        assert "$" not in item.text_edit.new_text


def test_types_of_environment_and_files_are_offered(
    completions: Completions, tmp_path: Path
) -> None:
    (tmp_path / "inner.yaml").write_text(
        "heat_template_version: 2021-04-16\nparameters: {colour: {type: string}}\n"
        "outputs: {shade: {value: 1}}\n"
    )
    (tmp_path / "main.env.yaml").write_text("resource_registry: {My::Inner: inner.yaml}\n")
    assert "inner.yaml" in completions.labels(f"{HEAD}  i:\n    type: |\n")
    assert "My::Inner" in completions.labels(f"{HEAD}  i:\n    type: |\n")
    for name in ("My::Inner", "inner.yaml"):
        start = f"{HEAD}  i:\n    type: {name}\n"
        assert "colour" in completions.labels(f"{start}    properties:\n      |")
        assert "shade" in completions.labels(f"{start}outputs: {{o: {{value: {{get_attr: [i, |")


def test_files_are_offered_relative_to_the_document(
    completions: Completions, tmp_path: Path
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "boot.sh").write_text("")
    start = f"{HEAD}outputs:\n  o:\n    value: {{get_file: "
    assert "scripts/" in completions.labels(f"{start}|")
    assert completions.labels(f"{start}scripts/|") == ["scripts/boot.sh"]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("|\nparameter_defaults: {}\n", "resource_registry"),
        ("parameters:\n  |", "image"),
        ("parameters:\n  size: |", "large"),
        ("parameter_defaults:\n  si|", "size"),
        ("resource_registry:\n  |", "OS::Nova::Server"),
        ("resource_registry:\n  OS::Nova::Server: |", "main.yaml"),
        ("resource_registry:\n  resources:\n    |", "net"),
        ("resource_registry:\n  resources:\n    net:\n      |", "hooks"),
        ("resource_registry:\n  resources:\n    net:\n      hooks: |", "pre-create"),
        ("parameter_merge_strategies:\n  image: |", "deep_merge"),
        ("encrypted_param_names: [|]", "image"),
    ],
)
def test_environment_knows_its_template(
    completions: Completions, tmp_path: Path, marked: str, expected: str
) -> None:
    (tmp_path / "main.yaml").write_text(HEAD)
    assert expected in completions.labels(marked, "main.env.yaml")


@pytest.mark.parametrize("name", ["shop", "web-app", "cloudformation", "database"])
def test_place_in_long_document_is_the_same(name: str) -> None:
    text = (Path(__file__).parents[2] / f"examples/{name}.yaml").read_text()
    documents = Documents()
    long = f"{text}{'# more' * 3000}\n"
    for offset in range(0, len(text), 23):
        for written in ("", "ty", "\n    x"):
            places = [
                place_at(
                    documents.open(
                        "file:///a.yaml", f"{content[:offset]}{written}{content[offset:]}", 1
                    ),
                    offset + len(written),
                )
                for content in (text, long)
            ]
            short, in_long = places
            assert (short is None) == (in_long is None)
            if short is not None and in_long is not None:
                # A key between two levels may have the keys of either beside it.
                in_long.siblings = short.siblings
                assert short == in_long, text[:offset]


def test_comment_and_unrelated_document_have_no_words(completions: Completions) -> None:
    assert completions.labels(f"{HEAD}# typ|\n") == []
    assert completions.labels("services:\n  web:\n    |\n", "compose.yaml") == []


async def test_words_are_offered_while_typing(tmp_path: Path) -> None:
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", "")
        text = f"{HEAD}  server:\n    type: OS::Nova::Server\n    properties:\n      flav"
        for number, character in enumerate(text):
            editor.replace(uri, number, number, character)
        found = await editor.completions(uri, len(text))
        assert "flavor" in [item.label for item in found]
        item = next(each for each in found if each.label == "flavor")
        assert item.documentation is not None
        text = text.replace("OS::Nova::Server\n    properties:\n      flav", "")
        editor.replace_all(uri, text)
        found = await editor.completions(uri, len(text))
        server = next(each for each in found if each.label == "OS::Nova::Server")
        resolved = await editor.client.completion_item_resolve_async(server)
        assert isinstance(resolved.documentation, types.MarkupContent)
        assert "flavor" in resolved.documentation.value
