"""``python -m tools.site [VERSION]``: builds the documentation site in ``site/``.

The pages are copied to ``var/site/pages``: all of docs/, and the documents of other directories
that ``PLACES`` lists. Links between pages are adapted; links to other files of the repository
become addresses of the source. The navigation is that of ``NAVIGATION``, and a page that is missing
there is an error.

With a version, mike adds the site to the branch ``gh-pages`` of this repository, beside the earlier
ones, and makes it the latest. Nothing is pushed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "var/site"
SITE = ROOT / "site"
PLACES: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "releases/changelog.md",
    "CONTRIBUTING.md": "develop/contributing.md",
    "deploy/README.md": "operate/deploy.md",
    "docs/README.md": "pages.md",
    "local-cloud/README.md": "reference/local-cloud.md",
    "tests/openstack/lab/README.md": "develop/lab.md",
}
# Sections of the navigation: paths, or patterns for all other pages of a directory.
NAVIGATION: Mapping[str, tuple[str, ...]] = {
    "Overview": ("index.md", "pages.md", "releases/*"),
    "Guide": ("guide/*",),
    "How to": ("guide/howto/*",),
    "Operate": ("operate/install.md", "operate/*"),
    "Reference": ("reference/*",),
    "Resource types": ("reference/resource-types/README.md", "reference/resource-types/*/*"),
    "Develop": ("develop/README.md", "develop/*"),
    "Decisions": ("develop/decisions/README.md", "develop/decisions/*"),
}
_LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"^Written by `python -m tools\.reference`\.\s", re.MULTILINE)
_TRANSLATED = re.compile(r"\.zh\.md$")


def prepare(work: Path, *, is_versioned: bool = False) -> Path:
    """Write the pages, and the configuration; return its path.

    A site with versions has a list of them on each page.
    """
    shutil.rmtree(work, ignore_errors=True)
    pages = work / "pages"
    sources = {ROOT / source: pages / target for source, target in PLACES.items()}
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file():
            sources.setdefault(path, pages / path.relative_to(ROOT / "docs"))
    for source, target in sources.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(_with_links(source, sources))
        else:
            shutil.copyfile(source, target)
    assets = pages / "assets"
    assets.mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "console/public/icon.svg", assets / "icon.svg")
    shutil.copyfile(ROOT / "tools/site.css", assets / "site.css")
    extra: dict[str, Any] = {"generator": False}
    if is_versioned:
        extra["version"] = {"provider": "mike", "default": "latest"}
    completed = yaml.safe_dump(
        {"nav": navigation_of(pages), "extra": extra}, allow_unicode=True, sort_keys=False
    )
    configuration = work / "mkdocs.yml"
    configuration.write_text(f"{(ROOT / 'mkdocs.yml').read_text()}\n{completed}")
    return configuration


def source_address() -> str:
    """Return the address of the repository's files, for pages outside of it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        urls: Mapping[str, str] = tomllib.load(file)["project"]["urls"]
    return f"{urls['Source']}/blob/main"


def _with_links(source: Path, sources: Mapping[Path, Path]) -> str:
    """Return the text of a page, with links that fit its place in the site."""
    target = sources[source]

    def adapted(match: re.Match[str]) -> str:
        before, path, heading, after = match.groups()
        if not path or "://" in path or path.startswith("mailto:"):
            return match[0]
        meant = Path(os.path.normpath(source.parent / path))
        page = sources.get(meant)
        if page is None:
            return f"{before}{source_address()}/{meant.relative_to(ROOT)}{after}"
        relative = os.path.relpath(page, target.parent)
        return f"{before}{relative}{heading or ''}{after}"

    text = _GENERATED.sub("", source.read_text())
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(adapted, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(adapted, text[end:])])


def navigation_of(pages: Path) -> list[Any]:
    """Return the sections with their pages. Raise SystemExit if a page is in none of them."""
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    left = {page for page in found if not _TRANSLATED.search(page)}
    sections: list[Any] = []
    for title, patterns in NAVIGATION.items():
        entries: list[Any] = []
        for pattern in patterns:
            chosen = [page for page in sorted(left) if _matches(page, pattern)]
            left -= set(chosen)
            entries += _grouped(pages, chosen)
        sections.append({title: entries})
    if left:
        raise SystemExit(f"site: no section of the navigation has {', '.join(sorted(left))}")
    return sections


def _matches(page: str, pattern: str) -> bool:
    parts, wanted = page.split("/"), pattern.split("/")
    if len(parts) != len(wanted):
        return False
    return all(want in ("*", part) for part, want in zip(parts, wanted, strict=True))


def _grouped(pages: Path, chosen: list[str]) -> Iterator[Any]:
    """Yield pages with their titles; those of a directory of types become a subsection."""
    groups: dict[str, list[str]] = {}
    for page in chosen:
        parent = page.rpartition("/")[0]
        groups.setdefault(parent if "resource-types/" in parent else "", []).append(page)
    for parent, members in groups.items():
        if not parent:
            yield from ({_title(pages / page): page} for page in members)
            continue
        index = f"{parent}/README.md"
        others = [page for page in members if page != index]
        names = [{_title(pages / page).rpartition("::")[2]: page} for page in others]
        yield {_title(pages / index): [index, *names]}


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text())
    return re.sub(r"[`*]|^\d{4}\. ", "", found[1]) if found else page.stem


def build(work: Path, site: Path) -> int:
    """Build the site; any warning is an error. Return the exit code."""
    options = ["--strict", "--quiet", "--config-file", str(prepare(work)), "--site-dir", str(site)]
    return _run("mkdocs", "build", *options)


def publish(work: Path, version: str) -> int:
    """Commit the site of a version to the branch for all versions. Return the exit code."""
    configuration = str(prepare(work, is_versioned=True))
    options = ["--config-file", configuration, "--update-aliases"]
    deployed = _run("mike", "deploy", *options, version, "latest")
    return deployed or _run("mike", "set-default", "--config-file", configuration, "latest")


def _run(program: str, *arguments: str) -> int:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [str(Path(sys.executable).parent / program), *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**environment, "PATH": path}, check=False
    ).returncode


def main() -> int:
    """Build or publish. Return the exit code."""
    return publish(WORK, sys.argv[1]) if sys.argv[1:] else build(WORK, SITE)


if __name__ == "__main__":
    sys.exit(main())
