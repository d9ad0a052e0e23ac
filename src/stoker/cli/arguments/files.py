"""A template with all the files that it refers to, ready to be sent.

The template is sent as it was written, so that lines and columns in findings are those of the file.
Files are sent under the names that the template uses; names inside nested templates and
environments are relative to these, as on disk.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import join, normpath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import click
import yaml
from msgspec import Struct, field

from stoker.cli.arguments.documents import read_document, read_file
from stoker.cli.arguments.locations import STDIN, STDIN_NAME, Location, is_address, origin_of
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError, Finding, finding_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.diagnostics import Path as DataPath
from stoker.template.describe.references import (
    TEMPLATE_SUFFIXES,
    ReferenceKind,
    find_references,
)
from stoker.template.source.source import Source, read
from stoker.template.versions import VERSION_KEYS

TEMPLATES = TEMPLATE_SUFFIXES


class UnfetchedError(InputError):
    """A document from the web is not fetched here. Nothing is known of it."""


# Returns the text at a location. Raises InputError.
ReadText = Callable[[Location], str]


class Bundle(Struct, frozen=True):
    """A template and all files that are sent with it."""

    template: str
    origin: str  # path or URL of the template
    # keys of ``files``, in the order in which they are merged
    environment_files: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    # Key of ``files`` -> path as the user would write it, or URL.
    places: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[Finding, ...] = ()  # files that do not exist
    has_unfetched: bool = False  # whether files from the web were left out
    source: Source | None = None  # the template, if it was read from its text

    def place(self, file: str | None) -> str:
        """Return the user's name of a file in a finding; None is the template."""
        return self.origin if file is None else self.places.get(file, file)

    def texts(self) -> dict[str, str]:
        """Return all texts by their places."""
        texts = {self.place(name): text for name, text in self.files.items()}
        return {self.origin: self.template, **texts}


def bundle(
    template: Location, environments: Iterable[Location] = (), read_text: ReadText = read_document
) -> Bundle:
    """Read a template, its environments, and all files that they refer to.

    Raise :class:`InputError` for unreadable documents and :class:`DocumentError` for documents that
    are not YAML.
    """
    text, origin = read_text(template), origin_of(template)
    source = source_of(text, origin)
    gathering = _Gathering(_directory(origin), read_text)
    gathering.references(source, None, gathering.root, origin)
    names = [gathering.environment(each) for each in environments]
    return Bundle(
        text,
        origin,
        tuple(names),
        gathering.files,
        gathering.places,
        tuple(gathering.missing),
        gathering.has_unfetched,
        source,
    )


def environment_beside(template: Location) -> Path | None:
    """Return the environment ``NAME.env.yaml`` beside the template ``NAME.yaml``, if it exists."""
    if not isinstance(template, Path) or template == STDIN or not template.stem:
        return None
    found = template.parent / f"{template.stem}.env.yaml"
    return found if found.is_file() else None


def with_environment_beside(
    template: Location, environments: Sequence[Location], *, existing: bool = False
) -> Sequence[Location]:
    """Return the environments after the one beside the template, which is named in the output.

    With the values of the ``existing`` stack, it is only named: these are newer than the file.
    """
    found = environment_beside(template)
    if found is None or _is_among(found, environments):
        return environments
    if existing:
        click.echo(f"{found} is not used with --existing; to use it: -e {found}", err=True)
        return environments
    click.echo(f"Using {found}; --no-auto-environment leaves it out.", err=True)
    return [found, *environments]


def _is_among(file: Path, others: Iterable[Location]) -> bool:
    paths = (each for each in others if isinstance(each, Path))
    return any(path.resolve() == file.resolve() for path in paths)


_ONLY_ADDRESSES = (
    "a document from the web can refer to files from the web alone; give the file to it as a"
    " parameter of your own template"
)


