"""The structure of a template: one shape for HOT and CloudFormation.

Sections are checked and split up here, once. Their contents (functions, conditions) stay as
written, for :mod:`stoker.template.evaluate.evaluation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from msgspec import Struct

from stoker.kernel.diagnostics import (
    MAX_DIAGNOSTICS,
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    Path,
    first_of,
    nearest,
    refusal,
    renew_suggestions,
)
from stoker.kernel.errors import ATTRIBUTE_ERROR, BAD_REQUEST, VALIDATION_FAILED, ErrorType
from stoker.kernel.json.content import weight_of
from stoker.kernel.json.tree import levels
from stoker.kernel.lazy import lazy
from stoker.kernel.values import replace
from stoker.schema.words import kind_of
from stoker.template.directives import (
    IMPORT,
    KEY,
    directive_diagnostics,
    express,
    import_id,
    moved_from,
    without_directives,
)
from stoker.template.source.source import Source, accept, read
from stoker.template.source.yaml_data import MAX_NODES
from stoker.template.versions import (
    CFN_VERSION,
    HOT,
    NOT_VALID,
    VERSION_KEYS,
    Version,
    advice_on,
    version_of,
)

# The condition of unconditional resources. A template may contain None, which is rejected.
NO_CONDITION = object()
LONGEST_NAME = 255
_NOT_IN_NAMES = frozenset("/\0")
LOOP = "Fn::ForEach::"  # prefix of the keys of loops
# Characters of all cached nested templates, because many stacks nest the same few.
MAX_CACHED = 1024 * 1024


# The collector of garbage need not visit parts of a document: it has no cycles.
class ResourceBody(Struct, frozen=True, gc=False):
    """A resource as written."""

    name: str
    type_name: str
    path: Path
    properties: Any = {}
    metadata: Any = {}
    depends_on: Any = ()
    deletion_policy: Any = None
    update_policy: Any = {}
    creation_policy: Any = {}
    update_replace_policy: Any = None
    condition: Any = NO_CONDITION
    external_id: Any = None
    description: str = ""
    moved_from: str | None = None  # earlier name of the resource
    import_id: Any = None  # id of an existing object that becomes part of the stack
    express: bool | None = None  # whether dependants start early; None to leave it to the operation


class OutputBody(Struct, frozen=True):
    """An output as written."""

    name: str
    value: Any
    path: Path
    description: Any = ""
    condition: Any = NO_CONDITION
    export: Any = None  # name under which other stacks of the project import it


@dataclass(frozen=True)
class Template:
    """A template, split into its sections."""

    source: Source
    version: Version
    description: Any = "No description"
    # Declarations as written; :mod:`stoker.template.parameters.declarations` reads them.
    parameters: Any = None
    parameter_groups: Any = None
    mappings: Any = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    transforms: tuple[str, ...] = ()
    resources: Mapping[str, ResourceBody] = field(default_factory=dict)
    outputs: Mapping[str, OutputBody] = field(default_factory=dict)

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the document as it was given."""
        data: Mapping[str, Any] = self.source.data
        return data

    @lazy
    def has_loops(self) -> bool:
        """Return whether it contains loops, which need the language extensions."""
        return "AWS::LanguageExtensions" in self.transforms and any(
            key.startswith(LOOP)
            for level in levels(self.source.data, MAX_NODES)
            for item in level
            if isinstance(item, dict)
            for key in item
        )

    @lazy
    def size(self) -> int:
        """Return the number of values in the document. Evaluation takes time in proportion."""
        return weight_of(self.source.data)[0]


def read_template(template: str | Mapping[str, Any], file: str | None = None) -> Source:
    """Return the document in a text, or in data. Raises :class:`DiagnosticError`."""
    if not isinstance(template, str):
        return accept(template, file)
    try:
        return read(template, file)
    except DiagnosticError as error:
        raise DiagnosticError(
            replace(found, message=f"{NOT_VALID}: Error parsing template: {found.message}")
            for found in error.diagnostics
        ) from None


def with_version(source: Source) -> Source:
    """Add CloudFormation's version to a document that names no version."""
    data = source.data
    if not isinstance(data, Mapping) or CFN_VERSION.dialect.resources not in data:
        return source
    if not data.keys().isdisjoint(VERSION_KEYS):
        return source
    return replace(source, data={CFN_VERSION.key: CFN_VERSION.name, **data})


