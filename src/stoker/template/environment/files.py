"""Merges several environments: later files replace earlier ones, unless they ask for merging."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from stoker.kernel.diagnostics import DiagnosticError, Path, refusal
from stoker.kernel.errors import CONFLICTING_MERGE_STRATEGY, KEY_ERROR, ErrorType
from stoker.schema.conversion import TypeMismatchError
from stoker.template.environment.environment import EMPTY, Environment, parse_environment
from stoker.template.parameters.parameters import Parameter, ParameterType, coerce

OVERWRITE = "overwrite"
DEEP_MERGE = "deep_merge"
DEFAULT = "default"


def environment_of(
    document: Mapping[str, Any] | str | None,
    names: Any,
    files: Mapping[str, str],
    parameters: Mapping[str, Parameter],
) -> Environment:
    """Return the environment of a request: its files in order, or else its own environment.

    ``parameters`` are the declarations of the template, which define how values are merged. Raises
    ``DiagnosticError``.
    """
    if not names:
        return parse_environment(document)
    if not isinstance(names, list):
        raise _refused("environment_files must be a list of names", (), KEY_ERROR)
    environments = []
    for name in names:
        if name not in files:
            raise _refused(f"there is no file {name!r}", ("files",), KEY_ERROR)
        environments.append((str(name), parse_environment(files[name], str(name))))
    return merge(environments, parameters)


def _refused(
    message: str, path: Path, error_type: ErrorType, file: str | None = None
) -> DiagnosticError:
    return refusal("invalid-environment-file", message, path, error_type, file=file)


def merge(
    environments: Sequence[tuple[str, Environment]], parameters: Mapping[str, Parameter]
) -> Environment:
    """Merge environments, given with their file names, in order.

    The first file that names a parameter decides how its values are merged: by its strategy there,
    else by that file's default, else by overwriting. Raises ``DiagnosticError`` if a later file
    asks for another strategy.
    """
    merged = EMPTY
    strategies: dict[str, str] = {}
    for file, environment in environments:
        _settle(strategies, environment, file)
        over = partial(_merge_values, strategies, parameters)
        merged = Environment(
            parameters=over(merged.parameters, environment.parameters),
            parameter_defaults=over(merged.parameter_defaults, environment.parameter_defaults),
            resource_registry=_deep(merged.resource_registry, environment.resource_registry),
            encrypted_param_names=_joined(
                merged.encrypted_param_names, environment.encrypted_param_names
            ),
            event_sinks=_joined(merged.event_sinks, environment.event_sinks),
            warnings=(*merged.warnings, *environment.warnings),
        )
    return merged


def _settle(strategies: dict[str, str], environment: Environment, file: str) -> None:
    requested = environment.merge_strategies
    for name in (*environment.parameters, *environment.parameter_defaults):
        if name not in strategies:
            strategies[name] = requested.get(name, requested.get(DEFAULT, OVERWRITE))
        elif requested.get(name, strategies[name]) != strategies[name]:
            message = (
                f'the strategy "{requested[name]}" for "{name}" conflicts with'
                f' "{strategies[name]}", which an earlier file uses'
            )
            raise _refused(
                message,
                ("parameter_merge_strategies", name),
                CONFLICTING_MERGE_STRATEGY,
                file,
            )


def _merge_values(
    strategies: Mapping[str, str],
    parameters: Mapping[str, Parameter],
    old: Mapping[str, Any],
    new: Mapping[str, Any],
) -> dict[str, Any]:
    merged = dict(old)
    for name, value in new.items():
        strategy = strategies[name]
        if strategy == OVERWRITE or merged.get(name) is None or value is None:
            merged[name] = value
        else:
            parameter = parameters.get(name)
            kind = parameter.type if parameter is not None else _kind_of(value)
            merged[name] = _merge_value(kind, merged[name], value, strategy)
    return merged


def _kind_of(value: Any) -> ParameterType:
    """Return the type of a parameter that only a nested template may declare."""
    if isinstance(value, Mapping):
        return ParameterType.JSON
    if isinstance(value, list):
        return ParameterType.LIST
    return ParameterType.STRING if isinstance(value, str) else ParameterType.NUMBER


def _merge_value(kind: ParameterType, old: Any, new: Any, strategy: str) -> Any:
    """Join texts and lists, and unite maps; overwrite numbers and booleans."""
    if kind in (ParameterType.NUMBER, ParameterType.BOOLEAN):
        return new
    try:
        before, after = coerce(kind, old), coerce(kind, new)
    except TypeMismatchError:
        return new
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return _united(before, after, deep=strategy == DEEP_MERGE)
    joined = _joined_value(before, after)
    return new if joined is None else joined


def _joined_value(old: Any, new: Any) -> str | list[Any] | None:
    """Return two texts or two lists as one; None for anything else."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    return None


def _united(old: Mapping[str, Any], new: Mapping[str, Any], *, deep: bool) -> dict[str, Any]:
    """Merge two values of a parameter. A null erases nothing; ``deep`` merges inner maps, too."""
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        if value is None and key in merged:
            continue
        if deep and isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = _united(before, value, deep=True)
        elif deep and (joined := _joined_value(before, value)) is not None:
            merged[key] = joined
        else:
            merged[key] = value
    return merged


def _deep(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for key, value in new.items():
        before = merged.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[key] = _deep(before, value)
        else:
            merged[key] = value
    return merged


def _joined(old: Sequence[Any], new: Iterable[Any]) -> tuple[Any, ...]:
    return (*old, *(item for item in new if item not in old))
