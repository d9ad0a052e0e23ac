"""Hovers, definitions, references, renames and the outline."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stoker.cli.authoring.language_server.text import Text
from tests.language_server.editor import Editor, opened, opened_here

MAIN = """\
heat_template_version: 2021-04-16

# The sizes
# of the shop.
parameters:
  size:
    type: string
    description: The size of it
    default: small
  secret: {type: string, hidden: true, default: hunter2}
conditions:
  big: {equals: [{get_param: size}, large]}
resources:
  net:
    type: OS::Neutron::Net
  inner:
    type: inner.yaml
    condition: big
    depends_on: [net]
    properties:
      colour: {get_param: size}
  text:
    type: OS::Heat::Value
    properties:
      value: {list_join: ['-', [a, {get_param: size}]]}
  hidden:
    type: OS::Heat::Value
    properties: {value: {list_join: ['-', [{get_param: secret}]]}}
outputs:
  net: {value: {get_attr: [net, subnets]}}
  shade: {value: {get_attr: [inner, shade]}}
  deep: {value: {get_attr: [inner, resource.core]}}
  id: {value: {get_resource: net}}
"""
INNER = """\
heat_template_version: 2021-04-16
parameters:
  colour: {type: string}
resources:
  core: {type: OS::Heat::Value, properties: {value: {get_param: colour}}}
outputs:
  shade: {value: {get_attr: [core, value]}}
"""
ENVIRONMENT = """\
parameters:
  size: large
parameter_defaults: {colour: red}
resource_registry:
  resources:
    net: {hooks: pre-create}
"""
CFN = """\
AWSTemplateFormatVersion: '2010-09-09'
Parameters:
  Image: {Type: String, Default: 🎉}
Resources:
  Net: {Type: OS::Neutron::Net}
  Value:
    Type: OS::Heat::Value
    Properties:
      value: !Sub |
        🎉 image ${Image} and again
        ${Image} in ${Net} with ${Net.subnets}
Outputs:
  A: {Value: !GetAtt Net.subnets}
  B: {Value: !Ref Image}