def parse(template: str | Mapping[str, Any] | Source, file: str | None = None) -> Template:
    """Return the template in a text, or in parsed data.

    Raises :class:`DiagnosticError` with all diagnostics on the structure of the document.
    """
    renew_suggestions()
    return parse_nested(template, file)


def parse_nested(template: str | Mapping[str, Any] | Source, file: str | None = None) -> Template:
    """Parse a nested template, within the limits of its parent."""
    source = template if isinstance(template, Source) else read_template(template, file)
    parsed, diagnostics = take_apart(source)
    if diagnostics.errors:
        raise DiagnosticError(first_of([*diagnostics, *source.warnings]))
    return parsed


@cached(LRUCache(MAX_CACHED, lambda template: len(template.source.text or "")), lock=Lock())
def parse_shared(text: str, file: str | None) -> Template:
    """Parse a nested template once for all stacks that nest it."""
    return parse_nested(text, file)


def take_apart(source: Source) -> tuple[Template, Diagnostics]:
    """Return the readable parts of a template, and all diagnostics on its structure.

    Raises :class:`DiagnosticError` for a document that is not a template, or has an unknown
    version.
    """
    try:
        template, diagnostics = _parse(source)
    except DiagnosticError as error:
        raise DiagnosticError(source.all_located(error.diagnostics)) from None
    return template, Diagnostics(source.all_located(first_of(diagnostics)))


_TERRAFORM = "this is a Terraform configuration: run it with terraform or tofu"
_TERRAFORM_BLOCK = re.compile(
    r"^\s*(?:resource|terraform|provider|variable|module|data)\b[^:\n]*\{", re.MULTILINE
)
_PLAYBOOK = "this is a playbook of Ansible: run it with ansible-playbook"


def _is_playbook(data: Any) -> bool:
    return isinstance(data, list) and any(
        isinstance(play, Mapping) and "hosts" in play for play in islice(data, 10)
    )


def _parse(source: Source) -> tuple[Template, Diagnostics]:
    data = source.data
    if data is None:
        data = {}
    if not isinstance(data, Mapping):
        message = f"{NOT_VALID}: The template is not a JSON object or YAML mapping of sections, but"
        advice = _PLAYBOOK if _is_playbook(data) else None
        if isinstance(data, str) and _TERRAFORM_BLOCK.search(source.text or ""):
            advice = _TERRAFORM
        raise refusal("not-a-map", f"{message} {kind_of(data)}", (), BAD_REQUEST, suggestion=advice)
    version = version_of(data)
    diagnostics = Diagnostics()
    _check_sections(data, version, diagnostics)
    reader = _Reader(data, version, diagnostics)
    dialect = version.dialect
    template = Template(
        source=source,
        version=version,
        description=data.get(dialect.description) or "No description",
        parameters=data.get(dialect.parameters),
        parameter_groups=data.get("parameter_groups"),
        mappings=(data.get(dialect.mappings) if dialect.mappings else None) or {},
        conditions=reader.section(dialect.conditions) if version.has_conditions else {},
        rules=reader.section("Rules") if "Rules" in version.sections else {},
        transforms=_transforms(reader) if "Transform" in version.sections else (),
        resources=_resources(reader),
        outputs=_outputs(reader),
    )
    _check_names(template, diagnostics)
    _check_texts(template, diagnostics)
    return template, diagnostics


_QUOTED = "put names as yes, no, on and off into quotes: YAML takes them for booleans"


def _check_names(template: Template, diagnostics: Diagnostics) -> None:
    """Report names that do not fit into an address, or that parameters and resources share."""
    parameters = template.parameters if isinstance(template.parameters, Mapping) else {}
    for name, body in template.resources.items():
        if not _NOT_IN_NAMES.isdisjoint(name) or not 0 < len(name) <= LONGEST_NAME:
            message = (
                f'"{name[:80]}" cannot name a resource: a name has 1 to {LONGEST_NAME} characters,'
                ' none of them "/" or NUL'
            )
            diagnostics.report("invalid-resource-name", message, body.path)
        if name in parameters:
            message = f'"{name}" is already the name of a parameter'
            advice = _QUOTED if name in ("true", "false") else None
            diagnostics.report("duplicate-name", message, body.path, suggestion=advice)


def part_path(template: Template, body: ResourceBody, part: str) -> Path:
    """Return the path of a part of a resource, as ``metadata`` or ``import_id``."""
    dialect = template.version.dialect
    if part == "import_id":
        return (*body.path, dialect.metadata, KEY, IMPORT)
    return (*body.path, getattr(dialect, part))


