"""Findings in an editor: those of ``stoker validate``, about text that is not saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from lsprotocol import types

from stoker.cli.arguments.files import environment_beside
from stoker.cli.authoring.language_server.checking import Checker
from stoker.cli.authoring.language_server.documents import Documents
from stoker.cli.authoring.language_server.findings import in_protocol
from stoker.cli.offline import OfflineChecks
from tests.language_server.editor import opened

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    path
    for path in ROOT.glob("examples/**/*.yaml")
    if "FormatVersion" in path.read_text() or "heat_template_version" in path.read_text()
)
MISTAKES: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/language/mistakes.yaml").read_text())

TEMPLATE = """\
heat_template_version: 2021-04-16
parameters:
  size: {type: number}
resources:
  value:
    type: OS::Heat::Value
    properties:
      value: {get_param: size}
"""


class Comparison:
    """Compares the findings of an editor with those of the command."""

    def __init__(self) -> None:
        self.documents = Documents()
        self.checker = Checker(self.documents)
        self.command = OfflineChecks()

    def close(self) -> None:
        self.checker.close()
        self.command.close()


@pytest.fixture(scope="module")
def comparison() -> Iterator[Comparison]:
    with closing(Comparison()) as found:
        yield found


def same_as_validate(comparison: Comparison, path: Path, text: str) -> None:
    documents = comparison.documents
    document = documents.open(path.as_uri(), text, 1)
    found = comparison.checker.check(document).found
    again = comparison.checker.check(document).found
    beside = environment_beside(path)
    findings = comparison.command.check(path, [] if beside is None else [beside], {}).findings
    expected: dict[Path, list[types.Diagnostic]] = {path: []}
    for finding in findings:
        where = Path(finding.file)
        place = documents.at(where)
        assert place is not None
        expected.setdefault(where, []).append(in_protocol(finding, place))
    assert found == expected
    assert again == expected
    documents.close(path.as_uri())


@pytest.mark.parametrize("path", EXAMPLES, ids=[str(p.relative_to(ROOT)) for p in EXAMPLES])
def test_examples_have_findings_of_validate(comparison: Comparison, path: Path) -> None:
    same_as_validate(comparison, path, path.read_text())


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each["name"] for each in MISTAKES])
def test_mistakes_have_findings_of_validate(
    comparison: Comparison, mistake: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "stack.yaml"
    text = mistake["template"]
    path.write_text(text)
    if "environment" in mistake:
        (tmp_path / "stack.env.yaml").write_text(yaml.safe_dump(mistake["environment"]))
    if "heat_template_version" in text:
        same_as_validate(comparison, path, text)


async def test_findings_follow_typed_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", TEMPLATE)
        await editor.no_findings(uri)
        editor.replace(uri, TEMPLATE.index("size}"), TEMPLATE.index("size}") + 4, "sise")
        (found,) = await editor.findings(uri)
        assert found.code == "unknown-parameter"
        assert 'did you mean "size"?' in found.message
        assert found.range == types.Range(types.Position(7, 14), types.Position(7, 29))
        editor.replace(uri, TEMPLATE.index("size}"), TEMPLATE.index("size}") + 4, "")
        editor.type(uri, TEMPLATE.index("size}"), "size")
        await editor.no_findings(uri)


async def test_nested_template_updates_its_parent(tmp_path: Path) -> None:
    parent = f"{TEMPLATE}  inner: {{type: inner.yaml, properties: {{name: a}}}}\n"
    inner = "heat_template_version: 2021-04-16\nparameters: {name: {type: string}}\n"
    async with opened(tmp_path) as editor:
        child = editor.open("inner.yaml", inner)
        uri = editor.open("main.yaml", parent)
        await editor.no_findings(uri)
        editor.replace(child, inner.index("name:"), inner.index("name:") + 4, "title")
        await editor.findings_with(uri, "Unknown Property name")
        editor.replace(child, inner.index("name:"), inner.index("name:") + 5, "name")
        await editor.no_findings(uri)


async def test_environment_beside_updates_its_template(tmp_path: Path) -> None:
    (tmp_path / "main.yaml").write_text(TEMPLATE)
    (tmp_path / "main.env.yaml").write_text("parameters: {size: 1}\n")
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", TEMPLATE)
        environment = editor.open("main.env.yaml", "parameters: {size: many}\n")
        await editor.findings_with(environment, "many")
        editor.replace_all(environment, "parameters: {size: 2}\n")
        await editor.no_findings(environment)
        await editor.no_findings(uri)


async def test_broken_text_keeps_findings_of_unchanged_lines(tmp_path: Path) -> None:
    text = TEMPLATE.replace("type: number", "type: numbers")
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", text)
        await editor.findings_with(uri, "numbers")
        editor.type(uri, text.index("resources:"), "broken\n")
        found = await editor.findings_with(uri, "not valid YAML")
        assert {each.code for each in found} == {"bad-syntax", "invalid-parameter-declaration"}


async def test_unrelated_documents_have_no_findings(tmp_path: Path) -> None:
    async with opened(tmp_path) as editor:
        for name, text in {
            "compose.yaml": "services: {web: {image: nginx}}\n",
            "values.yaml": "parameters: {a: 1}\nimage: x\n",
            "broken.yaml": "a: [\n  b: }\n",
            "empty.yaml": "",
        }.items():
            assert not await editor.findings(editor.open(name, text))


async def test_closed_document_loses_its_findings(tmp_path: Path) -> None:
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", f"{TEMPLATE}wrong: 1\n")
        await editor.findings_with(uri, "wrong")
        editor.close(uri)
        del editor.versions[uri]
        await editor.no_findings(uri)


async def test_odd_addresses_and_characters(tmp_path: Path) -> None:
    text = TEMPLATE.replace("parameters:", "description: 🎉 fête\r\nparameters:").replace(
        "{get_param: size}", '{list_join: ["🎉🎉", [{get_param: sise}]]}'
    )
    async with opened(tmp_path) as editor:
        uri = editor.open("mein Stück 🎉.yaml", text)
        (found,) = await editor.findings(uri)
        start = found.range.start
        line = text.splitlines()[start.line]
        before = line[: line.index("get_param")]
        assert start.character == len(before.encode("utf-16-le")) // 2


async def test_web_is_not_read_without_consent(tmp_path: Path) -> None:
    address = "http://127.0.0.1:9/inner.yaml"
    text = f"{TEMPLATE}  inner: {{type: '{address}'}}\n"
    async with opened(tmp_path) as editor:
        (found,) = await editor.findings(editor.open("main.yaml", text))
        assert (found.code, found.severity) == ("unfetched-file", types.DiagnosticSeverity.Warning)


async def test_environments_of_settings_are_used(tmp_path: Path) -> None:
    (tmp_path / "types.yaml").write_text("resource_registry: {My::Type: inner.yaml}\n")
    (tmp_path / "inner.yaml").write_text("heat_template_version: 2021-04-16\n")
    text = "heat_template_version: 2021-04-16\nresources: {a: {type: My::Type}}\n"
    async with opened(tmp_path) as editor:
        uri = editor.open("main.yaml", text)
        await editor.findings_with(uri, "My::Type")
        settings = {"stoker": {"environmentFiles": ["types.yaml"], "lint": False}}
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings)
        )
        await editor.no_findings(uri)


async def test_lint_findings_follow_after_a_pause(tmp_path: Path) -> None:
    text = TEMPLATE.replace("  size:", "  unused: {type: string}\n  size:")
    async with opened(tmp_path, {"lint": True}) as editor:
        uri = editor.open("main.yaml", text)
        (found,) = await editor.findings_with(uri, "unused")
        assert (found.range.start.line, found.code) == (2, "unused-parameter")
        editor.type(uri, 0, "# a comment\n")
        (found,) = await editor.findings_with(uri, "unused")
        assert found.range.start.line == 3
        place = editor.texts[uri].index("  unused:")
        editor.replace(uri, place, place, "  # stoker: ignore=unused-parameter\n")
        await editor.no_findings(uri)
