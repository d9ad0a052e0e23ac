"""Reads test files: ``NAME.test.yaml`` beside the template ``NAME.yaml``.

A file has cases. Each has the inputs of a stack, optionally those of an existing stack that is
updated to them, and the expected results.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from stoker.cli.arguments.documents import read_file
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError, finding_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Diagnostics, did_you_mean
from stoker.kernel.diagnostics import Path as DataPath
from stoker.schema.words import kind_of
from stoker.template.source.source import Source, read

SUFFIXES = (".test.yaml", ".test.yml")
_TEMPLATES = (".yaml", ".yml", ".json", ".template")
_INPUTS: Mapping[str, Any] = {"template": str, "environments": [str], "parameters": dict}
_CLOUD: Mapping[str, Any] = {
    "names": {str: [str]},
    "attributes": {str: dict},
    "failures": {str: str},
}
_CHANGES = ("added", "updated", "replaced", "deleted")
_EXPECTED: Mapping[str, Any] = {
    "status": str,
    "reason": object,
    "plan": {change: [str] for change in _CHANGES},
    "resources": {str: object},
    "count": {str: int},
    "outputs": {str: object},
    "errors": [object],
}
_CASE: Mapping[str, Any] = {
    "name": str,
    **_INPUTS,
    "cloud": _CLOUD,
    "before": _INPUTS,
    "rollback": bool,
    "expect": _EXPECTED,
    "snapshot": bool,
}
_FILE: Mapping[str, Any] = {**_INPUTS, "cloud": _CLOUD, "tests": [_CASE]}
_KINDS = {str: "text", dict: "a map", list: "a list", bool: "true or false", int: "a number"}
_JSON_TYPES = {str: "string", dict: "object", bool: "boolean", int: "integer"}


class Inputs(Struct, frozen=True):
    """The template, environments and parameters of a stack."""

    template: Path
    environments: tuple[Path, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


class TestCase(Struct, frozen=True):
    """A test, and its place in the data of its file."""

    __test__ = False  # it is no test class of pytest

    name: str
    path: DataPath
    inputs: Inputs
    before: Inputs | None
    cloud: Mapping[str, Mapping[str, Any]]
    rollback: bool
    expected: Mapping[str, Any]
    snapshot: bool


class TestFile(Struct, frozen=True):
    """A file of tests."""

    __test__ = False

    path: Path
    source: Source
    cases: tuple[TestCase, ...]

    def line_of(self, path: DataPath) -> int | None:
        """Return the line of a place in the data."""
        position = self.source.located(Diagnostic("", "", path)).position
        return None if position is None else position.line


def schema_of_test_files() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of test files."""
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Template tests"}
    return {**schema, **_schema_of(_FILE), "required": ["tests"]}