def _check_texts(template: Template, diagnostics: Diagnostics) -> None:
    """Report NUL characters in texts that are stored without encryption.

    Not every database can store them.
    """
    dialect = template.version.dialect
    found: list[tuple[Path, Any]] = [((dialect.description,), template.description)]
    for body in template.resources.values():
        if body.description or body.external_id:
            found.append(((*body.path, dialect.description), body.description))
            found.append(((*body.path, dialect.external_id), body.external_id))
    for path, text in found:
        if isinstance(text, str) and "\0" in text:
            diagnostics.report("bad-character", f"{path[-1]} has no NUL characters", path)


def _check_sections(data: Mapping[Any, Any], version: Version, diagnostics: Diagnostics) -> None:
    for key in data:
        if len(diagnostics) > MAX_DIAGNOSTICS:
            return  # more are not reported, and suggestions take long
        if key not in version.sections and key not in VERSION_KEYS:
            known = f"{version.key} {version.name}"
            message = f"The template section is invalid: {key} is not known in {known}"
            advice = advice_on(str(key), version, lambda other: other.sections)
            advice = advice or _misplaced(data[key], version)
            diagnostics.report("unknown-section", message, (key,), suggestion=advice)


def _misplaced(section: Any, version: Version) -> str | None:
    """Return advice on a section that looks like a resource."""
    dialect = version.dialect
    kind = section.get(dialect.type) if isinstance(section, Mapping) else None
    is_type = isinstance(kind, str) and ("::" in kind or kind.endswith((".yaml", ".yml")))
    return f'indent it below "{dialect.resources}:" if it is a resource' if is_type else None


class _Reader(Struct, frozen=True):
    """Reads sections of one document, and collects diagnostics."""

    data: Mapping[Any, Any]
    version: Version
    diagnostics: Diagnostics

    def section(self, key: str, error_type: ErrorType = VALIDATION_FAILED) -> Mapping[str, Any]:
        """Return a section that is a map; empty if it is missing, null or malformed."""
        content = self.data.get(key) if key else None
        if not content:
            return {}
        if not isinstance(content, Mapping):
            message = f"{key} must be a map, not {kind_of(content)}"
            advice = _by_name(content)
            self.diagnostics.report("bad-section", message, (key,), error_type, suggestion=advice)
            return {}
        if self.version.dialect is HOT:
            return content
        # The entries of a loop are only known once the parameters are.
        loops = [name for name in content if name.startswith(LOOP)]
        for name in loops if "Transform" not in self.data else ():
            message = "this loop is not run"
            advice = 'loops need "Transform: AWS::LanguageExtensions"'
            self.diagnostics.report("bad-loop", message, (key, name), suggestion=advice)
        return {name: content[name] for name in content if name not in loops} if loops else content


def _by_name(section: Any) -> str | None:
    """Return advice on a section that is a list of named entries."""
    if not isinstance(section, list) or not all(isinstance(each, Mapping) for each in section):
        return None
    if any("name" in each for each in section):
        return 'write each name as a key with the rest below it, in place of "- name:"'
    return 'leave out the "- " before each name'


# Transforms whose functions every CloudFormation template has.
_TRANSFORMS = ("AWS::LanguageExtensions",)


def _transforms(reader: _Reader) -> tuple[str, ...]:
    """Return the macros that a template names; report unknown ones."""
    written = reader.data.get("Transform") or []
    names = written if isinstance(written, list) else [written]
    for name in names:
        if name not in _TRANSFORMS:
            message = f"there is no macro {str(name)[:80]!r}: templates are taken as written"
            reader.diagnostics.report("no-macro", message, ("Transform",))
    return tuple(map(str, names))


def _resources(reader: _Reader) -> dict[str, ResourceBody]:
    dialect = reader.version.dialect
    found = {}
    for name, body in reader.section(dialect.resources).items():
        resource = _resource(reader, name, body)
        if resource is not None:
            found[name] = resource
    return found