class _Gathering:
    """Collects files; ``places`` has the origin of each."""

    def __init__(self, root: str, read_text: ReadText) -> None:
        self.root = root  # directory of the template; keys of files are relative to it
        self._read_text = read_text
        self.files: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.missing: list[Finding] = []
        self.has_unfetched = False

    def environment(self, location: Location) -> str:
        """Add an environment; return its key."""
        text, origin = self._read_text(location), origin_of(location)
        name, directory = self._key(origin), _directory(origin)
        source = source_of(text, origin)
        registry = source.data.get("resource_registry") if isinstance(source.data, Mapping) else {}
        base = registry.get("base_url") if isinstance(registry, Mapping) else None
        beside = _beside(directory, base) if isinstance(base, str) else directory
        renamed: dict[str, str] = {}
        for value, where in _registered(registry, ("resource_registry",)):
            place = _beside(beside, value)
            if self._misses_local(directory, place, value, source, where, origin):
                continue
            renamed[value] = place if _is_absolute(value) else self._key(place)
            self._add(renamed[value], place, source, where, origin)
        self.files[name] = _with_names(text, renamed)
        self.places[name] = origin
        return name

    def _key(self, place: str) -> str:
        """Return the key of a file: relative to the template, unless one of both is on the web."""
        if is_address(place) or place == STDIN_NAME:
            return place
        if is_address(self.root):
            return Path(place).absolute().as_uri()
        return _posix(os.path.relpath(place, self.root))

    def references(self, source: Source, key: str | None, directory: str, shown: str) -> None:
        """Add the files of a template with this ``key``."""
        for name, where in _files_in(source.data):
            known_as = name if key is None or _is_absolute(name) else _relative(key, name)
            place = _beside(directory, name)
            if not self._misses_local(directory, place, name, source, where, shown):
                self._add(known_as, place, source, where, shown)

    def _misses_local(
        self, directory: str, place: str, name: str, source: Source, where: DataPath, shown: str
    ) -> bool:
        """Return whether a document from the web refers to a local file, which is not sent.

        Otherwise the author of the document would choose files of this machine to be sent.
        """
        refused = is_address(directory) and not is_address(place)
        if refused:
            self._miss(f'"{name}" is no address: {_ONLY_ADDRESSES}', source, where, shown)
        return refused

    def _miss(self, message: str, source: Source, where: DataPath, shown: str) -> None:
        finding = Diagnostic("missing-file", message, where, file=source.file)
        self.missing.append(finding_of(source.located(finding), shown))

    def _add(self, key: str, place: str, source: Source, where: DataPath, shown: str) -> None:
        if key in self.files:
            return
        try:
            location = _location(place)
            # Here "-" is the name of a file.
            text = read_file(STDIN) if location == STDIN else self._read_text(location)
        except UnfetchedError:
            self.has_unfetched = True
            return
        except InputError as error:
            self._miss(error.message, source, where, shown)
            return
        self.files[key] = text
        self.places[key] = place
        if not key.endswith(TEMPLATES):
            return
        try:
            nested = read(text, key)
        except DiagnosticError:
            return  # The service decides whether it must be a template.
        if isinstance(nested.data, Mapping) and any(word in nested.data for word in VERSION_KEYS):
            self.references(nested, key, _directory(place), place)


def declared_parameters(text: str) -> list[str]:
    """Return the names of a template's parameters. Raise DiagnosticError if it is not YAML."""
    data: Any = read(text).data
    return [
        str(name) for section in ("parameters", "Parameters") for name in data.get(section) or ()
    ]


def source_of(text: str, origin: str) -> Source:
    """Return a document. Raise :class:`DocumentError` if it is not YAML."""
    try:
        return read(text)
    except DiagnosticError as error:
        found = [finding_of(d, origin) for d in error.diagnostics]
        raise DocumentError(found, {origin: text}) from None


def _files_in(data: Any) -> Iterator[tuple[str, DataPath]]:
    """Yield the names of files in a template: in ``get_file``, and template types."""
    for reference in find_references(data):
        if reference.kind is ReferenceKind.FILE:
            yield reference.name, reference.path


def _registered(registry: Any, path: DataPath) -> Iterator[tuple[str, DataPath]]:
    """Yield the names of templates in a resource registry."""
    if not isinstance(registry, Mapping):
        return
    for key, value in registry.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            yield from _registered(value, here)
        elif isinstance(value, str) and key != "base_url" and value.endswith(TEMPLATES):
            yield value, here


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return an environment with replaced template names; its line numbers stay."""
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return text
    spans: list[tuple[int, int, str]] = []
    pending = [yaml.compose(text, Loader=yaml.SafeLoader)]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            pending += [value for _, value in node.value]
        elif isinstance(node, yaml.ScalarNode) and node.value in changed:
            spans.append((node.start_mark.index, node.end_mark.index, changed[node.value]))
    for start, end, name in sorted(spans, reverse=True):
        text = f"{text[:start]}{json.dumps(name)}{text[end:]}"
    return text


def _posix(path: str) -> str:
    return path.replace(os.path.sep, "/")


def _directory(place: str) -> str:
    return urljoin(place, ".") if is_address(place) else str(Path(place).parent)


def _is_absolute(name: str) -> bool:
    return bool(urlsplit(name).scheme) or name.startswith("/")


def _relative(key: str, name: str) -> str:
    return urljoin(key, name) if urlsplit(key).scheme else normpath(join(key, "..", name))


def _beside(directory: str, name: str) -> str:
    if _is_absolute(name):
        return name
    if urlsplit(directory).scheme:
        return urljoin(directory if directory.endswith("/") else f"{directory}/", name)
    return os.path.normpath(os.path.join(directory, name))  # noqa: PTH118 - the path must stay relative


def _location(place: str) -> Location:
    if is_address(place):
        return place
    return Path(unquote(urlsplit(place).path) if place.startswith("file://") else place)
