"""A template on disk with all the files that it refers to, ready to be sent.

The template is sent as it was written, so that lines and columns in findings are those of the file.
Files are sent under the names that the template uses; names inside nested templates and
environments are relative to these, as on disk.
"""

from __future__ import annotations

import json
import os.path
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from posixpath import join, normpath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import httpx
import yaml
from msgspec import Struct, field

from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import DocumentError, Finding, finding_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.diagnostics import Path as DataPath
from stoker.template.source.source import MAX_BYTES, Source, read
from stoker.template.versions import VERSION_KEYS

STDIN = Path("-")
TEMPLATES = (".yaml", ".yml", ".json", ".template")
_DOWNLOAD_SECONDS = 30.0


class Bundle(Struct, frozen=True):
    """A template and all files that are sent with it."""

    template: str
    path: Path
    # keys of ``files``, in the order in which they are merged
    environment_files: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    # Key of ``files`` -> path as the user would write it, or URL.
    places: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[Finding, ...] = ()  # files that do not exist

    def place(self, file: str | None) -> str:
        """Return the user's name of a file in a finding; None is the template."""
        return str(self.path) if file is None else self.places.get(file, file)

    def texts(self) -> dict[str, str]:
        """Return all texts by their places."""
        texts = {self.place(name): text for name, text in self.files.items()}
        return {str(self.path): self.template, **texts}


def bundle(template: Path, environments: Iterable[Path] = ()) -> Bundle:
    """Read a template, its environments, and all files that they refer to.

    Raise :class:`InputError` for unreadable documents and :class:`DocumentError` for documents that
    are not YAML.
    """
    text = _read_input(template)
    if template == STDIN:
        template = Path("<stdin>")
    gathering = _Gathering(template.parent)
    gathering.references(_source(text, template), None, str(template.parent), str(template))
    names = [gathering.environment(path) for path in environments]
    return Bundle(
        text, template, tuple(names), gathering.files, gathering.places, tuple(gathering.missing)
    )


_ONLY_ADDRESSES = (
    "a template from the web can refer to files from the web alone; give the file to it as a"
    " parameter of your own template"
)


class _Gathering:
    """Collects files; ``places`` has the origin of each."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.files: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.missing: list[Finding] = []

    def environment(self, path: Path) -> str:
        """Add an environment; return its key."""
        text = _read_input(path)
        name = _posix(os.path.relpath(path, self._root))
        source = _source(text, path)
        registry = source.data.get("resource_registry") if isinstance(source.data, Mapping) else {}
        base = registry.get("base_url") if isinstance(registry, Mapping) else None
        beside = _beside(str(path.parent), base) if isinstance(base, str) else str(path.parent)
        renamed: dict[str, str] = {}
        for value, where in _registered(registry, ("resource_registry",)):
            place = _beside(beside, value)
            keeps = _is_absolute(value) or _is_address(place)
            renamed[value] = place if keeps else _posix(os.path.relpath(place, self._root))
            self._add(renamed[value], place, source, where, str(path))
        self.files[name] = _with_names(text, renamed)
        self.places[name] = str(path)
        return name

    def references(self, source: Source, key: str | None, directory: str, shown: str) -> None:
        """Add the files of a template with this ``key``."""
        for name, where in _references(source.data, ()):
            known_as = name if key is None or _is_absolute(name) else _relative(key, name)
            place = _beside(directory, name)
            if _is_address(directory) and not _is_address(place):
                # Otherwise the author of a remote document would choose local files to be sent.
                self._miss(f'"{name}" is no address: {_ONLY_ADDRESSES}', source, where, shown)
                continue
            self._add(known_as, place, source, where, shown)

    def _miss(self, message: str, source: Source, where: DataPath, shown: str) -> None:
        finding = Diagnostic("missing-file", message, where, file=source.file)
        self.missing.append(finding_of(source.located(finding), shown))

    def _add(self, key: str, place: str, source: Source, where: DataPath, shown: str) -> None:
        if key in self.files:
            return
        try:
            text = _fetch(place) if _is_address(place) else _read_file(Path(_local(place)))
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
            directory = urljoin(place, ".") if _is_address(place) else str(Path(place).parent)
            self.references(nested, key, directory, place)


def _source(text: str, path: Path) -> Source:
    try:
        return read(text, str(path))
    except DiagnosticError as error:
        found = [finding_of(d, str(path)) for d in error.diagnostics]
        raise DocumentError(found, {str(path): text}) from None


def _references(data: Any, path: DataPath) -> Iterator[tuple[str, DataPath]]:
    """Yield the names of files in a template: in ``get_file``, and template types."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            here = (*path, key)
            is_type = key in ("type", "Type") and isinstance(value, str)
            if (key == "get_file" and isinstance(value, str)) or (
                is_type and value.endswith(TEMPLATES)
            ):
                yield value, here
            else:
                yield from _references(value, here)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _references(value, (*path, index))


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


def _is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


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


def _local(place: str) -> str:
    return unquote(urlsplit(place).path) if place.startswith("file://") else place


def _read_input(path: Path) -> str:
    """Read a document that was named on the command line."""
    if path != STDIN:
        return _read_file(path)
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"the standard input is larger than {MAX_BYTES} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError("the standard input is not UTF-8 text") from None


def _read_file(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES} bytes")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f'there is no file "{path}"') from None
    except OSError as error:
        raise InputError(f'"{path}" cannot be read: {error.strerror}') from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise InputError(
            f'"{path}" is not UTF-8 text: line {line} has the byte 0x{byte:02x} (save it as UTF-8)'
        ) from None


def _fetch(url: str) -> str:
    content = bytearray()
    try:
        with httpx.stream("GET", url, timeout=_DOWNLOAD_SECONDS, follow_redirects=True) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_BYTES:
                    raise InputError(f"{url} is larger than {MAX_BYTES} bytes")
        return content.decode()
    except httpx.HTTPStatusError as error:
        answer = f"{error.response.status_code} {error.response.reason_phrase}"
        raise InputError(f"{url} cannot be fetched: its server answers {answer}") from None
    except httpx.HTTPError as error:
        why = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
        raise InputError(f"{url} cannot be fetched: {why}") from None
    except UnicodeDecodeError:
        raise InputError(f"{url} is not UTF-8 text") from None