def _resource(reader: _Reader, name: str, body: Any) -> ResourceBody | None:
    dialect = reader.version.dialect
    path = (dialect.resources, name)
    if body is None:
        body = {}
    if not isinstance(body, Mapping):
        message = f"a resource must be a map, not {kind_of(body)}"
        reader.diagnostics.report("bad-resource", message, path)
        return None
    if dialect is HOT or not body.get(dialect.type):
        reader.diagnostics.extend(unknown_keys(body, reader.version, path))
    type_name = body.get(dialect.type)
    if type_name is not None and not isinstance(type_name, str):
        reader.diagnostics.report(
            "bad-type", f"a type must be text, not {kind_of(type_name)}", (*path, dialect.type)
        )
        return None
    if not type_name:
        word = "resource" if dialect.type.islower() else "Resource"
        reader.diagnostics.report("no-type", f"Each {word} must contain a {dialect.type} key", path)
        return None
    parts: dict[str, Any] = {}
    for part, kinds, words in _SHAPES:
        key = getattr(dialect, part)
        if not key or key not in body:
            continue
        value = body[key]
        if not isinstance(value, kinds):
            message = f"{key} must be {words}, not {kind_of(value)}"
            advice = f'leave "{key}" out' if value is None else None
            reader.diagnostics.report("bad-shape", message, (*path, key), suggestion=advice)
            return None
        if value is not None:
            parts[part] = value
    metadata = parts.get("metadata", {})
    if KEY in metadata:
        found = directive_diagnostics(metadata, (*path, dialect.metadata))
        reader.diagnostics.extend(found)
        parts |= {
            "metadata": without_directives(metadata),
            "moved_from": moved_from(metadata),
            "import_id": import_id(metadata),
            "express": express(metadata),
        }
    _check_dependencies(reader, parts.get("depends_on", ()), (*path, dialect.depends_on))
    condition = _condition(body, reader.version)
    return ResourceBody(name, type_name, path, condition=condition, **parts)


def _condition(body: Mapping[str, Any], version: Version) -> Any:
    """Return the condition of a resource or output; versions without conditions ignore the key."""
    if not version.has_conditions:
        return NO_CONDITION
    return body.get(version.dialect.condition, NO_CONDITION)


def _check_dependencies(reader: _Reader, dependencies: str | list[Any], path: Path) -> None:
    for index, name in enumerate(dependencies):
        if isinstance(name, list | dict):
            message = f"a resource must be named by text, not {kind_of(name)}"
            reader.diagnostics.report("bad-shape", message, (*path, index), BAD_REQUEST)


def unknown_keys(body: Mapping[str, Any], version: Version, path: Path) -> list[Diagnostic]:
    """Return diagnostics on the keys of a resource that its version does not have."""
    if version.resource_keys.issuperset(body):
        return []
    return [
        Diagnostic(
            "unknown-key",
            f'"{key}" is not a valid keyword inside a resource definition of {version.key}'
            f" {version.name}",
            (*path, key),
            suggestion=advice_on(str(key), version, lambda other: other.resource_keys),
        )
        for key in islice((k for k in body if k not in version.resource_keys), MAX_DIAGNOSTICS)
    ]


# Part of a resource, its allowed Python types (maps call functions), in words.
_SHAPES: tuple[tuple[str, Any, str], ...] = (
    ("properties", dict, "a map"),
    ("metadata", dict, "a map"),
    ("depends_on", (str, list), "a name or a list of names"),
    ("deletion_policy", (str, dict), "text"),
    ("update_policy", dict, "a map"),
    ("creation_policy", (dict, type(None)), "a map"),
    ("update_replace_policy", str, "text"),
    ("external_id", (str, dict), "text"),
    ("description", str, "text"),
)


def _outputs(reader: _Reader) -> dict[str, OutputBody]:
    dialect = reader.version.dialect
    found = {}
    for name, body in reader.section(dialect.outputs, error_type=ATTRIBUTE_ERROR).items():
        path = (dialect.outputs, name)
        if not isinstance(body, Mapping):
            message = f"an output must be a map, not {kind_of(body)}"
            reader.diagnostics.report("bad-output", message, path)
            continue
        if dialect.value not in body:
            message = f'an output needs "{dialect.value}"'
            near = nearest(dialect.value, map(str, body))
            advice = None if near is None else f'write "{dialect.value}" for "{near}"'
            reader.diagnostics.report("no-value", message, path, suggestion=advice)
            continue
        found[name] = OutputBody(
            name=name,
            value=body[dialect.value],
            path=path,
            description=body.get(dialect.description, ""),
            condition=_condition(body, reader.version),
            export=_export(reader, body, path),
        )
    return found


def _export(reader: _Reader, body: Mapping[str, Any], path: Path) -> Any:
    """Return the name of an export as written; None for an output without one."""
    key = reader.version.dialect.export
    written = body.get(key) if key else None
    if written is None:
        return None
    if not isinstance(written, Mapping) or written.keys() != {"Name"}:
        reader.diagnostics.report("bad-export", f'{key} must be a map with a "Name"', (*path, key))
        return None
    return written["Name"]