def _schema_of(shape: Any) -> dict[str, Any]:
    if shape is object:
        return {}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema_of(shape[0])}
    if not isinstance(shape, Mapping):
        return {"type": _JSON_TYPES[shape]}
    if str in shape:
        return {"type": "object", "additionalProperties": _schema_of(shape[str])}
    properties = {key: _schema_of(each) for key, each in shape.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def find_test_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield named test files, those beside named templates, and those in named directories."""
    for path in paths:
        if path.is_dir():
            yield from _files_below(path)
        elif path.name.endswith(SUFFIXES):
            yield path
        else:
            beside = [path.with_name(f"{path.stem}{suffix}") for suffix in SUFFIXES]
            found = [each for each in beside if each.is_file()]
            if not found:
                raise InputError(f'"{path}" has no tests: there is no "{beside[0]}"')
            yield from found


def _files_below(directory: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(directory):
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        yield from (Path(root, name) for name in sorted(files) if name.endswith(SUFFIXES))


def read_tests(path: Path) -> TestFile:
    """Return the tests in a file.

    Raises :class:`InputError` if it cannot be read, and :class:`DocumentError` for mistakes in it.
    """
    text = read_file(path)
    try:
        source = read(text, str(path))
        found = Diagnostics()
        _check(source.data, _FILE, (), found)
        if not found and not source.data.get("tests"):
            found.report("no-tests", 'a test file has a list "tests"')
        if found:
            raise DiagnosticError(source.all_located(found))
    except DiagnosticError as error:
        findings = [finding_of(each, str(path)) for each in error.diagnostics]
        raise DocumentError(findings, {str(path): text}) from None
    return TestFile(path, source, tuple(_cases(path, source.data)))


def _check(data: Any, shape: Any, path: DataPath, found: Diagnostics) -> None:
    """Report where data do not have a shape: a type, or a map or list of shapes."""
    if shape is object:
        return
    if isinstance(shape, list):
        if _is(list, data, path, found):
            for index, each in enumerate(data):
                _check(each, shape[0], (*path, index), found)
    elif isinstance(shape, Mapping):
        if _is(dict, data, path, found):
            _check_map(data, shape, path, found)
    else:
        _is(shape, data, path, found)


def _is(kind: type, data: Any, path: DataPath, found: Diagnostics) -> bool:
    if isinstance(data, kind):
        return True
    found.report("bad-test", f"this is {_KINDS[kind]}, not {kind_of(data)}", path)
    return False


def _check_map(
    data: Mapping[str, Any], shape: Mapping[Any, Any], path: DataPath, found: Diagnostics
) -> None:
    if str in shape:
        for key, value in data.items():
            _check(value, shape[str], (*path, key), found)
        return
    for key, value in data.items():
        if key in shape:
            _check(value, shape[key], (*path, key), found)
        else:
            advice = did_you_mean(key, shape) or f"known are {', '.join(shape)}"
            found.report(
                "unknown-key", f'there is no key "{key}" here', (*path, key), suggestion=advice
            )


def _cases(path: Path, data: Mapping[str, Any]) -> Iterator[TestCase]:
    names: set[str] = set()
    for index, case in enumerate(data["tests"]):
        name = unique = str(case.get("name") or f"test {index + 1}")
        number = 1
        while unique in names:
            number += 1
            unique = f"{name} ({number})"
        names.add(unique)
        inputs = _inputs(path, data, case)
        before = case.get("before")
        yield TestCase(
            name=unique,
            path=("tests", index),
            inputs=inputs,
            before=None if before is None else _before(path, inputs, before),
            cloud=_merged(data.get("cloud") or {}, case.get("cloud") or {}),
            rollback=bool(case.get("rollback")),
            expected=case.get("expect") or {},
            snapshot=bool(case.get("snapshot")),
        )


def _inputs(path: Path, *levels: Mapping[str, Any]) -> Inputs:
    """Return the inputs of a case: its own, then those of the whole file."""
    template, environments = None, None
    parameters: dict[str, Any] = {}
    for level in levels:
        template = level.get("template", template)
        environments = level.get("environments", environments)
        parameters |= level.get("parameters") or {}
    directory = path.parent
    return Inputs(
        directory / template if template else _template_beside(path),
        tuple(directory / each for each in environments or ()),
        parameters,
    )


def _before(path: Path, inputs: Inputs, before: Mapping[str, Any]) -> Inputs:
    """Return the inputs of the existing stack: those of the case, with differences."""
    directory = path.parent
    template, environments = before.get("template"), before.get("environments")
    return Inputs(
        directory / template if template else inputs.template,
        inputs.environments
        if environments is None
        else tuple(directory / each for each in environments),
        {**inputs.parameters, **(before.get("parameters") or {})},
    )


def _template_beside(path: Path) -> Path:
    stem = path.name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".test")
    candidates = [path.with_name(f"{stem}{suffix}") for suffix in _TEMPLATES]
    found = next((each for each in candidates if each.is_file()), None)
    if found is None:
        raise InputError(
            f'"{path}" names no template, and there is no "{candidates[0]}"; write "template: FILE"'
        )
    return found


def _merged(
    one: Mapping[str, Mapping[str, Any]], other: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {key: {**one.get(key, {}), **other.get(key, {})} for key in {**one, **other}}
