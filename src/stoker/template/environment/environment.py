"""Environments: values for parameters, defaults, and mappings of types.

They are stored as given, because the API returns them unchanged, and checked when they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from stoker.kernel.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Path,
    Severity,
    did_you_mean,
    refusal,
    renew_suggestions,
)
from stoker.kernel.errors import ATTRIBUTE_ERROR, BAD_REQUEST, KEY_ERROR, VALUE_ERROR, ErrorType
from stoker.kernel.json.content import Content
from stoker.kernel.values import replace
from stoker.template.environment.registry import Entry, registry_diagnostics
from stoker.template.environment.single_resources import child_registry
from stoker.template.source.source import Source, read
from stoker.template.versions import VERSION_KEYS

SECTIONS = (
    "parameters",
    "parameter_defaults",
    "parameter_merge_strategies",
    "resource_registry",
    "encrypted_param_names",
    "event_sinks",
)
SINK_TYPES = ("zaqar-queue",)
MOST_SINKS = 10
QUEUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
LEAST_TTL, MOST_TTL = 60, 1_209_600  # seconds; the defaults of the messaging service
MERGE_STRATEGIES = ("overwrite", "merge", "deep_merge")


class Environment(Struct, frozen=True):
    """One environment, or several merged into one."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    parameter_defaults: Mapping[str, Any] = field(default_factory=dict)
    # As written; :mod:`stoker.template.environment.registry` resolves it.
    resource_registry: Mapping[str, Any] = field(default_factory=dict)
    encrypted_param_names: tuple[str, ...] = ()
    event_sinks: tuple[Mapping[str, Any], ...] = ()
    merge_strategies: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()  # findings of the parser

    def with_parameters(self, parameters: Mapping[str, Any]) -> Environment:
        """Return the environment with some parameter values added or replaced."""
        return replace(self, parameters={**self.parameters, **parameters})


EMPTY = Environment()
_NO_FILE = "<environment>"
_DECLARED = frozenset(
    {"type", "default", "description", "label", "hidden", "constraints", "immutable", "tags"}
)
_TYPES = frozenset({"string", "number", "comma_delimited_list", "json", "boolean"})


_NOT_A_MAP = (
    "Environment not in valid format: The environment is not a valid YAML mapping data type."
)


def parse_environment(
    document: Mapping[str, Any] | str | None, file: str | None = None
) -> Environment:
    """Return an environment from text or from an object.

    ``file`` is the name of its file, whose errors have another type. Raises ``DiagnosticError``.
    """
    renew_suggestions()
    if not isinstance(document, Content) or file is not None:
        return _parsed(document, file)
    # A stack parses its stored environment for each resource with a nested stack.
    if document.parsed is None:
        document.parsed = _parsed(document, None)
    found: Environment = document.parsed
    return found


def _parsed(document: Mapping[str, Any] | str | None, file: str | None) -> Environment:
    wrong = BAD_REQUEST if file is None else VALUE_ERROR
    source = (
        _parse_text(document, file, wrong)
        if isinstance(document, str)
        else Source(document, None, file or _NO_FILE)
    )
    try:
        return _environment(source, file, wrong)
    except DiagnosticError as error:
        if file is None:
            raise
        raise DiagnosticError(source.all_located(error.diagnostics)) from None


def _environment(source: Source, file: str | None, wrong: ErrorType) -> Environment:
    """Return the environment in a document. Raises ``DiagnosticError``."""
    document = source.data
    if document is None:
        return EMPTY
    if not isinstance(document, Mapping):
        raise refusal("invalid-environment", _NOT_A_MAP, (), wrong, file=file)
    for section in map(str, document):
        if section not in SECTIONS:
            message = f'Environment not in valid format: environment has wrong section "{section}"'
            raise refusal(
                "unknown-section",
                message,
                (section,),
                wrong,
                file=file,
                suggestion=_advice_on(section, document),
            )
    registry = _map_section(document, "resource_registry", file)
    diagnostics = [replace(diagnostic, file=file) for diagnostic in registry_diagnostics(registry)]
    if diagnostics:
        raise DiagnosticError(diagnostics)
    return Environment(
        parameters=_map_section(document, "parameters", file),
        parameter_defaults=_map_section(document, "parameter_defaults", file),
        resource_registry=registry,
        encrypted_param_names=tuple(
            str(name) for name in _list_section(document, "encrypted_param_names", file)
        ),
        event_sinks=_event_sinks(document, file),
        merge_strategies=_merge_strategies(document, file),
        warnings=_warnings(source),
    )


def _advice_on(section: str, document: Mapping[str, Any]) -> str | None:
    """Return advice on a section that environments do not have."""
    if not document.keys().isdisjoint(VERSION_KEYS):
        return "this is a template, not an environment"
    near = did_you_mean(section, SECTIONS)
    if near is None and not isinstance(document.get(section), dict):
        return f'write "{section}" below "parameters:" if it is a parameter'
    return near


def _warnings(source: Source) -> tuple[Diagnostic, ...]:
    """Return warnings of the reader, and about values that are written as in templates."""
    odd = [
        Diagnostic("odd-value", message, (section, str(name)), Severity.WARNING, suggestion=advice)
        for section in ("parameters", "parameter_defaults")
        for name, value in (source.data.get(section) or {}).items()
        for message, advice in _odd(value)
    ]
    found = (*source.warnings, *source.all_located(odd))
    return tuple(replace(each, file=source.file) for each in found)


