"""The examples that a project can start from: NAME.yaml, its tests, and the directory NAME."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.authoring.template_tests.test_files import SUFFIXES
from stoker.cli.console.failures import InputError
from stoker.cli.examples import examples_directory
from stoker.kernel.diagnostics import did_you_mean
from stoker.template.source.source import read


class Example(Struct, frozen=True):
    """An example."""

    name: str
    summary: str  # start of the template's description
    template: Path
    parameters: tuple[str, ...]  # without a default
    environments: tuple[Path, ...]  # in its directory

    def files(self) -> Iterator[Path]:
        """Yield all files, relative to the directory of the template."""
        root = self.template.parent
        yield Path(self.template.name)
        tests = self.template.with_name(f"{self.name}{SUFFIXES[0]}")
        if tests.is_file():
            yield Path(tests.name)
        for path in sorted((root / self.name).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root)


def examples() -> list[Example]:
    """Return all examples, by name."""
    found = []
    for path in sorted(examples_directory().glob("*.yaml")):
        data = read(path.read_text("utf-8")).data
        kind = None if path.name.endswith(SUFFIXES) else kind_of_document(data)
        if kind in (DocumentKind.HOT, DocumentKind.CFN):
            found.append(_example(path, data))
    return found


def example_named(name: str) -> Example:
    """Return an example. Raise :class:`InputError` if there is none."""
    known = {each.name: each for each in examples()}
    if name in known:
        return known[name]
    advice = did_you_mean(name, known) or f"there are {', '.join(known)}"
    raise InputError(f'there is no example "{name}"; {advice}')


def _example(path: Path, data: dict[str, object]) -> Example:
    text = str(data.get("description") or data.get("Description") or "")
    declared = data.get("parameters") or data.get("Parameters")
    needed = [
        name
        for name, body in (declared.items() if isinstance(declared, dict) else ())
        if isinstance(body, dict) and not {"default", "Default"} & body.keys()
    ]
    environments = [
        each
        for each in sorted((path.parent / path.stem).glob("*.yaml"))
        if kind_of_document(read(each.read_text("utf-8")).data) is DocumentKind.ENVIRONMENT
    ]
    summary = re.split(r"[.:] ", " ".join(text.split()))[0].rstrip(".")
    return Example(path.stem, summary, path, tuple(needed), tuple(environments))