"""


@pytest_asyncio.fixture
async def editor(tmp_path: Path) -> AsyncIterator[Editor]:
    (tmp_path / "inner.yaml").write_text(INNER)
    (tmp_path / "main.env.yaml").write_text(ENVIRONMENT)
    async with opened_here(tmp_path) as found:
        found.open("main.yaml", MAIN)
        yield found


async def hovered(editor: Editor, text: str, before: str, name: str = "main.yaml") -> str:
    """Return the hover at the end of a part of the text."""
    place = editor.place(editor.uri(name), text.index(before) + len(before))
    found = await editor.client.text_document_hover_async(types.HoverParams(**place))
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("colour: {get_param: si", ["The size of it", "Type: String", "Value: `large`"]),
        ("colour: {get_p", ["function", "Value: `large`"]),
        ("list_jo", ["function", "Value: `a-large`"]),
        ("type: OS::Neutron::N", ["OS::Neutron::Net"]),
        ("get_attr: [net, subn", ["attribute"]),
        ("{get_attr: [n", ["resource of type OS::Neutron::Net"]),
        ("condition: b", ["condition", "Value: `true`"]),
        ("{value: {get_resource: n", ["resource of type"]),
        ("      col", ["colour", "Type: string"]),
    ],
)
async def test_hover_describes_the_word(editor: Editor, before: str, words: list[str]) -> None:
    found = await hovered(editor, MAIN, before)
    for word in words:
        assert word in found


async def test_hover_keeps_secrets(editor: Editor) -> None:
    for before in ("[{get_param: secr", "{value: {list_jo", "  secr"):
        found = await hovered(editor, MAIN, before)
        assert found
        assert "hunter2" not in found


async def test_hover_has_no_value_without_parameters(editor: Editor) -> None:
    editor.replace_all(editor.uri("main.yaml"), MAIN.replace("    default: small\n", ""))
    uri = editor.open("other.yaml", MAIN.replace("    default: small\n", ""))
    text = editor.texts[uri]
    assert "Value" not in await hovered(editor, text, "list_jo", "other.yaml")
    assert "Value" not in await hovered(editor, text, "condition: b", "other.yaml")


async def defined(editor: Editor, text: str, before: str, name: str = "main.yaml") -> str:
    """Return file and line of a definition."""
    place = editor.place(editor.uri(name), text.index(before) + len(before))
    found = await editor.client.text_document_definition_async(types.DefinitionParams(**place))
    if not isinstance(found, types.Location):
        return ""
    return f"{found.uri.rpartition('/')[2]}:{found.range.start.line + 1}"


@pytest.mark.parametrize(
    ("before", "place"),
    [
        ("colour: {get_param: si", "main.yaml:6"),
        ("condition: b", "main.yaml:12"),
        ("depends_on: [n", "main.yaml:14"),
        ("get_attr: [inner, sh", "inner.yaml:7"),
        ("get_attr: [inner, resource.co", "inner.yaml:5"),
        ("      col", "inner.yaml:3"),
        ("type: inner.y", "inner.yaml:1"),
    ],
)
async def test_definition_is_found(editor: Editor, before: str, place: str) -> None:
    assert await defined(editor, MAIN, before) == place


async def test_definition_of_environment_is_in_its_template(editor: Editor, tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(MAIN)
    editor.open("main.env.yaml", ENVIRONMENT)
    assert await defined(editor, ENVIRONMENT, "  si", "main.env.yaml") == "main.yaml:6"
    assert await defined(editor, ENVIRONMENT, "    ne", "main.env.yaml") == "main.yaml:14"


async def renamed(
    editor: Editor, text: str, before: str, new: str, name: str = "main.yaml"
) -> dict[str, str]:
    place = editor.place(editor.uri(name), text.index(before) + len(before))
    found = await editor.client.text_document_rename_async(
        types.RenameParams(new_name=new, **place)
    )
    edited = editor.edited(found)
    return {uri.rpartition("/")[2]: text for uri, text in edited.items()}


async def test_rename_of_parameter_changes_environment(editor: Editor) -> None:
    found = await renamed(editor, MAIN, "colour: {get_param: si", "extent")
    assert found == {
        "main.yaml": MAIN.replace("  size:", "  extent:").replace(
            "get_param: size", "get_param: extent"
        ),
        "main.env.yaml": ENVIRONMENT.replace("size", "extent"),
    }


async def test_rename_changes_members_of_groups(editor: Editor) -> None:
    editor.open("inner.yaml", INNER)
    text = (
        "heat_template_version: 2021-04-16\nresources:\n  g:\n    type: OS::Heat::ResourceGroup\n"
        "    properties:\n      resource_def: {type: inner.yaml, properties: {colour: red}}\n"
    )
    editor.open("group.yaml", text)
    found = await renamed(editor, INNER, "  col", "hue", "inner.yaml")
    assert found["group.yaml"] == text.replace("colour", "hue")


async def test_server_renames_and_hovers(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    async with opened(tmp_path) as editor:
        editor.open("main.yaml", MAIN)
        assert "The size of it" in await hovered(editor, MAIN, "colour: {get_param: si")
        found = await renamed(editor, MAIN, "depends_on: [n", "network")
        assert "  network:\n" in found["main.yaml"]
        with pytest.raises(JsonRpcException, match="cannot be"):
            await renamed(editor, MAIN, "depends_on: [n", "a/b")


async def test_rename_in_nested_template_changes_its_parent(editor: Editor) -> None:
    editor.open("inner.yaml", INNER)
    found = await renamed(editor, INNER, "  col", "hue", "inner.yaml")
    assert found == {
        "main.yaml": MAIN.replace("colour", "hue"),
        "inner.yaml": INNER.replace("colour", "hue"),
        "main.env.yaml": ENVIRONMENT.replace("colour", "hue"),
    }
    found = await renamed(editor, INNER, "  sha", "tone", "inner.yaml")
    assert found["main.yaml"] == MAIN.replace("[inner, shade]", "[inner, tone]")
    found = await renamed(editor, INNER, "  cor", "kernel", "inner.yaml")
    assert found["main.yaml"] == MAIN.replace("resource.core", "resource.kernel")
    assert found["inner.yaml"] == INNER.replace("core", "kernel")


async def test_rename_of_resource_changes_its_references(editor: Editor) -> None:
    found = await renamed(editor, MAIN, "depends_on: [n", "network")
    assert found["main.yaml"] == MAIN.replace("  net:\n", "  network:\n").replace(
        "[net", "[network"
    ).replace("get_resource: net", "get_resource: network")
    assert "    network: {hooks" in found["main.env.yaml"]


async def test_rename_in_substituted_text(editor: Editor) -> None:
    editor.open("cfn.yaml", CFN)
    found = await renamed(editor, CFN, "{Value: !Ref Ima", "Picture", "cfn.yaml")
    assert found["cfn.yaml"] == CFN.replace("Image", "Picture")
    found = await renamed(editor, CFN, "${Ne", "Lan", "cfn.yaml")
    assert found["cfn.yaml"] == CFN.replace("Net:", "Lan:").replace("{Net", "{Lan").replace(
        "!GetAtt Net", "!GetAtt Lan"
    )


async def test_rename_refuses_names_that_do_not_fit(editor: Editor) -> None:
    for new, words in (("secret", "already"), ("a/b", "cannot be"), ("", "cannot be")):
        with pytest.raises(JsonRpcException, match=words):
            await renamed(editor, MAIN, "colour: {get_param: si", new)


async def test_rename_puts_yaml_words_into_quotes(editor: Editor) -> None:
    found = await renamed(editor, MAIN, "colour: {get_param: si", "yes")
    assert '  "yes":\n' in found["main.yaml"]
    assert '{get_param: "yes"}' in found["main.yaml"]


async def test_references_are_in_all_documents(editor: Editor) -> None:
    place = editor.place(editor.uri("main.yaml"), MAIN.index("  size") + 3)
    found = await editor.client.text_document_references_async(
        types.ReferenceParams(types.ReferenceContext(include_declaration=True), **place)
    )
    assert found is not None
    places = [(each.uri.rpartition("/")[2], each.range.start.line + 1) for each in found]
    assert places == [
        ("main.yaml", 6),
        ("main.yaml", 12),
        ("main.yaml", 21),
        ("main.yaml", 25),
        ("main.env.yaml", 2),
    ]
    marked = await editor.client.text_document_document_highlight_async(
        types.DocumentHighlightParams(**place)
    )
    assert len(marked or ()) == 4


async def test_outline_folds_and_links(editor: Editor) -> None:
    document = types.TextDocumentIdentifier(editor.uri("main.yaml"))
    outline = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(document)
    )
    sections = {each.name: each for each in outline or ()}
    resources = sections["resources"]
    assert isinstance(resources, types.DocumentSymbol)
    assert [each.name for each in resources.children or ()] == ["net", "inner", "text", "hidden"]
    assert (resources.children or ())[0].detail == "OS::Neutron::Net"
    folds = await editor.client.text_document_folding_range_async(
        types.FoldingRangeParams(document)
    )
    assert (12, 27) in {(each.start_line, each.end_line) for each in folds or ()}
    assert (2, 3) in {(each.start_line, each.end_line) for each in folds or ()}
    links = await editor.client.text_document_document_link_async(
        types.DocumentLinkParams(document)
    )
    assert [each.target for each in links or ()] == [editor.uri("inner.yaml")]


async def test_formatting_is_that_of_the_command(editor: Editor) -> None:
    text = "heat_template_version:   2021-04-16\nresources:\n    a: {type:   OS::Heat::None}\n\n\n"
    uri = editor.open("odd.yaml", text)
    edits = await editor.client.text_document_formatting_async(
        types.DocumentFormattingParams(
            types.TextDocumentIdentifier(uri), types.FormattingOptions(2, insert_spaces=True)
        )
    )
    assert editor.applied(uri, edits or ()) == (
        "heat_template_version: 2021-04-16\nresources:\n  a: {type: OS::Heat::None}\n"
    )


async def test_json_is_navigated_like_yaml(editor: Editor) -> None:
    data = {
        "heat_template_version": "2021-04-16",
        "parameters": {"size": {"type": "string", "description": 'A "big" 🎉'}},
        "outputs": {"o": {"value": {"get_param": "size"}}},
    }
    for name, indent in (("a.json", None), ("b.json", 2)):
        text = json.dumps(data, indent=indent, ensure_ascii=False)
        editor.open(name, text)
        assert "🎉" in await hovered(editor, text, '"get_param": "si', name)
        found = await renamed(editor, text, '"get_param": "si', "extent", name)
        assert found[name] == text.replace("size", "extent")


def test_positions_count_utf16_units_and_line_ends() -> None:
    text = Text("a\r\n🎉b\rc\u2028d\ne")
    for offset in range(len(text.content) + 1):
        position = text.position(offset)
        if text.content[offset - 1 : offset + 1] != "\r\n":
            assert text.offset(position) == offset
    assert text.position(text.content.index("b")) == types.Position(1, 2)
    assert text.position(text.content.index("d")) == types.Position(2, 2)
    assert text.offset(types.Position(1, 99)) == text.content.index("b") + 1
    assert text.offset(types.Position(99, 0)) == len(text.content)
