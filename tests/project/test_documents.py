"""The documents are true: links have targets, named tests exist, examples work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tools.reference import PAGES

from stoker.engine.model.records import Status
from stoker.engine.model.requests import StackRequest
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.heat_catalog import declarations
from stoker.resources.base.registry import Registry
from tests.project.engine import CALLER, running_engine

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "",
    "docs/**/",
    "local-cloud/",
    "deploy/",
    "tests/openstack/lab/",
    "tests/takeover_live/lab/",
)
DOCUMENTS = [page for folder in FOLDERS for page in ROOT.glob(f"{folder}*.md")]
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
TEST_NAME = re.compile(r"`(test_\w+)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_that_exist(document: Path) -> None:
    targets = [path for path, _ in LINK.findall(document.read_text()) if "://" not in path]
    assert [t for t in targets if not (document.parent / t).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_into_pages_lead_to_headings(document: Path) -> None:
    missing = [
        f"{path}#{heading}"
        for path, heading in LINK.findall(document.read_text())
        if heading and "://" not in path
        if heading not in _anchors(document.parent / path if path else document)
    ]
    assert missing == []


def _anchors(document: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_that_sources_name_exist() -> None:
    folders = ("src", "local-cloud", "tests", "tools", "bench", "examples", "deploy")
    suffixes = {".py", ".yaml", ".toml", ".sh"}
    sources = [s for f in folders for s in (ROOT / f).rglob("*") if s.suffix in suffixes]
    named = {page for s in sources for page in re.findall(r"docs/[\w/-]+\.md", s.read_text())}
    assert len(named) > 5
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []


def test_changelog_has_headings_of_keep_a_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    releases = re.findall(r"^## (.*)", changelog, re.MULTILINE)
    assert releases[0] == "[Unreleased]"
    dated = re.compile(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")
    assert [r for r in releases[1:] if not dated.fullmatch(r)] == []
    kinds = set(re.findall(r"^### (.*)", changelog, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_every_rule_of_order_names_tests_that_exist() -> None:
    named = set(TEST_NAME.findall((ROOT / "docs/develop/ordering.md").read_text()))
    sources = ROOT.glob("tests/*/*.py")
    existing = set(re.findall(r"def (test_\w+)", "".join(s.read_text() for s in sources)))
    assert named - existing == set()


def test_rules_name_every_test_of_order() -> None:
    document = (ROOT / "docs/develop/ordering.md").read_text()
    sources = ROOT.glob("tests/ordering/*.py")
    existing = set(re.findall(r"def (test_\w+)", "".join(s.read_text() for s in sources)))
    assert existing - set(TEST_NAME.findall(document)) == set()


def test_readme_counts_the_types() -> None:
    text = (ROOT / "README.md").read_text()
    [[every, tried]] = re.findall(r"all (\d+); (\d+) types were tried", text)
    known = json.loads((ROOT / "tests/openstack/tried.json").read_text())
    assert int(every) == len(declarations())
    assert int(tried) == sum(judge != "API reference" for judge in known.values())


def test_types_documented_as_missing_do_not_exist() -> None:
    limits = (ROOT / "docs/reference/limits.md").read_text()
    [missing] = re.findall(r"\*\*Resource types\.\*\*(.*?)\n\n", limits, re.DOTALL)
    existing = {name.rpartition("::")[2] for name in built_in()}
    assert set(re.findall(r"`(\w+)`", missing)) & existing == set()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_generated_references_are_up_to_date(name: str) -> None:
    """``python -m tools.reference`` writes them."""
    assert (ROOT / name).read_bytes().decode() == PAGES[name]()


async def test_documented_resource_type_works_as_plugin(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    document = (ROOT / "docs/develop/resource-types.md").read_text()
    [example] = re.findall(r"```python\n(\"\"\"A text.*?)```", document, re.DOTALL)
    (plugins / "digest.py").write_text(example)

    def template(text: str) -> dict[str, object]:
        properties = {"text": text}
        resource = {"type": "Example::Digest", "properties": properties}
        output = {"value": {"get_attr": ["digest", "sha256"]}}
        return {
            "heat_template_version": "2021-04-16",
            "resources": {"digest": resource},
            "outputs": {"sha256": output},
        }

    async with running_engine(tmp_path, Registry(plugin_directories=[str(plugins)])) as engine:
        operations, views = engine.service.operations, engine.service.views
        request = StackRequest(name="example", template=template("a"))
        address = await operations.create(CALLER, request)
        await engine.dispatch.idle()
        assert (await views.output(CALLER, address, "sha256")).value.startswith("ca978112ca1b")
        await operations.update(CALLER, address, StackRequest(template=template("b")))
        await engine.dispatch.idle()
        assert (await views.output(CALLER, address, "sha256")).value.startswith("3e23e8160039")
        await operations.delete(CALLER, address)
        await engine.dispatch.idle()
        assert (await views.stack(CALLER, address)).status == Status.COMPLETE