def _odd(value: Any) -> Iterator[tuple[str, str]]:
    """Yield oddities of the value of a parameter, with advice."""
    if not isinstance(value, dict):
        return
    kind = value.get("type")
    if isinstance(kind, str) and kind in _TYPES and value.keys() <= _DECLARED:
        yield "this declares a parameter, and is taken as its value", "write the value alone"
    if value.keys() == {"get_file"}:
        message = "environments call no functions: this is taken as it is written"
        yield (
            message,
            "give the content of the file with --parameter-file, or call get_file in the template",
        )


def _parse_text(text: str, file: str | None, wrong: ErrorType) -> Source:
    if not text.strip():
        return Source(None)
    try:
        return read(text, file or _NO_FILE)
    except DiagnosticError as error:
        before = "Environment not in valid format: " if file is None else ""
        raise DiagnosticError(
            replace(found, message=f"{before}{found.message}", error_type=wrong, file=file)
            for found in error.diagnostics
        ) from None


def _map_section(document: Mapping[str, Any], name: str, file: str | None) -> Mapping[str, Any]:
    section = document.get(name)
    if not isinstance(section, Mapping | None):
        raise _wrong_section(f"{name} must be a map", (name,), file)
    section = section or {}
    if all(type(key) is str for key in section):
        return section  # the same object, which the stacks of a tree share
    return {str(key): value for key, value in section.items()}


def _list_section(document: Mapping[str, Any], name: str, file: str | None) -> Sequence[Any]:
    section = document.get(name)
    if not isinstance(section, list | None):
        raise _wrong_section(f"{name} must be a list", (name,), file)
    return section or ()


def _wrong_section(message: str, path: Path, file: str | None) -> DiagnosticError:
    return refusal("invalid-section", message, path, ATTRIBUTE_ERROR, file=file)


def _event_sinks(document: Mapping[str, Any], file: str | None) -> tuple[Mapping[str, Any], ...]:
    sinks = _list_section(document, "event_sinks", file)
    if len(sinks) > MOST_SINKS:
        message = f"there are {len(sinks)} event sinks; at most {MOST_SINKS} may be"
        raise refusal("too-many-sinks", message, ("event_sinks",), BAD_REQUEST, file=file)
    for index, sink in enumerate(sinks):
        path: Path = ("event_sinks", index)
        if not isinstance(sink, Mapping):
            raise _wrong_section("a sink must be a map", path, file)
        if sink.get("type") not in SINK_TYPES:
            message = f"there is no event sink of type {sink.get('type')!r}"
            known, path = f"one of: {', '.join(SINK_TYPES)}", (*path, "type")
            raise refusal(
                "unknown-event-sink", message, path, KEY_ERROR, file=file, suggestion=known
            )
        if (wrong := _wrong_sink(sink)) is not None:
            raise refusal("invalid-event-sink", wrong, path, BAD_REQUEST, file=file)
    return tuple(sinks)


def _wrong_sink(sink: Mapping[str, Any]) -> str | None:
    """Return the fault of a sink by the messaging service's rules for queues, or None."""
    target, ttl = sink.get("target"), sink.get("ttl", MOST_TTL)
    if not isinstance(target, str) or not QUEUE.fullmatch(target):
        return "the target of a sink must be the name of a queue: 1 to 64 of A-Z a-z 0-9 _ -"
    if isinstance(ttl, bool) or not isinstance(ttl, int) or not LEAST_TTL <= ttl <= MOST_TTL:
        return f"the ttl of a sink must be a whole number from {LEAST_TTL} to {MOST_TTL} (seconds)"
    unknown = sorted(str(key) for key in sink if key not in ("type", "target", "ttl"))
    if unknown:
        return f"a sink has a type, a target and a ttl, and no {unknown[0]!r}"
    return None


def _merge_strategies(document: Mapping[str, Any], file: str | None) -> Mapping[str, str]:
    key = "parameter_merge_strategies"
    section = _map_section(document, key, file)
    for name, strategy in section.items():
        if strategy not in MERGE_STRATEGIES:
            message = f"there is no merge strategy {strategy!r}"
            known = f"one of: {', '.join(MERGE_STRATEGIES)}"
            raise refusal(
                "unknown-merge-strategy",
                message,
                (key, name),
                BAD_REQUEST,
                file=file,
                suggestion=known,
            )
    return section


def child_environment(
    environment: Environment,
    resource_name: str,
    parameters: Mapping[str, Any],
    entry: Entry | None = None,
) -> Environment:
    """Return the environment of a resource's nested stack, with its own parameters.

    ``entry`` is the one of the registry that names the template of the nested stack.
    """
    return replace(
        environment,
        parameters=parameters,
        resource_registry=child_registry(environment.resource_registry, resource_name, entry),
        encrypted_param_names=(),
    )


def stored(environment: Environment) -> dict[str, Any]:
    """Return the environment as data for JSON; :func:`parse_environment` reads it again."""
    registry = {**environment.resource_registry}
    return {
        "resource_registry": {"resources": registry.pop("resources", None) or {}, **registry},
        "parameters": dict(environment.parameters),
        "parameter_defaults": dict(environment.parameter_defaults),
        "event_sinks": list(environment.event_sinks),
        "encrypted_param_names": list(environment.encrypted_param_names),
    }
